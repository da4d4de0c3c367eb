"""Test that docs/references.md has every work that texts and docstrings cite."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REFERENCES = ROOT / "docs" / "references.md"
KEY = re.compile(r"\b[a-z]{2,}(?:19|20)\d\d[a-z]?\b")
ENTRY = re.compile(r"^- \*\*([a-z]+(?:19|20)\d\d[a-z]?)\*\*: (.*?)(?=^- |^#|\Z)", re.MULTILINE | re.DOTALL)
FOLDERS = ("rankviz", "ui", "pages", "benchmarks")


def texts() -> list[Path]:
    """Sources whose docstrings cite, and the documents for readers."""
    sources = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    documents = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [*sources, *documents, ROOT / "app.py", ROOT / "router.py", ROOT / "data" / "README.md"]


def entries() -> dict[str, str]:
    found = ENTRY.findall(REFERENCES.read_text(encoding="utf-8"))
    assert max(Counter(key for key, _ in found).values()) == 1, "a key has two entries"
    return {key: " ".join(entry.split()) for key, entry in found}


def unknown(text: str) -> set[str]:
    return set(KEY.findall(text)) - entries().keys()


def test_every_key_has_an_entry() -> None:
    found = {path.relative_to(ROOT): unknown(path.read_text(encoding="utf-8")) for path in texts()}
    assert {path: keys for path, keys in found.items() if keys} == {}


def test_the_papers_are_cited_where_the_search_looks() -> None:
    cited = set().union(
        *(KEY.findall(path.read_text(encoding="utf-8")) for path in texts() if path != REFERENCES)
    )
    assert {"chapelle2010", "chen2017", "he2009", "xu2019"} <= cited


@pytest.mark.parametrize(("key", "entry"), entries().items())
def test_an_entry_is_of_its_author_and_year(key: str, entry: str) -> None:
    author, year = re.fullmatch(r"([a-z]+)(\d{4})[a-z]?", key).groups()
    plain = entry.lower().translate(str.maketrans("äöü'", "aou ")).replace(" ", "")
    assert author in plain.split(",")[0], f"the first author of {key} is another"
    assert year in entry


def test_no_doi_stands_twice() -> None:
    found = Counter(re.findall(r"doi:(10\.\S+?)[.,]?(?:\s|$)", REFERENCES.read_text(encoding="utf-8")))
    assert found
    assert max(found.values()) == 1


def test_readme_links_to_the_references() -> None:
    assert "(docs/references.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
