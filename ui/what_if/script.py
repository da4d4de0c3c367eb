"""The changes as a Python program that needs the core only."""

from __future__ import annotations

from collections.abc import Sequence
from pprint import pformat

from rankviz.experiments.spec import RunSpec
from rankviz.whatif.changes import Change

_PROGRAM = '''"""What if: {n} of {where}, and what the model makes of it."""

from rankviz import RunSpec, evaluate
from rankviz.datasets.normalise import normalise
from rankviz.experiments.run import model_of, open_named
from rankviz.metrics.significance import compare
from rankviz.whatif.changes import {names}, changed

METRIC = "NDCG@10"
CHANGES = {changes}

spec = RunSpec.from_json({spec})
fold = normalise(open_named(spec), spec.normalisation)  # open_named(spec, ["folder"]) looks for data there
other = changed(fold, CHANGES)
before = model_of(spec).fit_data(fold.train)
after = model_of(spec).fit_data(other.train)
for name, data in other.parts.items():
    old, new = (evaluate(model.predict(data.X), data, at=[10]).per_query[METRIC] for model in (before, after))
    print(f"{{name}}: {{METRIC}} {{old.mean():.4f}} without the changes, {{new.mean():.4f}} with them")
    print("  " + compare(new, old).sentence("the model with the changes", "the one without", METRIC))
'''


def script(spec: RunSpec, changes: Sequence[Change]) -> str:
    """A program that trains the model of a spec with the changes and without, and compares both."""
    names = sorted({type(change).__name__ for change in changes}, key=lambda name: (name.isupper(), name))
    n = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    return _PROGRAM.format(
        n=n,
        where=_in_a_docstring(f"{spec.dataset} {spec.fold}"),
        names=", ".join(names),
        changes=pformat(list(changes), width=100),
        spec=repr(spec.to_json()),
    )


def _in_a_docstring(text: str) -> str:
    """A foreign text that ends no docstring and begins no escape."""
    return text.replace("\\", "/").replace('"', "'").replace("\n", " ")
