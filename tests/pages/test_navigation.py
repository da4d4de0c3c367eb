"""Each page is declared once: the menu, Home, README and docs/pages.md name the same pages."""

from pathlib import Path

import pytest
from conftest_pages import APP, Opener
from streamlit.runtime.pages_manager import PagesManager

from ui.controls.navigation import ENTRIES, ICON
from ui.learn import home as views
from ui.learn.home_words import DOORS, JOIN
from ui.shell import words


def test_every_page_is_declared_once() -> None:
    assert sorted(entry.file for entry in ENTRIES) == sorted(p.stem for p in APP.parent.glob("pages/*.py"))
    assert len({entry.title for entry in ENTRIES}) == len({entry.icon for entry in ENTRIES}) == len(ENTRIES)


def rows_below(header: str, path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index(header) + 2
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in lines[start : lines.index("", start)]]


def test_the_readme_groups_all_pages() -> None:
    rows = rows_below("| group | pages |", APP.parent / "README.md")
    named = [(group, title) for group, titles in rows for title in titles.split(", ")]
    assert named == [(entry.section or "Start", entry.title) for entry in ENTRIES]


def test_the_documentation_has_a_row_for_each_page() -> None:
    rows = rows_below("| page | what it shows |", APP.parent / "docs" / "pages.md")
    assert [title for title, _ in rows] == [entry.title for entry in ENTRIES]
    assert all(text.endswith(".") for _, text in rows)


@pytest.mark.parametrize("there", [True, False])
def test_home_leads_to_every_page_a_class_and_the_documentation_where_a_copy_is(
    there: bool, open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "index.html"
    if there:
        copy.write_text("<html></html>")
    assert APP.parent / "static" / "docs" / "index.html" == views.DOCUMENTATION
    monkeypatch.setattr(views, "DOCUMENTATION", copy)
    app = open_page("home", m=5, exact="false")
    assert any("(app/static/docs/index.html)" in one.value for one in app.markdown) is there
    links = [link.proto for link in app.get("page_link")]
    assert [link.label for link in links[len(DOORS) :]] == [entry.sentence for entry in ENTRIES[1:]]
    assert all(entry.about.endswith("?") for entry in ENTRIES[1:])
    assert [link.page for link in links if link.label == JOIN] == ["lecture"]


@pytest.mark.parametrize(
    "asked", ["no-such-page", "a/no-such-page", "/", "  ", " train ", "../train/", "x\n/ "]
)
def test_an_address_that_no_page_can_have_is_no_fault(
    asked: str, open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PagesManager, "intended_page_name", asked)
    app = open_by_menu("home", m=5)
    assert len(app.get("page_link")) >= len(ENTRIES) - 1
    if asked == "no-such-page":
        assert app.title[0].value == words.NO_PAGE
        assert len(app.get("page_link")) == len(ENTRIES) - 1
        assert app.sidebar.selectbox


def test_the_icon_is_a_file() -> None:
    assert ICON.read_text(encoding="utf-8").startswith("<svg")
