"""The Compare page: runs of the store beside a baseline, by the library's numbers; who may see which."""

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest_pages import Opener, decoded, figures, words
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from rankviz import RunRecord, RunSpec, execute, execute_all
from rankviz.analysis.comparison import compare
from rankviz.analysis.contestants import contestants
from rankviz.analysis.tables import as_latex, printed_table, table_of_tests
from rankviz.datasets import find_datasets, open_fold
from rankviz.runs import Design, Values
from rankviz.runs.selection import Choice
from rankviz.store import RunStore, Study
from rankviz.store.tables import records
from ui.compare.compare import EXAMPLE
from ui.compare.compare_controls import grouped, matching
from ui.compare.compare_words import (
    ALONE,
    FIRST,
    NO_STUDY,
    NOTHING_LEFT,
    OFFERED,
    TRAINING,
    UNREADABLE,
    best,
    headline,
)
from ui.controls.compared import WAITING, send
from ui.controls.widgets import ALL, METRICS
from ui.shell.visitors import COOKIE
from ui.work.run_store import keeper, run_store

METRIC = "NDCG@10"
LINEAR = "linear, C = 2⁻¹⁰"
"""Label of the linear model, whose C is not that of the others."""


@cache
def made() -> tuple[RunRecord, ...]:
    """Linear, Nyström with two seeds, and Fourier features."""
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    nystroem = RunSpec("synthetic-demo", "Fold1", fold.digest, n_components=10, C=2.0**-4, gamma=2.0**-2)
    fourier = nystroem.but(feature_map="fourier")
    specs = [nystroem.linear(2.0**-10), nystroem, nystroem.but(seed=1), fourier]
    return tuple(record for spec in specs for _, record in execute_all([spec], fold=fold))


def digests(found: Sequence[RunRecord] = ()) -> str:
    return ",".join(record.spec.hash for record in found or made())


@pytest.fixture
def store() -> RunStore:
    """The store of pages, with runs that somebody made and lets all see."""
    run_store().records.keep(made(), "somebody")
    run_store().marks.share("somebody", [record.spec.hash for record in made()])
    return run_store()


def heading(app: AppTest) -> str:
    return str(app.header[0].value)


def of_library(part: str, baseline: str = LINEAR, *metrics: str) -> str:
    found = compare(contestants(made(), part), metrics or [METRIC], baseline)
    return headline(found, METRIC)


def test_without_models_the_page_says_how_to_bring_some(open_page: Opener) -> None:
    app = open_page("compare")
    assert heading(app) == "No models yet."
    assert "Current model: Nyström m = 200, on synthetic-demo" in [one.value for one in app.markdown]
    assert {button.label for button in app.button} >= {"Add models", "Train"}
    (example,) = figures(app)
    drawn = [trace["x"][0] for trace in example["data"] if trace.get("mode") == "markers"]
    linear, *others = (
        execute(RunSpec("synthetic-demo", feature_map=name, **own)).metrics["vali"]["NDCG@10"].mean()
        for name, own in EXAMPLE.items()
    )
    assert drawn == pytest.approx([mean - linear for mean in others])
    assert open_page("runs").header[0].value == "No runs yet."  # the example's runs are not stored
    app.session_state["folds"] = ["Fold1", "Fold3"]  # the same name, as Sweep leaves it
    app.run()
    assert not app.exception
    assert app.session_state["folds"] == ALL


def test_the_models_trained_last_are_compared_by_one_press(open_page: Opener) -> None:
    app = open_page("train", m=10, c=-4)
    app.select_slider(key="m").set_value(25).run()
    app.switch_page("pages/compare.py").run()
    button = app.button(key="send-latest")
    assert button.label == "Compare the 2 models pinned or trained last"
    assert button.help == "Nyström, m = 10; Nyström, m = 25."
    button.click().run()
    assert "2 models (2 runs)" in words(app)


@pytest.mark.usefixtures("store")
def test_columns_of_spread_are_there_where_runs_have_one(open_page: Opener) -> None:
    def columns(found: Sequence[RunRecord]) -> set[str]:
        app = open_page("compare", runs=digests(found))
        return set(next(one.value for one in app.dataframe if "mean" in one.value))

    assert "seed_sd" in columns(made())
    assert not {"seed_sd", "fold_sd"} & columns(made()[:2])


