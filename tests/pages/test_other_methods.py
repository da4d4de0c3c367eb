"""Pages on training and on dual variables, with methods that have less of it than RankSVM, or other kinds."""

import pytest
import strangers
from conftest_pages import Opener, figures, words
from streamlit.testing.v1 import AppTest
from test_home_train import lines

from rankviz import RunSpec, execute
from rankviz.analysis.model_duals import run_duals
from rankviz.analysis.spectra import spectra_of
from rankviz.datasets import find_datasets, open_fold
from rankviz.models.methods import METHODS
from rankviz.plots import dual_energy
from rankviz.plots.style import style_of

pytestmark = pytest.mark.usefixtures("every_tab", "made_at_once")

SPEC = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-8)
LOW_RANK = {"factorized": SPEC.factorized(2, SPEC.C), "regularized": SPEC.regularized(0.1, 10.0, SPEC.C)}
LINK = {"map": "linear", "c": -8, "lfactors": 2, "lnuclear": "0.1"}
each_method = pytest.mark.parametrize("method", LOW_RANK)


@pytest.fixture
def ranker(monkeypatch: pytest.MonkeyPatch) -> str:
    """Enter a ranker that has scores only; returns its label."""
    monkeypatch.setitem(METHODS, "mean", strangers.RANKER)
    return strangers.RANKER.label


def keys(app: AppTest) -> set[str]:
    controls = (*app.main.number_input, *app.main.select_slider, *app.main.segmented_control)
    return {control.key for control in controls}


def test_a_trace_of_another_kind_is_drawn_as_far_as_it_goes(open_page: Opener) -> None:
    app = open_page("convergence", method=METHODS["factorized"].label, **LINK)
    record = execute(LOW_RANK["factorized"])
    curve = figures(app)[0]["data"]
    assert [trace["line"]["color"] for trace in curve] == [style_of("factorized").colour]
    assert app.dataframe[0].value["steps"].tolist() == [record.trace["iteration"].iloc[-1]]
    assert "products" not in app.dataframe[0].value
    assert "Choose RankSVM as method, with truncated Newton or Newton-YUAN as solver" in words(app)
    labels = {multiselect.key for multiselect in app.multiselect}
    assert labels == {"solvers", "cs"}, "it reads no loss"
    app.selectbox(key="show").select("gradient").run()
    assert not app.exception
    assert figures(app) == []
    assert "has no gradient norm. It has: objective above the best; against iter" in words(app)
    app.selectbox(key="show").select("gap").run()
    app.selectbox(key="against").select("products").run()
    assert "has no products with the features" in words(app)


def test_its_other_solver_is_beside_it(open_page: Opener, small_set: None) -> None:
    app = open_page("convergence", data="edge", method=METHODS["factorized"].label, ltol="1e-06", **LINK)
    app.multiselect(key="solvers").set_value(["query_steps"]).run()
    assert not app.exception
    dashes = [trace["line"].get("dash") for trace in figures(app)[0]["data"]]
    assert len(dashes) == len(set(dashes)) == 2
    assert "Iterations until within 10⁻⁴ of its own best objective" in words(app)


@each_method
def test_dual_variables_of_a_model_that_solves_for_them(method: str, open_page: Opener) -> None:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    found = spectra_of(run_duals(execute(LOW_RANK[method], fold=fold), fold.train))
    app = open_page("low_rank", method=METHODS[method].label, **LINK)
    bars = dual_energy.histogram_data(
        dual_energy.dimensions_needed(found, found, 0.9, 1e-6), "rank", "documents"
    )
    drawn = figures(app)
    assert lines(drawn[3])["this model"] == bars["queries"].tolist()
    assert drawn[2]["data"][0]["marker"]["color"] == style_of(method).colour
    assert len(drawn) == 4


@each_method
def test_why_so_low_trains_the_plain_model_for_its_figures(method: str, open_page: Opener) -> None:
    link = {"view": "Why so low?", "method": METHODS[method].label} | LINK
    app = open_page("low_rank", **link)
    assert len(figures(app)) == 4
    assert "Trained for these figures with RankSVM and the squared hinge" in words(app)
    text = words(app := open_page("low_rank", why="Errors of a solver", **link))
    assert len(figures(app)) == 3
    assert f"The {METHODS[method].label} is solved for its α" in text
    assert "Diamonds" not in text
    assert "this solver, stopped early" not in lines(figures(app)[-1])


@each_method
def test_three_models_of_which_the_sidebar_has_one(method: str, open_page: Opener) -> None:
    app = open_page("low_rank", view="Three models", method=METHODS[method].label, **LINK)
    costs = next(frame.value for frame in app.dataframe if "settings" in frame.value)
    own = {
        "factorized": ("factorised", "2 factors"),
        "regularized": ("regularised", "nuclear 0.1, coupling 10"),
    }
    name, settings = own[method]
    assert costs.loc[name, "settings"] == f"C = 2⁻⁸, {settings}"
    assert costs.loc[name, "objective"] == execute(LOW_RANK[method]).objective
    assert costs["gap"].notna().all(), "all train the hinge"
    drawn = {"factorized": {"nuclear", "coupling"}, "regularized": {"factors"}}[method]
    assert keys(app) & {"factors", "nuclear", "coupling", "plainmodel"} == drawn
    assert f"The current model, {METHODS[method].label}, {settings}, C = 2⁻⁸, is above the tabs" in words(app)


