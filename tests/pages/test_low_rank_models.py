"""Low rank: the tabs on the plain, the factorised and the regularised model."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from test_home_train import lines

from rankviz import RunSpec, execute
from rankviz.analysis.model_duals import run_duals, thresholded_blocks
from rankviz.analysis.spectra import Spectra, spectra_of
from rankviz.datasets import find_datasets, open_fold
from rankviz.plots import dual_ranks
from rankviz.plots.low_rank_models import MODELS
from rankviz.runs.record import RunRecord
from ui.study import low_rank_sweeps
from ui.study.low_rank_models import SIDEBAR
from ui.study.low_rank_models_words import MATRIX_WORDS, MORE_FACTORS, of_the_paper, spread
from ui.study.low_rank_models_words import objectives as objectives_in_words
from ui.study.low_rank_words import APPEARS
from ui.work.metrics import METRICS
from ui.work.runs import RunMemory

SPEC = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-6)
TABS = ("Three models", "Learning curves", "Sensitivity")
LINK = {"map": "linear", "c": -6, "factors": 2, "nuclear": "0.01", "coupling": "1"}


@pytest.fixture(autouse=True)
def few(made_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(low_rank_sweeps, "FACTORS", (1, 2))
    monkeypatch.setattr(low_rank_sweeps, "NUCLEAR", (0.01, 100.0))
    monkeypatch.setattr(low_rank_sweeps, "COUPLING", (0.1, 1.0))


def found() -> Iterator[Spectra]:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    plain = SPEC.but(loss="hinge")
    for spec in (plain, SPEC.factorized(2, SPEC.C), SPEC.regularized(0.01, 1.0, SPEC.C)):
        record = execute(spec, fold=fold)
        blocks = thresholded_blocks if spec.method == "regularized" else run_duals
        yield spectra_of(blocks(record, fold.train))


def test_ranks_are_what_the_library_computes_and_another_k_is_trained(open_page: Opener) -> None:
    app = open_page("low_rank", view="Three models", **LINK)
    expected = dual_ranks.models_data(dict(zip(MODELS, found(), strict=True)), 0.9, 1e-6)
    drawn = lines(figures(app)[2])
    for name in ("plain", "factorised", "regularised"):
        assert drawn[name] == expected[f"rank_{name}"].clip(lower=dual_ranks.ZERO_AT).tolist()
    median = int(expected["rank_factorised"].quantile(0.5, "lower"))
    assert f"factorised {median}, regularised" in words(app)
    assert "All models here train the hinge with C = 2⁻⁶" in words(app)
    assert "all with the hinge" in words(app)
    costs = next(frame.value for frame in app.dataframe if "settings" in frame.value)
    assert costs.loc["factorised", "objective"] == pytest.approx(-costs.loc["factorised", "dual"], rel=1e-6)
    assert costs["gap"].notna().all()
    app.multiselect(key="costmetrics").set_value(["MeanRank"]).run()
    (table,) = (one.value for one in app.dataframe if "MeanRank" in one.value)
    assert (table["MeanRank"] > 1).all(), "a metric that runs lack"
    assert "By MeanRank, " in words(app)
    app.number_input(key="factors").set_value(1).run()
    assert not app.exception
    assert "VVᵀ has rank 1 " in words(app)
    assert app.selectbox(key="clow").value == SIDEBAR


def test_the_plain_model_may_be_the_sidebars(open_page: Opener) -> None:
    app = open_page("low_rank", view="Three models", plainmodel="the current model", **LINK)
    assert "Plain is the current model, with the squared hinge" in words(app)
    assert re.search(r"queries: plain \d+ with the squared hinge; with the hinge factorised \d+", words(app))
    costs = next(frame.value for frame in app.dataframe if "settings" in frame.value)
    assert costs["gap"].isna().tolist() == [True, False, False]


def test_there_is_one_plain_model_where_the_sidebar_trains_the_hinge(open_page: Opener) -> None:
    app = open_page("low_rank", view="Three models", loss="hinge", **LINK)
    assert "all with the hinge" in words(app)
    assert "plainmodel" not in [control.key for control in app.segmented_control]


def test_the_controls_are_read_from_the_address(open_page: Opener) -> None:
    shown = "k for the share of the energy"
    app = open_page("low_rank", view="Three models", clow="2⁻⁸", regmatrix="α", shown=shown, **LINK)
    assert app.number_input(key="factors").value == 2
    assert app.select_slider(key="nuclear").value == 0.01
    assert app.selectbox(key="clow").value == -8
    text = words(app)
    assert "train the hinge with C = 2⁻⁸" in text
    assert MATRIX_WORDS["alpha"] in text
    assert "Median k of" in text


def test_a_selection_holds_for_the_three_models(open_page: Opener) -> None:
    chosen = next(found()).table["query"].iloc[[1, 4]].tolist()
    app = open_page("low_rank", view="Three models", picked=".".join(map(str, chosen)), **LINK)
    assert "Median numerical rank of 2 selected queries: " in words(app)
    faded = figures(app)[2]["data"][0]["marker"]["opacity"]
    assert faded.count(dual_ranks.STRONG) == 2


def test_thresholds_above_every_singular_value_are_explained(open_page: Opener) -> None:
    text = words(open_page("low_rank", view="Three models", **(LINK | {"nuclear": 100})))
    assert "Every A is 0: the threshold nuclear/(2·coupling) = 50 removes all" in text


def test_curves_of_both_models_by_both_solvers(open_page: Opener, small_set: None) -> None:
    app = open_page("low_rank", data="edge", view="Learning curves", learnaxis="iterations", **LINK)
    names = [trace["name"] for trace in figures(app)[2]["data"]]
    assert [name.split(",")[0] for name in names] == ["factorised"] * 2 + ["regularised"] * 2
    text = words(app)
    assert "Within 1 % of the best objective of its model" in text
    assert "The factorised problem is not convex" in text
    assert app.dataframe[0].value["label"].tolist() == names
    assert "compare seconds" in app.segmented_control(key="learnaxis").help


@pytest.mark.parametrize(
    ("iterations", "seconds", "said"),
    [
        ([3, 9], [1.0, 2.0], "the factorised model needs fewer iterations and less time."),
        ([9, 3], [1.0, 2.0], "the regularised model needs fewer iterations and the factorised model less "),
    ],
)
def test_a_model_that_leads_in_both_is_named_once(
    iterations: list[int], seconds: list[float], said: str
) -> None:
    ends = {"model": ["factorized", "regularized"], "iteration": iterations, "seconds": seconds}
    assert said in of_the_paper(pd.DataFrame(ends | {"label": ["a", "b"], "printed": True, "above": 0.0}))


def test_sweeps_say_what_the_queries_support(open_page: Opener) -> None:
    app = open_page("low_rank", view="Sensitivity", fseeds=2, **LINK)
    assert len(lines(figures(app)[2])["factorised, mean over seeds"]) == 2
    assert re.search(r"Mean MAP (lies between|is)", words(app))
    assert "K = " not in words(app), "K is the kernel matrix elsewhere"
    grid = open_page(
        "low_rank", view="Sensitivity", sweep=low_rank_sweeps.SWEEPS["weights"], sweepmetric="NDCG@3", **LINK
    )
    cells = figures(grid)[2]["data"][0]
    assert cells["text"][1][0].endswith("A = 0")
    assert "Mean NDCG@3" in words(grid)


@pytest.mark.parametrize("sweep", list(low_rank_sweeps.SWEEPS))
def test_sweeps_are_compared_with_the_plain_hinge(sweep: str, open_page: Opener) -> None:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    plain = execute(SPEC.but(loss="hinge", C=2.0**-8), fold=fold).metrics["vali"]["MAP"].mean()
    app = open_page(
        "low_rank", view="Sensitivity", sweep=low_rank_sweeps.SWEEPS[sweep], fseeds=1, clow="2⁻⁸", **LINK
    )
    text = words(app)
    assert "All models here train the hinge with C = 2⁻⁸. The current model, with the squared hinge" in text
    assert "the plain model with the hinge" in text
    assert re.search(r"(Dashed: plain,|Plain:) .* C = 2⁻⁸ · hinge · validation", text)
    if sweep == "factors":
        assert lines(figures(app)[2])["plain, with the hinge"] == pytest.approx([plain, plain])
    else:
        assert f"near the plain model with the hinge ({plain:.3f})" in text


def test_a_sweep_is_drawn_before_its_plain_model_is_there(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ui.study.low_rank_models.refusal", lambda spec: "too large" if spec.method == "ranksvm" else ""
    )
    for sweep in low_rank_sweeps.SWEEPS.values():
        app = open_page("low_rank", view="Sensitivity", sweep=sweep, fseeds=1, **LINK)
        assert len(figures(app)) == 3
        text = words(app).replace("near the plain model with the hinge", "")  # said of A = 0
        assert "the plain model with the hinge" not in text
        assert APPEARS.format(what="The rest") in words(app)


def test_the_objective_is_swept_over_k_alone(open_page: Opener) -> None:
    app = open_page("low_rank", view="Sensitivity", fseeds=2, sweepmetric="objective", **LINK)
    assert app.selectbox(key="sweepmetric").options == [*METRICS, "objective"]
    assert MORE_FACTORS in words(app)
    app.segmented_control(key="sweep").set_value("weights").run()
    assert not app.exception
    assert app.selectbox(key="sweepmetric").value == "MAP"


@pytest.mark.parametrize(
    ("objectives", "said"),
    [
        ([-10.0, -10.0], "lower it by less than 0.001 % here (−10)"),
        ([-10.0, -10.00009], "lower it by less than 0.001 % here (−10)"),
        ([-1000.0, -1200.5], "From 1 factor to 5 the objective falls by 16.7 %, from −1,000 to −1,200.5"),
        ([0.0, -1.0], "falls by 100 %, from 0 to −1"),
        ([0.0, 0.0], "by less than 0.001 % here (0)"),
    ],
)
def test_how_far_more_factors_lower_the_objective(objectives: list[float], said: str) -> None:
    table = pd.DataFrame({"seed": 0, "factors": [1, 5], "value": objectives})
    assert said in objectives_in_words(table)


def test_one_run_alone_is_not_all_that_is_there() -> None:
    one, other = pd.Series([0.5, 0.7], [1, 2]), pd.Series([0.7, 0.5], [1, 2])
    said = "Only the model with 1 factor so far: mean MAP 0.600"
    assert spread({"the model with 1 factor": one}, "MAP") == said
    assert spread({"a": one, "b": other}, "MAP") == "Mean MAP is 0.600 for each of 2 settings so far"


def test_one_k_alone_says_nothing_of_more_factors() -> None:
    assert objectives_in_words(pd.DataFrame({"seed": [0], "factors": [1], "value": [-1.0]})) == ""


def test_runs_that_are_not_there_are_offered(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_IN_ALL", 0.2)
    for view in TABS:
        app = open_page("low_rank", view=view, **LINK)
        if any(button.label == "Train in the background" for button in app.button):
            assert APPEARS.removeprefix("{what}") in words(app)


def test_an_exact_kernel_of_many_documents_has_no_steps_by_query(
    open_page: Opener, small_set: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.study.low_rank_models.in_kernel_space", lambda spec: True)
    app = open_page("low_rank", data="edge", view="Learning curves", **LINK)
    assert "need rows of features" in words(app)
    assert len(figures(app)[2]["data"]) == 3


def test_what_does_not_fit_into_memory_is_said_and_the_rest_stays(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ui.study.low_rank_models.refusal", lambda spec: "too large" if spec.method == "factorized" else ""
    )
    app = open_page("low_rank", view="Three models", **LINK)
    assert [warning.value for warning in app.warning] == ["too large"]
    assert app.number_input(key="factors").value == 2


@pytest.mark.parametrize("kind", ["tiny", "one grade", "all-zero features"])
def test_data_at_the_edges_have_their_sentence_or_their_figures(
    kind: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set(kind)
    app = open_page("low_rank", data="edge", map="linear")
    for view in TABS:
        app.session_state["view"] = view
        app.run()
        if kind == "one grade":
            assert "no preference pairs" in words(app)
        else:
            assert len(figures(app)) >= 3


def test_models_are_shown_where_the_sidebars_has_no_dual_variables(
    open_page: Opener, small_set: None
) -> None:
    app = open_page("low_rank", data="edge", costs="λ as below", lam="0, 0, 0", **LINK)
    for view in TABS:
        app.session_state["view"] = view
        app.run()
        assert "Every dual variable is 0" in words(app)
        assert "figures above" not in words(app)
        assert len(figures(app)) == 1


@pytest.mark.parametrize(
    "large",
    [
        {"solution": {"alpha": np.zeros(100)}},
        {"scores": {"train": np.zeros(90), "vali": np.zeros(10)}},
        {"weights": np.zeros(100)},
        {"metrics": {"vali": pd.DataFrame(np.zeros((50, 2)))}},
    ],
    ids=lambda large: next(iter(large)),
)
def test_only_the_latest_large_records_stay(any_record: RunRecord, large: dict[str, Any]) -> None:
    memory = RunMemory(1024, most_bytes=90 * 8 * 100)
    for seed in range(80):
        for _ in range(2):  # the second takes the first one's place
            memory.put(replace(any_record, spec=any_record.spec.but(seed=seed), **large))
    assert len(memory.all()) == 80
    memory = RunMemory(1024, most_bytes=10 * 8 * 100)
    for seed in range(80):
        memory.put(replace(any_record, spec=any_record.spec.but(seed=seed), **large))
    kept = [seed for seed in range(80) if memory.get(any_record.spec.but(seed=seed)) is not None]
    assert kept == list(range(80 - RunMemory.LATEST, 80))
    small = RunMemory(3)
    for seed in range(5):
        small.put(replace(any_record, spec=any_record.spec.but(seed=seed)))
    assert small.get(any_record.spec.but(seed=1)) is None
    assert small.get(any_record.spec.but(seed=2)) is not None


@pytest.fixture
def any_record() -> RunRecord:
    empty = pd.DataFrame()
    spec = SPEC.but(feature_map="nystroem")  # which has a seed, to tell specs apart
    return RunRecord(spec, "", 0.0, 1, 0, {}, {}, np.zeros(1), empty, {}, 0, {})


def test_sweeps_draw_a_metric_that_runs_lack(open_page: Opener) -> None:
    app = open_page("low_rank", view="Sensitivity", fseeds=1, sweepmetric="MeanRank", clow="2⁻⁸", **LINK)
    assert app.selectbox(key="sweepmetric").options[: len(METRICS)] == [*METRICS]
    assert "Mean MeanRank " in words(app)
    assert "By MeanRank" in words(app)
