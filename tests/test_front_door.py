"""The package's front door: every public name is found, named once, and imported only when asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rankviz

REPOSITORY = Path(__file__).resolve().parent.parent


def test_every_public_name_is_there() -> None:
    for name in rankviz.__all__:
        assert getattr(rankviz, name).__name__ == name
    assert set(rankviz.__all__) <= set(dir(rankviz))
    scope: dict[str, object] = {}
    exec("from rankviz import *", scope)
    assert set(rankviz.__all__) <= set(scope)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'RankSVN'"):
        _ = rankviz.RankSVN  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="RankSVN"):
        exec("from rankviz import RankSVN")


def test_type_checkers_are_told_the_same_homes() -> None:
    tree = ast.parse((REPOSITORY / "rankviz" / "__init__.py").read_text())
    told = {
        node.module: tuple(alias.name for alias in node.names)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    }
    assert told == rankviz._HOMES
    assert sorted(name for names in told.values() for name in names) == sorted(rankviz.__all__)


def test_importing_the_package_alone_imports_no_library() -> None:
    code = (
        "import sys, rankviz; print('numpy' in sys.modules); rankviz.RankSVM; print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.split() == ["False", "True"]
