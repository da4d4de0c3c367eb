"""The documentation: its examples run, it has every public name, and its checks find what they look for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import rankviz

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"^```python\n(?:(?!```)[^\n]*\n)*```\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
"""The output that a page shows: a text block directly below a Python block."""

NAMED = re.compile(r"^\.\. auto\w+:: (\w+)$", re.MULTILINE)

PAGES = [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_EXAMPLES = [path for path in PAGES if BLOCK.search(path.read_text(encoding="utf-8"))]


EACH_APART = """
import os, pathlib, sys, traceback
import numpy, pandas, scipy.linalg, sklearn.model_selection  # others' libraries once, for time
for script in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.chdir(os.path.dirname(script))
        sys.stdout = open("out.txt", "w")
        try:
            exec(compile(pathlib.Path(script).read_text("utf-8"), script, "exec"), {"__name__": "__main__"})
            sys.stdout.close()
        except BaseException:
            print(script, traceback.format_exc(), file=sys.stderr, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_the_examples_of_a_page_run_one_after_the_other(tmp_path: Path) -> None:
    """As in a folder of the reader's own, each page in a process that has run no other."""
    scripts = []
    for number, path in enumerate(WITH_EXAMPLES):
        scripts.append(tmp_path / f"{number}-{path.stem}" / "examples.py")
        scripts[-1].parent.mkdir()
        scripts[-1].write_text("\n".join(BLOCK.findall(path.read_text(encoding="utf-8"))), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", EACH_APART, *map(str, scripts)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY), "RANKVIZ_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ran.stderr == ""
    for script, path in zip(scripts, WITH_EXAMPLES, strict=True):
        printed = (script.parent / "out.txt").read_text("utf-8")
        assert printed.strip(), f"{script.parent.name} prints nothing"
        for shown in SHOWN.findall(path.read_text(encoding="utf-8")):
            assert shown in printed, f"{path.name} shows {shown!r}, but its examples print {printed!r}"


def test_the_readme_is_short_and_shows_its_output() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    assert len(readme.split()) <= 700
    assert len(SHOWN.findall(readme)) == len(BLOCK.findall(readme)) == 1


def test_every_public_name_stands_in_the_interface_once() -> None:
    named = [
        name
        for path in sorted((DOCS / "api").glob("*.md"))
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
    ]
    assert [name for name in rankviz.__all__ if named.count(name) != 1] == []


ARCHITECTURE = REPOSITORY / "ARCHITECTURE.md"
NOTES = sorted((DOCS / "decisions").glob("[0-9]*.md"))
DESCRIBING = [ARCHITECTURE, REPOSITORY / "CONTRIBUTING.md", *sorted((DOCS / "decisions").glob("*.md"))]
CODE_SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|js|md|toml|txt|json))(?::([\w.]+))?")
IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(?:\(.*\))?")
LINK = re.compile(r"\]\((?!\w+://|#)([^)#\s]+)")
BUILT = {
    "workers/",
    "rankviz/_shipped",
    "screens/",
    "screens/faults/",
    "static/docs",
    "OHSUMED/Fold1/train.txt",
}
"""Paths that are not under version control: outputs, and data of the reader's own."""


def source_words() -> set[str]:
    """Return the words of all sources, file names and settings, which texts may name."""
    folders = ("rankviz", "ui", "pages", "tests", "tools", "benchmarks", ".streamlit")
    sources = [
        p for folder in folders for p in (REPOSITORY / folder).rglob("*.*") if "node_modules" not in p.parts
    ]
    sources += [REPOSITORY / name for name in ("app.py", "router.py", "Makefile", "pyproject.toml")]
    texts = (path.read_text(encoding="utf-8", errors="ignore") for path in sources if path != Path(__file__))
    return {word for text in texts for word in re.findall(r"\w+", text)}


def unknown_names(text: str, words: set[str]) -> list[str]:
    """List the files, and the names in them, that a text has in `code` and the repository has not."""
    missing = []
    for span in CODE_SPAN.findall(text):
        if found := PATH.fullmatch(span):
            path, name = REPOSITORY / found[1], found[2]
            if "NAME" in found[1] or found[1] in BUILT:
                continue
            if not path.exists() or (name and not defines(path, name)):
                missing.append(span)
        elif IDENTIFIER.fullmatch(span):
            parts = span.split("(")[0].split(".")
            missing += [span] if not words.issuperset(parts) else []
    return missing


def defines(path: Path, name: str) -> bool:
    """Tell whether a Python file defines a function, class, method or constant."""
    text = path.read_text(encoding="utf-8")
    return all(
        re.search(rf"^\s*(?:(?:async )?def|class) {part}\b|^\s*{part}\b[^=\n]*=", text, re.MULTILINE)
        for part in name.split(".")
    )


def test_every_file_and_name_in_the_architecture_and_its_decisions_exists() -> None:
    words = source_words()
    found = {path.name: unknown_names(path.read_text(encoding="utf-8"), words) for path in DESCRIBING}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_links_of_the_architecture_and_its_decisions_lead_somewhere() -> None:
    links = [(path, link) for path in DESCRIBING for link in LINK.findall(path.read_text(encoding="utf-8"))]
    assert len(links) > len(NOTES) > 0
    assert [(path.name, link) for path, link in links if not (path.parent / link).exists()] == []


def test_the_index_has_every_decision_once() -> None:
    rows = re.findall(
        r"^\| \[(\d+)\]\((\S+)\) \|", (DOCS / "decisions" / "index.md").read_text(), re.MULTILINE
    )
    assert rows == [(str(number), path.name) for number, path in enumerate(NOTES, 1)]
    for number, path in enumerate(NOTES, 1):
        text = path.read_text(encoding="utf-8")
        assert path.name.startswith(f"{number:04}-")
        assert re.search(rf"\A# {number}\. .+\n\nDate: 20\d\d-\d\d-\d\d", text), path.name


def test_docstrings_link_to_decisions_that_exist() -> None:
    sources = [path for folder in ("rankviz", "ui") for path in (REPOSITORY / folder).rglob("*.py")]
    linked = [
        name
        for path in sources
        for name in re.findall(r"docs/decisions/\S+?\.md", path.read_text(encoding="utf-8"))
    ]
    assert linked
    assert [name for name in linked if not (REPOSITORY / name).is_file()] == []


def test_the_architecture_is_read_in_ten_minutes() -> None:
    assert len(ARCHITECTURE.read_text(encoding="utf-8").split()) <= 1500
