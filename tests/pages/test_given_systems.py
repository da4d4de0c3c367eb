"""A visitor's own system, known by its scores only, on every page; and the form that adds it."""

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest_pages import Opener, figures, shown, words
from test_every_page import FEW, READING

from rankviz import RunSpec, evaluate
from rankviz.datasets import load_demo
from rankviz.datasets.archives import Member
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import compared
from rankviz.runs.given import write_trec
from rankviz.store.exchange import export_runs, import_runs
from rankviz.store.study import IMPORTED
from ui.compare.runs_actions import CHOSEN
from ui.compare.runs_words import NOTHING_TO_TRAIN
from ui.shell.visitors import visitor
from ui.work.metrics import OWN
from ui.work.run_store import run_store
from ui.work.systems import keep_system, systems

pytestmark = pytest.mark.usefixtures("every_tab")

DATA = "synthetic-demo"


@cache
def run_of(part: str, fold: int = 1, seed: int = 0) -> Member:
    """Return a TREC run of random scores on a part of a demonstration fold."""
    data, text = load_demo(fold).parts[part], io.BytesIO()
    write_trec(np.random.default_rng(seed).normal(size=data.n_documents), data, "mine", text)
    path = (f"Fold{fold}", f"{part}.run")
    return Member("/".join(path), path, len(text.getvalue()), lambda: io.BytesIO(text.getvalue()))


@pytest.fixture(autouse=True)
def one_visitor(monkeypatch: pytest.MonkeyPatch, open_page: Opener) -> None:
    """Have one visitor add systems and open pages."""
    monkeypatch.setattr("ui.shell.visitors._secret", lambda: "1" * 32)


@pytest.fixture
def kept(open_page: Opener) -> list[RunSpec]:
    """Keep a system with scores of all parts of a fold."""
    return keep_system([run_of(part) for part in ("train", "vali", "test")], DATA, name="my *system*")[1]


@pytest.mark.parametrize("page", READING)
def test_every_page_shows_it_or_says_why_not(page: str, kept: list[RunSpec], open_page: Opener) -> None:
    app = open_page(page, m=10, method="scores from files", **FEW.get(page, {}))
    assert app.session_state["method"] == "given"
    assert not app.error, [error.value for error in app.error]
    assert shown(app) or app.info or app.warning
    said = words(app)
    assert "nan" not in said.lower().split()
    if page not in {"data", "home", "weights", "kernel_approximation"}:
        assert "my-system" in said + str(figures(app))
    assert systems(DATA) == {kept[0].system: "my-system"}


@pytest.mark.parametrize("page", ["train", "what_if", "side_by_side", "low_rank"])
def test_pages_say_which_part_is_missing(page: str, open_page: Opener) -> None:
    keep_system([run_of("test")], DATA, name="tested")
    app = open_page(page, m=10, method="scores from files")
    for error in app.error:
        assert error.value.startswith("tested has no scores of the ")
        assert "only of test. Show that part (“Reveal test” at the top of the page), or" in error.value
    assert app.error or shown(app) or app.info or app.warning


def test_a_system_beside_the_model_is_named_and_its_scores_have_no_training_time(
    kept: list[RunSpec], open_page: Opener
) -> None:
    app = open_page("train", m=10)
    app.selectbox(key="beside").select_index(1).run()
    assert app.metric[0].delta.endswith(" against my-system")
    assert "This run took" in words(app)
    app = open_page("train", method="scores from files", system=kept[0].system)
    assert app.metric
    assert "This run took" not in words(app)


@pytest.mark.parametrize("page", ["train", "side_by_side", "definitions"])
def test_a_fold_without_its_scores_is_said_and_nothing_is_offered(page: str, open_page: Opener) -> None:
    spec = keep_system([run_of("vali")], DATA, name="first fold")[1][0]
    app = open_page(page, data=DATA, fold="Fold2", method="scores from files", system=spec.system)
    (error,) = app.error
    assert error.value.startswith("first fold has no scores on this fold with seed 0: choose a fold")
    assert not [button.label for button in app.button if button.label.startswith("Train ")]


@pytest.mark.parametrize("page", ["home", "runs", "what_if"])
def test_pages_say_what_equal_scores_make(
    page: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(*given: Any, **how: Any) -> Any:
        return compared(*given, **how)[0], {"NDCG@10": 0.9876}

    monkeypatch.setattr("rankviz.runs.families.compared", moved)
    monkeypatch.setattr("ui.model.what_if.compared", moved)
    keep_system([run_of(part) for part in ("train", "vali", "test")], DATA, name="tied")
    app = open_page(page, m=10, c=-7)  # settings that no other test has trained
    assert "in the order of the file NDCG@10 would be 0.988 instead of" in words(app).replace("\u2060", "")


def test_an_imported_system_is_not_trained_again(
    kept: list[RunSpec], open_page: Opener, tmp_path: Path
) -> None:
    export_runs(run_store(), [kept[0].hash], visitor(), tmp_path / "runs.rankviz")
    run_store().marks.delete(visitor(), [kept[0].hash])
    import_runs(run_store(), tmp_path / "runs.rankviz", visitor())
    table = run_store().listing.seen_by(visitor())
    (brought,) = table.index[table["state"] == IMPORTED]
    app = open_page("runs")
    app.session_state[CHOSEN] = [brought]
    app.run()
    again = app.button(key="runs-open")
    assert (again.label, again.disabled, again.help) == ("Train again", True, NOTHING_TO_TRAIN)


def test_own_gains_are_compared(kept: list[RunSpec], open_page: Opener) -> None:
    other = keep_system([run_of(part, seed=1) for part in ("train", "vali", "test")], DATA, name="other")[1]
    runs, own = f"{kept[0].hash},{other[0].hash}", "nDCG(gains={0: 0, 1: 1, 2: 9, 3: 27, 4: 81})@5"
    app = open_page("compare", runs=runs, metric=OWN, own=own, further="MeanRank")
    assert not app.error
    part = load_demo(1).vali
    scores = np.random.default_rng(1).normal(size=part.n_documents)
    wanted = evaluate(scores, part, COMPARED, measures=[own, "MeanRank"]).mean
    (means,) = (table.value for table in app.dataframe if "mean" in table.value)
    found = means.set_index(["label", "metric"])["mean"]["other"]
    assert found.to_dict() == pytest.approx(wanted.to_dict(), abs=1e-12)
    assert "Less MeanRank is better" in words(app)
    app = open_page("compare", runs=runs, metric=OWN, own="nDCG(gain=)@5")
    assert any("cannot be read" in told.value for told in app.caption)
    app = open_page("compare", runs=runs, metric=OWN, own="MeanRank")
    assert not app.error
    assert "MeanRank on 38 queries" in words(app).replace("\u2060", "")