@pytest.mark.usefixtures("store")
def test_the_answer_is_the_library_s_and_another_link_takes_its_place(open_page: Opener) -> None:
    app = open_page("compare", runs=digests())
    assert heading(app) == of_library("vali")
    assert "synthetic-demo · fold 1 · 3 models (4 runs) · validation" in words(app)
    assert "adjusted for the choice" in words(app)
    assert "reveal the test part once" in words(app)
    rows = [trace["y"][0] for trace in figures(app)[0]["data"] if trace.get("mode") == "markers"]
    assert len(rows) == 2  # a model each, seeds together
    app.query_params["runs"] = digests(made()[:2])
    app.run()
    assert app.session_state["runs"] == [record.spec.hash for record in made()[:2]]
    app.switch_page("pages/home.py").run()
    app.query_params.clear()
    app.switch_page("pages/compare.py").run()
    assert "2 models (2 runs)" in words(app)


@pytest.mark.usefixtures("store")
def test_the_test_part_is_shown_when_asked(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(), test=True)
    assert heading(app) == of_library("test")
    assert "test results shown: 4 runs" in words(app)
    assert "reveal the test part" not in words(app)


@pytest.mark.usefixtures("store")
def test_any_run_of_a_model_names_the_baseline(open_page: Opener) -> None:
    second_seed = made()[2].spec.hash
    app = open_page("compare", runs=digests(), baseline=second_seed, further="MAP")
    assert heading(app) == of_library("vali", "Nyström, m = 10", METRIC, "MAP")
    assert "over 4 comparisons" in words(app)


@pytest.mark.usefixtures("store")
def test_what_makes_no_sense_as_a_baseline_is_left_alone(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(made()[1:]), baseline=made()[0].spec.hash)
    assert "is not available" in " ".join(one.value for one in app.warning)


@pytest.mark.usefixtures("store")
def test_one_model_alone_is_shown_with_its_interval(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(made()[1:3]))
    assert heading(app) == ALONE.format(label="Nyström, m = 10")
    (trace,) = (one for one in figures(app)[0]["data"] if one.get("mode") == "markers")
    (model,) = contestants(made()[1:3], "vali")
    assert trace["x"][0] == pytest.approx(model.by_query(METRIC).mean())


def test_runs_of_others_are_left_out_unless_they_are_shared(open_page: Opener, store: RunStore) -> None:
    store.marks.share("somebody", [made()[3].spec.hash], False)
    app = open_page("compare", runs=f"{digests()},{'0' * 16}")
    assert "2 runs left out: private or deleted" in words(app)
    assert "2 models (3 runs)" in words(app)


@pytest.mark.parametrize("name", ["run", "runs"])
def test_a_link_to_lost_runs_says_so_and_offers_ways_on(open_page: Opener, name: str) -> None:
    app = open_page("compare", **{name: "12e4567890123456"})  # an id that looks like an infinite number
    assert app.warning[0].value == "1 run left out: private or deleted."
    assert heading(app) == NOTHING_LEFT
    assert {button.label for button in app.button} >= {"Add models", "Train", "Runs"}
    assert "ignores" not in words(app)
    assert app.query_params["runs"] == "12e4567890123456"
    assert "run" not in app.query_params


def test_a_record_that_cannot_be_read_is_a_sentence(open_page: Opener, store: RunStore) -> None:
    with store.database.writing() as connection:
        connection.execute(update(records).where(records.c.run == 1).values(content=b"nonsense"))
    app = open_page("compare", runs=digests())
    assert UNREADABLE.split(":")[0][1:] in app.error[0].value


def test_runs_on_changed_data_are_not_compared(open_page: Opener, store: RunStore) -> None:
    other = RunRecord.from_bytes(made()[3].to_bytes())
    object.__setattr__(other, "spec", other.spec.but(digest="f" * 16))
    store.records.keep([other], "somebody")
    store.marks.share("somebody", [other.spec.hash])
    app = open_page("compare", runs=digests([made()[0], other]))
    assert "its files have changed" in app.error[0].value


