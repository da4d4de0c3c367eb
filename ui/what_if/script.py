"""The changes as a Python program that needs the core only."""

from __future__ import annotations

from collections.abc import Sequence
from pprint import pformat

from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import Change

_PROGRAM = '''"""What if: {n} of {where}, and what the model makes of it.

Needs rankviz, installed or beside it.
"""

from rankviz import RunSpec
from rankviz.datasets.normalise import normalise
from rankviz.runs.run import model_of, open_named
from rankviz.whatif.changes import {names}
from rankviz.whatif.outcomes import WhatIf

METRIC = "NDCG@10"
CHANGES = {changes}

spec = RunSpec.from_json({spec})
fold = normalise(open_named(spec), spec.normalisation)  # open_named(spec, ["folder"]) looks for data there
outcome = WhatIf(model_of(spec).fit_data(fold.train), fold).outcome(CHANGES)
for part in ("train", "vali"):
    table = outcome.per_query(part, METRIC)
    old, new = table["old"].mean(), table["new"].mean()
    print(f"{{part}}: {{METRIC}} {{old:.4f}} without the changes, {{new:.4f}} with them")
    found = outcome.comparison(part, METRIC)
    print("  " + found.sentence("the model with the changes", "the one without", METRIC))
'''


def script(spec: RunSpec, changes: Sequence[Change]) -> str:
    """Return a program that trains the model of a spec with and without the changes, and compares both."""
    names = sorted({type(change).__name__ for change in changes}, key=lambda name: (name.isupper(), name))
    n = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    return _PROGRAM.format(
        n=n,
        where=_in_a_docstring(f"{spec.dataset} {spec.fold}"),
        names=", ".join(names) or "Change",
        changes=pformat(list(changes), width=100),
        spec=repr(spec.to_json()),
    )


def _in_a_docstring(text: str) -> str:
    """Replace characters that would end a docstring or start an escape."""
    return text.replace("\\", "/").replace('"', "'").replace("\n", " ")
