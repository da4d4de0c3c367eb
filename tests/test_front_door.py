"""The package's front door: every public name is found, imported when asked for, also by threads."""

import ast
import re
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


def names_in_the_guide() -> list[str]:
    """Return the dotted names below rankviz in docs/python.md."""
    guide = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"\brankviz(?:\.[A-Za-z_]\w*)+", guide)))


PACKAGES = sorted(path.parent.name for path in (REPOSITORY / "rankviz").glob("*/__init__.py"))
FROM_GUIDE = names_in_the_guide()


NAMES = [
    *FROM_GUIDE,
    "rankviz.plots.model_comparison.curve_figure",
    "rankviz.datasets.uploads",
    "rankviz.metrics.significance",
    "rankviz.models.factorized",
]
EACH_ALONE = """
import os, sys
import rankviz
if "numpy" in sys.modules:
    print("rankviz alone imports NumPy")
import numpy, pandas, plotly.graph_objects, scipy.linalg, sklearn.base  # others' libraries once, for time
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            assert not hasattr(rankviz, "nothing")
            eval(name)
        except BaseException as error:
            print(name, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_the_package_alone_imports_no_library_and_finds_every_name() -> None:
    """Each name in a process that has not looked at the others."""
    done = subprocess.run(
        [sys.executable, "-c", EACH_ALONE, *NAMES], check=True, cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.stdout == ""


def test_packages_and_modules_are_listed() -> None:
    assert set(PACKAGES) <= set(dir(rankviz))
    assert {"spectra", "model_duals"} <= set(dir(rankviz.analysis))
    assert {"make_data", "uploads"} <= set(dir(rankviz.datasets))
    for package in (rankviz, rankviz.analysis, rankviz.datasets):
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
            _ = package.nothing


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


CODE = """
import threading, streamlit
errors = []
def visit(line):
    try:
        exec(line, {})
    except (AttributeError, ImportError, RuntimeError) as error:
        errors.append(f"{line}: {error}")
modules = [("work", "runs"), ("work", "jobs"), ("learn", "home"), ("controls", "settings")]
lines = [f"import streamlit; from ui.{folder} import {name}" for folder, name in modules]
threads = [threading.Thread(target=visit, args=(line,)) for line in lines]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors)
"""


def test_modules_can_be_imported_by_several_threads_at_once() -> None:
    repository = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=repository
    )
    assert done.stdout.strip() == "[]"
