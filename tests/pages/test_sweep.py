"""Sweep: what a design comes to, a study that fills in, what is chosen, and who may do what."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import strangers
from conftest_pages import Opener, decoded, figures, words
from runs_once import RunsOnce
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.metrics.evaluation import compared
from rankviz.models.low_rank_settings import FACTORS
from rankviz.models.methods import METHODS
from rankviz.runs import Design, select
from rankviz.runs.run import execute_all
from rankviz.runs.selection import Choice, candidates
from rankviz.store import Study
from rankviz.store.execution import LocalWorkers
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.study import PAUSED, RUNNING, STOPPED
from ui.study import sweep_design
from ui.study.sweep_design import _usual_typed
from ui.study.sweep_studies import Sweep
from ui.work.folds import digest_of
from ui.work.run_store import forget, run_store

SMALL = {"m": 5, "xcby": 4, "xgby": 4, "xc": [-4, 0], "xg": [-4, 0]}
"""A grid of two values of C and two of γ."""


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch, runs_once: RunsOnce) -> Iterator[None]:
    """Nobody works on studies but the test itself, which makes each run once for all tests."""
    once = lambda specs, callback, *, fold, where: runs_once(specs, callback, fold=fold)  # noqa: E731
    monkeypatch.setattr("rankviz.store.family_runner.execute_all", once)
    monkeypatch.setattr(LocalWorkers, "maintain", lambda self: None)
    yield
    forget()


@pytest.fixture
def opened(open_page: Opener) -> Opener:
    """Opens the page with settings of a link, some of which have two ends."""

    def on(**params: object) -> AppTest:
        app = open_page("sweep", **{key: value for key, value in params.items() if key not in ("xc", "xg")})
        both = [key for key in ("xc", "xg") if key in params]
        for key in both:
            app.slider(key=key).set_value(params[key])
        return app.run() if both else app

    return on


@pytest.fixture
def started(opened: Opener) -> AppTest:
    """A page on which the small grid was started."""
    return press(opened(**SMALL), "start-sweep")


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def study_of(app: AppTest) -> str:
    assert app.query_params["study"] == app.session_state["study"]
    return str(app.session_state["study"])


def make(app: AppTest, families: int = 100) -> AppTest:
    """Make runs as a worker does, and look at the page again."""
    making = FamilyRunner(run_store())
    for _ in range(families):
        lease = run_store().queue.take("tester")
        if lease is None:
            break
        making.make(lease)
    return app.run()


def design_of(study: str) -> Design:
    return Design.from_dict(run_store().studies.status(study).study.design)


def table_of(app: AppTest) -> Any:
    status = run_store().studies.status(study_of(app))
    return run_store().listing.of_study(status.id, status.study.owner)


def test_before_it_starts_a_design_says_what_it_comes_to(opened: Opener) -> None:
    app = opened(**SMALL)
    assert app.header[0].value.startswith("12 runs of 4 models: about")
    assert app.header[0].value.rstrip(".").endswith(" with 2 worker processes")
    (drawn,) = figures(app)
    coming = next(trace for trace in drawn["data"] if trace.get("name") == "to come")
    assert decoded(coming["x"]) == [0, 0, 1, 1]
    assert not run_store().studies.running()


def test_what_starts_is_in_the_store_and_pauses_resumes_and_stops(started: AppTest) -> None:
    study = study_of(started)
    status = run_store().studies.status(study)
    assert (status.total, status.done, status.asked) == (12, 0, RUNNING)
    assert status.study.title == "C × γ, Nyström m = 5, synthetic-demo"
    specs = run_store().studies.specs(study)
    assert all(spec.digest == digest_of(spec) for spec in specs)
    assert [spec.but(digest="") for spec in specs] == design_of(study).specs()
    assert "No cell complete yet" in started.header[0].value
    for key, asked in (("Pause", PAUSED), ("Resume", RUNNING), ("Stop", STOPPED), ("Resume", RUNNING)):
        press(started, f"sweep-{key}")
        assert run_store().studies.status(study).asked == asked


def test_the_same_design_is_not_made_again(started: AppTest, opened: Opener) -> None:
    make(started)
    app = press(started, "new-sweep")
    assert "all exist" in app.header[0].value
    app = press(app, "start-sweep")
    assert app.header[0].value.startswith("Best: ")


def test_the_chosen_cell_says_what_equal_scores_make(
    started: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.family_runner.execute_all", execute_all)
    monkeypatch.setattr(
        "rankviz.runs.families.compared", lambda *given: (compared(*given)[0], {"NDCG@10": 0.9876})
    )
    app = make(started)
    assert "in the order of the file NDCG@10 would be 0.988 instead of" in words(app).replace("\u2060", "")
    app.session_state["view"] = "Test part"
    app.run()
    said = words(press(app, "show-test")).replace("\u2060", "")
    assert said.count("in the order of the file") == 1, "one note for both parts"
    assert "validation), 0.988" in said
    assert "test)" in said


def test_the_test_part_is_shown_when_it_is_asked_for(started: AppTest) -> None:
    app = make(started)
    app.query_params["view"] = "Test part"
    app.session_state["view"] = "Test part"
    app.run()
    assert "Test NDCG@10" not in words(app)
    chosen = select(design_of(study_of(app)), table_of(app), "NDCG@10")
    app = press(app, "show-test")
    assert f"**Test NDCG@10 {chosen.test_means['NDCG@10']:.3f}**" in words(app)
    app.selectbox(key="metric").set_value("NDCG@1").run()
    other = select(design_of(study_of(app)), table_of(app), "NDCG@1")
    if other.chosen["cell"].tolist() != chosen.chosen["cell"].tolist():
        assert "Test " not in words(app).replace("Test once", "").replace("Test the", "")
        assert "2 choices tested" in words(press(app, "show-test"))


def test_another_visitor_sees_a_sentence_and_a_shared_sweep(started: AppTest, open_page: Opener) -> None:
    make(started)
    study = study_of(started)
    other = open_page("sweep", study=study)
    assert_no_sweep(other, "its owner does not share it")
    status = run_store().studies.status(study)
    run_store().studies.share(study, status.study.owner, True)
    other = open_page("sweep", study=study)
    assert other.header[0].value.startswith("Best: ")
    assert not [one for one in other.button if one.key in ("sweep-Stop", "sweep-Pause")]


def assert_no_sweep(app: AppTest, why: str) -> None:
    """The page has its title, says why there is no sweep, lists those there are, and offers a new one."""
    assert app.title[0].value == "Sweep"
    assert why in app.warning[0].value
    assert app.button(key="new-sweep")
    assert "No sweeps yet" in words(app) or app.subheader[0].value.startswith("Your sweeps")
    assert not figures(app)
    assert not app.error


def test_a_run_that_fails_is_told_with_its_reason(started: AppTest) -> None:
    first = run_store().studies.specs(study_of(started))[0]
    run_store().records.fail(first, "No <b>memory</b>.")
    app = make(started)
    assert "1 run failed: why" in [one.label for one in app.expander]
    assert "No &#60;b&#62;memory" in words(app)
    assert app.header[0].value.startswith("Best: ")
    assert "(3 of 4 cells)" in app.header[0].value


def test_titles_are_foreign_text_and_deleting_is_undone(started: AppTest) -> None:
    make(started)
    study = study_of(started)
    owner = run_store().studies.status(study).study.owner
    run_store().studies.rename(study, owner, "<b>*mine*</b>")
    app = press(started, "new-sweep")
    assert app.button(key=f"open-{study}").label == "&#60;b&#62;&#42;mine&#42;&#60;/b&#62;"
    app = press(app, f"delete-{study}")
    assert not [one for one in app.button if one.key == f"open-{study}"]
    app = press(app, "undo-delete")
    assert press(app, f"open-{study}").header[0].value.startswith("Best: ")


def test_a_cell_opens_in_train_without_training(
    started: AppTest, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make(started)
    chosen = select(design_of(study_of(app)), table_of(app), "NDCG@10")

    made: list[RunSpec] = []

    def made_now(specs: Sequence[RunSpec], *how: Any, **more: Any) -> Any:
        made.extend(specs)
        return execute_all(specs, *how, **more)

    monkeypatch.setattr("ui.work.runs.execute_all", made_now)
    app = press(app, "open-cell")
    settings = chosen.settings["Fold1"]
    ends = {key: app.session_state[key] for key in ("c", "g")}
    assert [2.0**end for end in ends.values()] == [settings["C"], settings["gamma"]]
    assert figures(open_page("train", m=5, **ends))
    assert [spec.feature_map for spec in made] == ["linear"]  # that is drawn beside it


def test_the_map_fills_in_and_a_ticked_cell_is_looked_at(started: AppTest) -> None:
    app = make(started)
    app.session_state["cell"] = study_of(app), 3
    app.run()
    assert "Clicked cell: C = 2⁰, γ = 2⁰" in words(app)
    assert "Chosen cell: " in words(press(app, "chosen"))
    app.session_state["view"] = "Cells"
    (cells,) = (one.value for one in app.run().dataframe if "NDCG@10" in one.value)
    assert cells["NDCG@10"].is_monotonic_decreasing
    chosen = select(design_of(study_of(app)), table_of(app), "NDCG@10")
    assert f"validation NDCG@10 {chosen.validation:.3f}" in app.header[0].value
    assert app.header[0].value.startswith("Best: C = ")
    values = [value for row in figures(app)[0]["data"][0]["z"] for value in row]
    assert max(values) == pytest.approx(chosen.validation)
    app.selectbox(key="metric").set_value("Own …").run()
    assert "Write a metric in the field" in words(app)
    same = "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15})@10"
    app.text_input(key="own").set_value(same).run()
    assert not app.exception
    assert not app.error
    assert f"validation {same} {chosen.validation:.3f}" in app.header[0].value


def test_made_up_visitors_of_one_address_leave_runs_for_others(
    opened: Opener, bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(live_runs=100, live_runs_each=50, live_runs_address=60)
    monkeypatch.setattr(sweep_design, "address", lambda: "one place")
    base = RunSpec("small", digest="0" * 32)

    def sweep(owner: str, place: str, runs: int) -> str:
        specs = [base.but(C=1.0 + number) for number in range(runs)]
        return run_store().studies.submit(Study(owner, "a grid", address=place), specs)

    first = sweep("made up 1", "one place", 57)
    assert "limit for one network address is 60" in press(opened(**SMALL), "start-sweep").warning[0].value
    run_store().studies.stop(first, "made up 1")
    sweep("made up 2", "another place", 60)
    sweep("made up 3", "one place", 27)
    assert "limit for all visitors is 90" in press(opened(**SMALL), "start-sweep").warning[0].value
    monkeypatch.setattr(sweep_design, "address", lambda: "a quiet place")
    app = press(opened(**SMALL), "start-sweep")
    assert not app.warning
    stopped = press(app, "sweep-Stop")
    bounded(live_runs=100, live_runs_each=1, live_runs_address=60)
    assert "limit for one visitor is 1" in press(stopped, "sweep-Resume").warning[0].value
    assert run_store().studies.status(study_of(app)).asked == STOPPED


def test_sweeps_that_start_in_the_same_moment_share_a_limit(
    bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(live_runs_each=50)
    monkeypatch.setattr(sweep_design, "visitor", lambda: "somebody")
    monkeypatch.setattr(sweep_design, "address", lambda: "")
    together = threading.Barrier(8)

    def start(number: int) -> bool:
        base = RunSpec("small", digest="0" * 32, gamma=1.0 + number)
        specs = [base.but(C=1.0 + place) for place in range(20)]
        together.wait()
        try:
            with sweep_design.room_for_runs(len(specs)):
                run_store().studies.submit(Study("somebody", "a grid"), specs)
        except SettingError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(start, range(8))) == 2


def test_bounds_are_sentences(opened: Opener, bounded: Callable[..., None]) -> None:
    bounded(live_runs_each=3)
    app = press(opened(**SMALL), "start-sweep")
    assert "limit for one visitor is 3" in app.warning[0].value
    assert "study" not in app.query_params
    bounded(sweep_runs=3)
    assert "more than the 3 of one sweep here" in opened(**SMALL).error[0].value


def test_designs_of_papers(open_page: Opener) -> None:
    app = open_page("sweep")
    options = app.selectbox(key="design").options
    for design, begins in (("C and γ", "γ × C"), ("C for each", "C,"), ("C in two", "C,")):
        app.selectbox(key="design").set_value(next(one for one in options if one.startswith(design))).run()
        assert not app.error
        assert app.text_input(key="sweep-title").placeholder.startswith(begins)


def test_folds_are_chosen_by_their_numbers(open_page: Opener) -> None:
    app = open_page("sweep", folds="Fold1")
    shown = app.multiselect(key="folds-named")
    assert (shown.options, shown.value) == (["Fold 1", "Fold 2", "Fold 3"], ["Fold1"])
    shown.select("Fold 3").run()
    assert app.session_state["folds"] == ["Fold1", "Fold3"]
    assert "50 runs of 25 models" in app.header[0].value


@pytest.mark.parametrize("kind", ["random points", "Sobol points"])
def test_drawn_points_on_three_axes(kind: str, open_page: Opener) -> None:
    app = open_page("sweep", m=5, kind=kind)
    app.multiselect(key="axes").set_value(["C", "γ", "Loss"]).run()
    assert not app.error
    app = make(press(app, "start-sweep"))
    assert app.header[0].value.startswith("Best: C = ")
    views = ("Parallel coordinates", "Validation curves", "What settings are worth")
    for view in views if kind == "Sobol points" else views[:1]:
        app.session_state["view"] = view
        assert len(figures(app.run())) == 2
        assert not app.error


def test_two_sweeps_beside_one_another_share_their_colours(started: AppTest) -> None:
    make(started)
    app = press(started, "new-sweep")
    app.slider(key="xc").set_value((-8, -4)).run()
    first, app = study_of_first(app), make(press(app, "start-sweep"))
    app.session_state["view"] = "Beside others"
    app.session_state["beside"] = [first]
    app.run()
    maps = [one["data"][0] for one in figures(app)[1:] if one["data"][0]["type"] == "heatmap"]
    assert len(maps) == 2
    assert len({(one["zmin"], one["zmax"]) for one in maps}) == 1
    assert app.query_params["beside"] == first


def study_of_first(app: AppTest) -> str:
    (key,) = [one.key for one in app.button if str(one.key).startswith("open-")]
    return str(key).removeprefix("open-")


def test_more_cells_need_the_adviser_and_something_to_choose(
    started: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make(started)
    app.session_state["view"] = "More cells"
    before = study_of(app)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "optuna", None)
        app = press(app.run(), "ask-for-more")
        assert "rankviz&#91;advise&#93;" in app.warning[0].value
    pytest.importorskip("optuna")
    app = press(app, "ask-for-more")
    assert "all cells are made" in app.warning[0].value
    assert study_of(app) == before
    assert not press(app, "new-sweep").warning


def test_what_is_no_sweep_or_not_there_is_a_sentence_with_a_way_on(
    started: AppTest, open_page: Opener
) -> None:
    status = run_store().studies.status(study_of(started))
    spec = RunSpec("synthetic-demo", digest="0" * 16)
    other = run_store().studies.submit(Study(status.study.owner, "page", kind="page", shared=True), [spec])
    assert_no_sweep(open_page("sweep", study=other), "cannot be shown as a sweep")
    study, studies = study_of(started), run_store().studies
    owner = studies.status(study).study.owner
    for unknown in ("0" * 32, "x" * 3000):
        assert_no_sweep(open_page("sweep", study=unknown), "There is no study with this id")
    studies.share(study, owner, True)
    studies.delete(study, owner)
    app = open_page("sweep", study=study)
    assert_no_sweep(app, "It was deleted")
    press(app, "new-sweep")
    assert app.button(key="start-sweep")
    assert "study" not in app.query_params


def test_a_sweep_that_keeps_how_it_chooses_is_shown_so(opened: Opener) -> None:
    """As one of the command line does; what the address says goes first."""
    app = opened(**SMALL)
    study = study_of(make(press(app, "start-sweep")))
    status = run_store().studies.status(study)
    design = design_of(study)
    own = Choice("NDCG@1", "one_standard_error", per_fold=False)
    run_store().studies.redesign(study, status.study.owner, own.beside(design))
    run_store().studies.share(study, status.study.owner, True)
    kept = opened(study=study)
    assert kept.selectbox(key="metric").value == "NDCG@1"
    assert kept.selectbox(key="rule").value == "one standard error"
    chosen = select(design, table_of(app), "NDCG@1", rule="one_standard_error")
    assert f"validation NDCG@1 {chosen.validation:.3f}" in kept.header[0].value
    assert "within one standard error of the best" in kept.header[0].value
    assert "validation MAP" in opened(study=study, metric="MAP").header[0].value
    run_store().studies.redesign(study, status.study.owner, Choice(per_fold=True).beside(design))
    assert opened(study=study).toggle(key="each").value is True
    assert "of each fold" in opened(study=study).header[0].value
    assert "of each fold" not in opened(study=study, each="false").header[0].value


def test_the_list_tells_the_cell_that_a_sweep_keeps_to_choose(started: AppTest) -> None:
    """Not the best one by NDCG@10, where the sweep chooses by another metric, rule, or for each fold."""
    app = make(started)
    study = study_of(app)
    design, table, owner = design_of(study), table_of(app), run_store().studies.status(study).study.owner
    assert f"best NDCG@10 {select(design, table, 'NDCG@10').validation:.3f} at " in listed(app)
    for metric, rule, each, told in (
        ("NDCG@1", "one_standard_error", False, "within one standard error NDCG@1 {:.3f} at "),
        ("P@5", "best", True, "best P@5 {:.3f} in the mean, chosen for each fold"),
    ):
        run_store().studies.redesign(study, owner, Choice(metric, rule, per_fold=each).beside(design))
        chosen = select(design, table, metric, rule=rule, per_fold=each)
        assert told.format(chosen.validation) in listed(app)


def test_a_sweep_of_a_paper_keeps_how_the_paper_chose(opened: Opener) -> None:
    app = press(opened(design="C for each fold (chapelle2010 §5.1, Table 2)"), "start-sweep")
    kept = Choice.of_study(run_store().studies.status(study_of(app)).study.design)
    assert kept == Choice("NDCG@10", per_fold=True)


def test_more_cells_are_chosen_among_as_before(open_page: Opener) -> None:
    pytest.importorskip("optuna")
    app = make(press(open_page("sweep", m=5, kind="Sobol points"), "start-sweep"))
    study, own = study_of(app), Choice("P@5", "one_standard_error")
    run_store().studies.redesign(
        study, run_store().studies.status(study).study.owner, own.beside(design_of(study))
    )
    app.session_state["view"] = "More cells"
    app = press(app.run(), "ask-for-more")
    assert study_of(app) != study
    assert Choice.of_study(run_store().studies.status(study_of(app)).study.design) == own


def listed(app: AppTest) -> str:
    app.session_state["view"] = "Your sweeps"
    return words(app.run())


def test_rounds_vary_up_to_their_default(open_page: Opener) -> None:
    app = open_page("sweep", method="MART")
    assert app.text_input(key="xrounds").value == "75, 150, 300"
    assert _usual_typed(FACTORS) == "1, 2, 4"


def test_the_text_about_a_curve_describes_what_is_drawn(opened: Opener) -> None:
    app = opened(m=5, xcby=4, xc=[-4, 0], axes="C")
    assert "A square is a cell to train" in words(app)
    app = press(app, "start-sweep")
    assert "A square is a cell to train" in words(app)
    make(app)
    assert "Band: from the lowest to the highest fold at each value" in words(app)
    assert "small squares" not in words(app)


def test_a_ranker_without_c_is_swept_and_chosen_among(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "mean", strangers.SCALED_MEAN)
    app = make(press(open_page("sweep", method="scaled mean"), "start-sweep"))
    chosen = select(design_of(study_of(app)), table_of(app), "NDCG@10")
    assert app.header[0].value.startswith("Best: p = ")
    assert f"validation NDCG@10 {chosen.validation:.3f}" in app.header[0].value
    for view in (
        "Cells",
        "Parallel coordinates",
        "Validation curves",
        "What settings are worth",
        "Test part",
    ):
        app.session_state["view"] = view
        assert figures(app.run())
        assert not app.error


def test_cells_at_the_very_edge_are_near_the_best() -> None:
    """Their mean is the best less its standard error, but for rounding."""
    values = pd.DataFrame({"a": [0.6, 0.2 + 0.1 + 0.2 - 1e-15], "b": [0.6, 0.5]})
    cells = candidates(values, None, pd.DataFrame(index=values.index), "MAP")
    cells = replace(cells, error=pd.Series(0.1, values.index))
    assert Sweep.near.fget(SimpleNamespace(candidates=cells)) == 1  # type: ignore[attr-defined]
