"""Foreign text in pages: names of data, of documents, and what an address says, shown as they are."""

import ast
import io
from pathlib import Path

import pandas as pd
import pytest
from conftest_pages import APP, Opener, words
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime import caching

from rankviz.common.numbers import as_csv
from rankviz.datasets import RankingData
from rankviz.plots.style import shown_documents
from ui.shell.texts import escaped, plain
from ui.work.runs import _memory

pytestmark = pytest.mark.usefixtures("every_tab")

PICTURE = "![p](https://elsewhere.example/p.png)"
HOSTILE = (PICTURE, "<img src=//elsewhere.example>", "[a](http://elsewhere.example)", "$x$ **b** `c` :red[d]")
CORE = {"describe", "data_words"}


@given(st.text())
def test_nothing_is_lost_but_the_ends_of_lines(text: str) -> None:
    one_line = text.replace("\r", " ").replace("\n", " ").replace("\u2060", "")
    if "&" not in text:  # what looks like an entity is escaped too, and found again below
        assert plain(escaped(text)).replace("\u2060", "") == one_line


def test_entities_are_shown_as_they_are_written() -> None:
    assert plain(escaped("&lt;b&gt; &#33;")) == "&lt;b&gt; &#33;"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_sign_that_markdown_reads_is_left(text: str) -> None:
    left = escaped(text).replace("&#", "").replace(";", "")
    assert not set(left) & set("\\`*_{}[]<>#|~$&!^"), left
    assert "://" not in left or "\u2060://" in left or ":\u2060//" in left


def test_pages_put_no_name_of_data_into_a_text_as_it_is() -> None:
    for path in [*(APP.parent / "ui").rglob("*.py"), *(APP.parent / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "rankviz.runs.description":
                taken = CORE & {name.name for name in node.names}
                assert not taken, f"{path.name} takes {taken} from the core, not from ui.shell.texts"


def test_no_cell_is_a_formula() -> None:
    ids = ['=HYPERLINK("http://elsewhere.example")', "+1", "-x", "@y", "GX-1"]
    table = pd.DataFrame({"id": ids, "n": [-1.5] * 5})
    back = pd.read_csv(io.StringIO(as_csv(table)))
    assert back["id"].tolist() == ["'" + one for one in table["id"][:4]] + ["GX-1"]
    assert back["n"].tolist() == [-1.5] * 5


def test_names_of_documents_are_no_links_in_figures() -> None:
    ids = ['<a href="http://elsewhere.example">d</a>', "GX-1"]
    part = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1], document_ids=ids)
    shown = shown_documents(part, 0)
    assert "<a" not in shown[0]
    assert "</a" not in shown[0]
    assert shown[1] == "GX-1"


@pytest.mark.parametrize("text", HOSTILE)
def test_what_an_address_says_is_shown_as_it_is(text: str, open_page: Opener) -> None:
    keys = ("data", "fold", "map", "lam", "query", "view", "document")
    app = open_page("data", **dict.fromkeys(keys, text), costs="λ as below")
    told = words(app) + "".join(one.value for one in (*app.sidebar.error, *app.sidebar.warning))
    assert text not in told
    assert "](http" not in told
    assert "<img" not in told


def test_no_visitor_can_have_the_records_forgotten(open_page: Opener) -> None:
    open_page("train", m=5)
    kept = dict(_memory()._records)
    assert kept
    caching.cache_data.clear()  # what Streamlit does when a browser sends "clear_cache"
    caching.cache_resource.clear()
    assert dict(_memory()._records) == kept


@pytest.mark.parametrize("number", ["1e400", "-1e400", "nan", "1e30", "9" * 400])
def test_numbers_without_end_are_left_out(number: str, open_page: Opener) -> None:
    app = open_page("data", seed=number, m=number, c=number)
    assert not app.exception
    assert app.session_state["seed"] == 0


def test_names_of_folders_are_escaped(
    open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "[a](x) $b$ **c**" / "Fold1"
    folder.mkdir(parents=True)
    for name in ("train", "vali", "test"):
        (folder / f"{name}.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    monkeypatch.setenv("RANKVIZ_DATA", str(tmp_path / "data"))
    for page in ("data", "train", "side_by_side"):
        app = open_page(page, data="[a](x) $b$ **c**")
        assert app.session_state["data"] == "[a](x) $b$ **c**"
        assert "**c**" not in words(app)
        assert "[a](x)" not in words(app)
        assert escaped("[a](x) $b$ **c**") in words(app)