def test_models_are_compared_on_the_folds_that_all_have(open_page: Opener, store: RunStore) -> None:
    other = open_fold(find_datasets()["synthetic-demo"], "Fold2")
    spec = made()[1].spec.but(fold="Fold2", digest=other.digest)
    found = [record for _, record in execute_all([spec], fold=other)]
    store.records.keep(found, "somebody")
    store.marks.share("somebody", [spec.hash])
    app = open_page("compare", runs=digests([*made(), *found]))
    assert "Some models lack fold 2; compared on fold 1." in words(app)
    assert heading(app) == of_library("vali")
    app = open_page("compare", runs=digests([made()[0], *found]))
    assert "has no run on Fold" in app.error[0].value


def test_what_cannot_be_compared_can_be_let_go(open_page: Opener) -> None:
    app = open_page("compare", studies="0" * 32)
    assert app.warning[0].value == NO_STUDY
    assert heading(app) == NOTHING_LEFT
    assert {button.label for button in app.button} >= {"Add models", "Train", "Runs"}
    app.button(key="remove-all").click().run()
    assert heading(app) == "No models yet."
    assert "studies" not in app.query_params


@pytest.mark.usefixtures("store")
def test_tests_of_all_models_and_the_way_to_why(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(), view="Win and loss")
    found = compare(contestants(made(), "vali"), [METRIC], LINEAR)
    tests, queries = (frame.value for frame in app.dataframe[:2])
    pd.testing.assert_frame_equal(tests, found.deltas)
    assert queries["difference"].abs().is_monotonic_decreasing
    asked = int(queries["query"].iloc[0])
    app.button(key="why-baseline").click().run()
    app.switch_page("pages/why.py").run()  # AppTest stays where it is when a script switches
    assert app.title[0].value == "Why"
    assert app.session_state["query"] == asked
    assert app.session_state["map"] == "linear"


@pytest.mark.usefixtures("store")
def test_tabs_have_their_figures_slices_every_query_and_settings_what_differs(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(), slices="difficulty", further="MAP")

    def look(view: str, column: str = "") -> pd.DataFrame:
        app.session_state["view"] = view
        return next((one.value for one in app.run().dataframe if column in one.value), None)

    sizes = look("Slices", "slice").groupby("label")["queries"].sum()
    assert set(sizes) == {len(made()[0].metrics["vali"])}
    for view in ("Metrics", "Time and quality"):
        look(view)
        assert len(figures(app)) == 2, view
        assert not app.error
    table = look("Settings", "seeds")
    assert {"model", "C", "Feature map", "folds", "seeds", "training"} <= set(table)
    assert "Loss" not in table
    assert table["seeds"].tolist() == [1, 2, 1]


@pytest.mark.usefixtures("store")
def test_queries_of_one_s_own_are_named_by_their_ids(open_page: Opener) -> None:
    first, second = made()[0].metrics["vali"].index[:2]
    link = {"runs": digests(), "view": "Slices", "slices": "own selection of queries"}
    app = open_page("compare", **link, ids=f"{first}, {second}")
    table = app.dataframe[0].value
    assert table[table["slice"] == "chosen queries"]["queries"].unique() == [2]
    app = open_page("compare", **link, ids="<b>1</b>")
    assert "is not among the" in app.error[0].value
    assert "<b>" not in app.error[0].value


@pytest.mark.usefixtures("store")
def test_the_table_is_there_to_copy(open_page: Opener) -> None:
    app = open_page("compare", runs=digests(), view="Table")
    found = compare(contestants(made(), "vali"), [METRIC], LINEAR)
    assert as_latex(table_of_tests(found, "vali")).strip() in [code.value for code in app.code]
    app.toggle(key="tests").set_value(False).run()
    assert as_latex(printed_table(found, "vali")).strip() in [code.value for code in app.code]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("metric", "curve"), [("P@5", "P"), ("MAP", "NDCG")])
def test_the_curve_by_rank_is_of_the_chosen_metric_if_that_has_a_cut_off(
    metric: str, curve: str, open_page: Opener
) -> None:
    app = open_page("compare", runs=digests(), view="By rank", metric=metric)
    drawn = next(trace for trace in figures(app)[1]["data"] if trace.get("name") == LINEAR)
    expected = [made()[0].metrics["vali"][f"{curve}@{k}"].mean() for k in range(1, 11)]
    assert decoded(drawn["y"]) == pytest.approx(expected)


