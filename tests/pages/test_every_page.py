"""Every page with data at the edges: a figure or a sentence, never a traceback."""

import ast
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from conftest_pages import APP, Opener, shown, sound, words

from rankviz.datasets import folds as folds_module
from rankviz.models.methods import METHODS, Capabilities
from ui.controls.navigation import ENTRIES, Entry

pytestmark = pytest.mark.usefixtures("every_tab")

PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))
READING = [entry.file for entry in ENTRIES if not entry.own]
"""The pages that read the data and the model of the sidebar."""
FEW_METHODS = ("regularized", "hidden_layer", "forest", "adarank_map")
"""Methods that together offer and lack everything, in nearly every pair. All other tests have RankSVM."""
FEW = {"ndcg_vs_m": {"upto": 10, "exact": "false"}, "kernel_approximation": {"errupto": 25, "draws": 1}}
"""Settings with which pages need few runs."""


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize("page", READING)
@pytest.mark.parametrize("kind", ["one document", "one grade", "all-zero features"])
def test_edges_of_data(page: str, kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    app = open_page(page, data="edge", m=500)
    assert app.session_state["data"] == "edge"
    assert shown(app) or app.error or app.info or app.warning
    assert "nan" not in words(app).lower().split()


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize("page", READING)
@pytest.mark.parametrize("ends", [{"c": -15, "g": -12}, {"c": 10, "g": 4}])
def test_ends_of_the_settings(page: str, ends: dict[str, object], open_page: Opener, small_set: None) -> None:
    app = open_page(page, data="edge", m=5, **FEW.get(page, {}), **ends)
    assert app.session_state["c"] == ends["c"]
    assert shown(app)
    assert all(element.proto.alt for element in app.get("plotly_chart")), "a figure without a description"


@pytest.mark.parametrize("page", READING)
@pytest.mark.parametrize("method", FEW_METHODS)
def test_every_method(page: str, method: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("five grades")
    label = METHODS[method].label
    app = open_page(page, data="edge", m=5, method=label, **FEW.get(page, {}))
    assert app.session_state["method"] == method
    said = sound(app)
    wrong = rf"[Tt]his is the linear model|{label}[^.·(]*(γ =|C =)|{label} RankSVM"
    if not METHODS[method].offers(METHODS[method].resolve({})).expansion:
        assert not [line for line in said.splitlines() if label in line and re.search(wrong, line)]


def test_few_methods_offer_and_lack_everything() -> None:
    offers = {name: method.offers(method.resolve({})) for name, method in METHODS.items() if method.trains}
    few = [offers[name] for name in ("ranksvm", *FEW_METHODS)]
    for field in fields(Capabilities):
        assert {getattr(one, field.name) for one in few} == {
            getattr(one, field.name) for one in offers.values()
        }


def test_no_popover_runs_its_page_when_it_closes() -> None:
    """A click on the menu closes it: what then runs in a fragment makes the next page blank."""
    for path in (APP.parent / "ui").rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "popover":
                assert "on_change" not in [keyword.arg for keyword in call.keywords], path


@pytest.mark.parametrize("page", PAGES)
def test_no_data_at_all_is_a_sentence(
    page: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(folds_module, "BUNDLED", tmp_path)
    app = open_page(page)
    assert not shown(app)
    assert "no data set" in app.error[0].value
    assert "DATA=folder" in app.error[0].value


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.file)
def test_a_broken_file_is_a_sentence_with_its_line(
    entry: Entry, open_page: Opener, data_set: Callable[..., None], tmp_path: Path
) -> None:
    data_set("tiny", copied=True)
    with (tmp_path / "data" / "edge" / "Fold1" / "train.txt").open("a") as file:
        file.write("2 qid:9 1:NaN 2:0.5\n")
    app = open_page(entry.file, data="edge")
    if entry.own:  # a page without data, which at most names the sidebar's
        assert "train.txt" not in words(app)
        assert not app.error
    else:
        assert "train.txt, line 6" in app.error[0].value
        way_on = app.button(key="other-data")
        assert way_on.label == "Use synthetic-demo"
        if entry.file == "data":
            way_on.click().run()
            assert not app.error
            assert app.session_state["data"] == "synthetic-demo"