@each_method
@pytest.mark.parametrize("view", ["Learning curves", "Sensitivity"])
def test_curves_and_sweeps_go_on_from_the_sidebars_model(
    method: str,
    view: str,
    open_page: Opener,
    small_set: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui.study.low_rank_sweeps.FACTORS", (1, 2))
    app = open_page("low_rank", data="edge", view=view, fseeds=1, method=METHODS[method].label, **LINK)
    assert len(figures(app)) == 3
    names = [trace.get("name", "") for trace in figures(app)[2]["data"]]
    wanted = ["factorised, mean over seeds", "plain, with the hinge"]
    if view == "Learning curves":
        wanted = [f"factorised, {way}" for way in ("L-BFGS-B", "paper's steps")]
        wanted += [f"regularised, {way}" for way in ("FISTA", "paper's steps")]
    assert set(wanted) <= set(names)


def test_a_factorised_model_has_a_C_to_vary_and_no_costs(open_page: Opener) -> None:
    link = LINK | {"method": METHODS["factorized"].label, "model": "current model", "scope": "this fold"}
    app = open_page("influence", view="Influence of λ and μ", **link)
    assert "Factorised RankSVM has no costs of pairs" in words(app)
    assert "in the sidebar: RankSVM." in words(app)
    assert figures(app) == []


@pytest.mark.parametrize("view", ["Influence of C", "Influence of λ and μ"])
def test_a_ranker_without_settings_has_nothing_to_vary(view: str, open_page: Opener, ranker: str) -> None:
    app = open_page("influence", view=view, method=ranker, model="current model", scope="this fold")
    assert figures(app) == []
    lacking = "C to vary" if view == "Influence of C" else "costs of pairs"
    assert f"has no {lacking}. Choose the linear model above" in words(app)
    linear = open_page("influence", view=view, method=ranker, scope="this fold")
    assert f"The current model, {ranker}, has no C to vary and no costs of pairs" in words(linear)
    assert figures(linear)


def test_a_ranker_with_scores_only_has_no_trace_and_no_duals(open_page: Opener, ranker: str) -> None:
    for page, said in (("convergence", "no trace of its iterations"), ("low_rank", "no dual variables")):
        app = open_page(page, method=ranker)
        assert said in words(app)
        assert figures(app) == []
        assert {f"Use {METHODS[name].label}" for name in LOW_RANK} <= {one.label for one in app.main.button}


def test_train_lists_the_thresholds_of_grades(open_page: Opener) -> None:
    app = open_page("train", map="linear", loss="ordinal thresholds", c=-4)
    record = execute(RunSpec("synthetic-demo", feature_map="linear", C=2.0**-4, loss="ordinal"))
    table = next(frame.value for frame in app.dataframe if "threshold" in frame.value)
    assert table.to_numpy().tolist() == record.solution["thresholds"].tolist()
    assert "Thresholds of grades" in words(app)


@pytest.mark.parametrize("method", ["LambdaRank", "LambdaLoss"])
def test_convergence_says_that_no_objective_is_fixed(method: str, open_page: Opener, small_set: None) -> None:
    app = open_page("convergence", data="edge", m=10, method=method, reweight=10)
    assert len(figures(app)) == 1
    assert "No fixed objective: the weights of pairs follow the ranking" in words(app)


def test_convergence_names_the_ends_of_all_starts(open_page: Opener, small_set: None) -> None:
    app = open_page("convergence", data="edge", m=10, method="ApproxNDCG", restarts=3)
    assert not app.error
    assert "3 starts end at the objectives" in words(app)
    assert "(kept)" in words(app)


def test_train_and_convergence_draw_rounds_and_importance(open_page: Opener, small_set: None) -> None:
    link = {"data": "edge", "method": "LambdaMART", "rounds": "12", "patience": "5"}
    said = words(open_page("train", **link))
    assert "of what the splits gain" in said
    assert "Second bar: the feature's share of Σ|w|" in said
    assert "NDCG@10 on the validation part was highest there" in said
    app = open_page("convergence", **link)
    assert len(figures(app)) == 1
    assert "steps of a solver, gaps and preconditioners do not apply" in words(app)
    assert "LambdaMART minimises no fixed function" in words(app)


@pytest.mark.parametrize(
    ("method", "objective"),
    [
        ("MART", "mean of (y − f)²"),
        ("RankBoost", "mean of exp(f_j − f_i) over pairs"),
        ("FRank", "fidelity loss 1 − √P, mean over queries"),
        ("AdaRank-NDCG", "mean of exp(−NDCG@10) over queries"),
        ("AdaRank-MAP", "mean of exp(−AP) over queries"),
        ("coordinate ascent", "raised measure (NDCG@10 or MAP), training"),
    ],
)
def test_convergence_draws_what_rounds_minimise(
    method: str, objective: str, open_page: Opener, small_set: None
) -> None:
    app = open_page("convergence", data="edge", method=method, rounds="12", passes="3")
    measured, lowered = figures(app)
    assert lowered["layout"]["yaxis"]["title"]["text"] == objective
    line, kept = lines(lowered).values()
    assert len(line) == len(next(iter(lines(measured).values())))
    assert kept[0] in line
    assert (kept[0] > line[0]) is (method == "coordinate ascent")