def test_the_present_model_is_sent_with_the_seeds_that_there_are(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    # AppTest has no sidebar, so another button sends as the sidebar's does
    monkeypatch.setattr("ui.compare.compare_controls.send_with_linear", lambda *_: send())
    app = open_page("train", m=10)
    keeper().wait()
    store, owner = run_store(), blake2b(app.session_state[COOKIE].encode(), digest_size=16).hexdigest()
    own = store.listing.seen_among(list(store.listing.seen_by(owner).index), owner)
    (present,) = (spec for spec, _ in own.values() if spec.feature_map == "nystroem")
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    others = [present.but(seed=5), present.but(n_components=12)]
    for spec in others:
        store.records.keep([record for _, record in execute_all([spec], fold=fold)], owner)
    app.switch_page("pages/compare.py").run()
    app.button(key="send-two").click().run()
    assert set(app.session_state["runs"]) == {present.hash, others[0].hash}
    assert app.query_params["runs"] == ",".join(app.session_state["runs"])
    assert "1 model (2 runs)" in words(app)
    assert heading(app) == ALONE.format(label="Nyström, m = 10")


def with_linear(open_page: Opener) -> AppTest:
    """A page that was asked to compare with the linear model, on all folds and with two seeds."""
    app = open_page("compare", m=10, seed=3)
    assert "Current model: Nyström m = 10" in words(app)
    app.number_input(key="seeds").set_value(2).run()
    app.button(key="send-two").click().run()
    assert not app.error
    return app


def test_a_model_is_compared_with_the_linear_one_over_all_folds_and_seeds(open_page: Opener) -> None:
    app = with_linear(open_page)
    assert "synthetic-demo · 3 folds · 2 models (9 runs) · validation" in words(app)
    keeper().wait()
    owner = blake2b(app.session_state[COOKIE].encode(), digest_size=16).hexdigest()
    seen = run_store().listing.seen_among(app.session_state["runs"], owner)
    specs = [spec for spec, _ in seen.values()]
    nystroem = [spec for spec in specs if spec.feature_map == "nystroem"]
    assert sorted((spec.fold, spec.seed) for spec in nystroem) == [
        (f"Fold{k}", seed) for k in (1, 2, 3) for seed in (3, 4)
    ]
    assert sorted(spec.fold for spec in specs if spec.feature_map == "linear") == ["Fold1", "Fold2", "Fold3"]
    found = contestants(run_store().records.find(specs).values(), "vali")
    assert heading(app) == headline(compare(found, [METRIC], LINEAR), METRIC)


@pytest.mark.usefixtures("sleepers")
def test_runs_too_long_to_wait_for_are_offered_and_compared_once_made(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", 0.0)
    app = with_linear(open_page)
    (offer,) = (one for one in app.button if "in the background" in one.label)
    assert "these 9 runs" in words(app)
    assert "left out" not in words(app)
    assert not app.header
    offer.click().run()
    wanted = waited_for_by(app)
    for fold in ("Fold1", "Fold2", "Fold3"):
        here = [spec for spec in wanted if spec.fold == fold]
        opened = open_fold(find_datasets()["synthetic-demo"], fold)
        run_store().records.keep([record for _, record in execute_all(here, fold=opened)], "somebody")
    app.run()
    assert "3 folds · 2 models (9 runs)" in words(app)
    assert not waited_for_by(app)
    assert app.number_input(key="seeds").value == 2


def waited_for_by(app: AppTest) -> list[RunSpec]:
    """The sent runs that a page still misses."""
    found: list[RunSpec] = app.session_state[WAITING]
    return found


def test_a_study_brings_the_cell_that_validation_chooses(open_page: Opener, store: RunStore) -> None:
    base = made()[1].spec
    design = Design(base, (Values("C", (base.C, 4.0)),))
    specs = [spec.but(digest=base.digest) for spec in design.specs()]
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    asked = Study("somebody", "*the* grid", design=design.to_dict(), shared=True)
    study = store.studies.submit(asked, specs)
    others = [record for _, record in execute_all(specs, fold=fold)]
    store.records.keep(others, "somebody")
    best = max(others, key=lambda record: record.metrics["vali"][METRIC].mean())
    app = open_page("compare", runs=made()[0].spec.hash, studies=study)
    assert "the best of 2 cells by validation" in words(app)
    assert "*the* grid" not in words(app)
    found = compare(contestants([made()[0], best], "vali"), [METRIC], LINEAR)
    assert heading(app) == headline(found, METRIC)
    store.studies.rename(study, "somebody", "another title")
    assert "another title" in words(open_page("compare", runs=made()[0].spec.hash, studies=study))
    store.studies.delete(study, "somebody")
    app = open_page("compare", runs=made()[0].spec.hash, studies=study)
    assert NO_STUDY in words(app)
    assert heading(app) == ALONE.format(label="Linear")
    store.studies.restore(study, "somebody")
    store.studies.share(study, "somebody", False)
    app = open_page("compare", runs=made()[0].spec.hash, studies=study)
    assert NO_STUDY in words(app)


def test_a_study_brings_what_it_keeps_to_choose_by(open_page: Opener, store: RunStore) -> None:
    """Its own metric and rule go before the metric of the page."""
    base = made()[1].spec
    design = Design(base, (Values("C", (1e-6, base.C, 4.0, 64.0)),))
    specs = [spec.but(digest=base.digest) for spec in design.specs()]
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    others = [record for _, record in execute_all(specs, fold=fold)]
    store.records.keep(others, "somebody")
    best = {
        metric: max(others, key=lambda record: record.metrics["vali"][metric].mean()).spec.C
        for metric in others[0].metrics["vali"]
    }
    metric = next(one for one in ("MAP", *best) if one in METRICS and best[one] != best[METRIC])
    kept = Study("somebody", "grid", design=Choice(metric).beside(design), shared=True)
    study = store.studies.submit(kept, specs)
    app = open_page("compare", runs=made()[0].spec.hash, studies=study)
    told = words(app).replace("\u2060", "")
    assert f"the best of 4 cells by validation {metric} over 1 fold" in told
    chosen = next(record for record in others if best[metric] == record.spec.C)
    assert heading(app) == headline(
        compare(contestants([made()[0], chosen], "vali"), [METRIC], LINEAR), METRIC
    )


def both(models: pd.DataFrame) -> list[str]:
    digests: list[str] = models.loc[models["runs"] == 2, "digests"].iloc[0]
    return digests


def test_models_are_picked_in_rows(store: RunStore) -> None:
    models = grouped(store.listing.seen_by("somebody"))
    assert models["runs"].tolist() == [1, 2, 1]
    told = models.loc[models["runs"] == 2, f"{METRIC}, validation"].iloc[0]
    by_seed = [record.metrics["vali"][METRIC].mean() for record in made() if record.spec.hash in both(models)]
    assert told == pytest.approx(sum(by_seed) / len(by_seed), abs=1e-4)
    picked = [digest for own in models["digests"] for digest in own]
    assert sorted(picked) == sorted(record.spec.hash for record in made())
    assert models[matching(models, "nyström 10")]["runs"].tolist() == [2]
    assert not matching(models, "nyström absent").any()


def test_the_first_of_models_that_differ_by_rounding_is_the_best() -> None:
    table = pd.DataFrame({"label": ["base", "a", "b"], "metric": METRIC, "mean": [0.9, 0.3, 0.1 + 0.2]})
    found = SimpleNamespace(standings=table, baseline="base")
    assert best(found, METRIC) == "a"  # type: ignore[arg-type]


@pytest.mark.usefixtures("sleepers")
def test_a_model_is_not_called_the_only_one_while_another_trains(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ui.work.jobs._short", lambda costs: [c.spec for c in costs if c.spec.feature_map == "linear"]
    )
    app = with_linear(open_page)
    assert heading(app) == FIRST.format(label="Linear", state=OFFERED)
    app.button(key=next(one.key for one in app.button if "background" in one.label)).click().run()
    assert heading(app) == FIRST.format(label="Linear", state=TRAINING)


def test_what_was_sent_can_be_let_go_before_it_is_made(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", 0.0)
    app = with_linear(open_page)
    app.button(key="remove-all").click().run()
    assert heading(app) == "No models yet."
