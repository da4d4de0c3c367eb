"""The examples in the docstrings of the public names run, and every public name has one."""

import doctest
import importlib
from pathlib import Path

import pytest

import rankviz

SHOWN_WITH = dict.fromkeys(("RunSpec", "execute", "execute_all"), "RunRecord")
"""Names without an example of their own -> the one whose example shows them: a spec, its run, its record."""

WITH_EXAMPLE = sorted(set(rankviz.__all__) - SHOWN_WITH.keys())


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a public name: of its docstring, and for a class of its methods'."""
    found = getattr(rankviz, name)
    module = importlib.import_module(found.__module__)
    tests = doctest.DocTestFinder().find(found, name, module=module, globs={})
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_every_public_name_has_an_example(name: str) -> None:
    shown = "".join(example.source for test in examples(name) for example in test.examples)
    assert name in shown, f"{name} has no example in its docstring that uses it"


@pytest.mark.parametrize(("name", "other"), SHOWN_WITH.items())
def test_a_name_without_is_shown_by_another(name: str, other: str) -> None:
    assert not examples(name), f"{name} has an example now: take it out of SHOWN_WITH"
    assert any(name in example.source for test in examples(other) for example in test.examples)


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_examples_give_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: None
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    for test in examples(name):
        doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, out=said.append)
    assert not said, "".join(said)
