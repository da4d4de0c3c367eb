"""The sidebar is made from the settings: their order, what is greyed out, and state there and back."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import strangers
from conftest_pages import APP, opened
from sidebar_script import controls, sidebar_alone
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.common.settings import Choice, Positive, Powers, Setting, Steps, Typed, Whole
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.losses import LOSS, LOSSES
from rankviz.learning.pairs import RULES
from rankviz.learning.solvers import SOLVER, SOLVERS
from rankviz.models.methods import METHODS, Method
from ui.controls.link import VERSION, query_params
from ui.controls.navigation import OF_COSTS
from ui.controls.setting_controls import control_of, value_from, widget_values
from ui.controls.settings import BASELINE_C, all_settings, preset, spec_from_state, state_of
from ui.controls.widgets import Bound
from ui.study.low_rank_models import HERE

TABLE = ((0.0, 1.0, 2.0), (1.0, 0.0, 1.3), (2.0, 1.3, 0.0))
SPEC = RunSpec("synthetic-demo", n_components=50, C=2.0**-4, gamma=2.0**-2)
SPECS = [
    SPEC,
    SPEC.linear(2.0**10),
    SPEC.exact(),
    SPEC.but(rank=3, landmarks="kmeans++", tol=1e-8, normalisation="query_zscore"),
    SPEC.but(feature_map="fourier", frequencies="orthogonal", seed=2**31 - 1),
    SPEC.but(loss="logistic_pwq", costs=("query", TABLE), solver="sgd_pair"),
    *(SPEC.but(costs=costs) for costs in (*RULES, TABLE)),
    SPEC.but(kernel="polynomial", degree=2, coef0=0.5),
    SPEC.factorized(10, 0.5, "query_steps"),
    SPEC.regularized(0.1, 100.0, 2.0),
    SPEC.linear(0.5).factorized(5, 0.25),
]
IN_VIEW = ["Data set", "Fold", "Method", "Feature map", "Number of features (m)", "C", "γ", "Kernel", "Loss"]
BELOW = [
    "Costs of pairs",
    "λ₁₀, λ₂₀, λ₂₁, …",
    "Solver",
    "Normalisation",
    "Seed",
    "C of the linear baseline",
    "Tolerance",
    "Rank of the Nyström map (0: all)",
    "Landmarks of the Nyström map",
    "Frequencies of random Fourier",
]


def labels(app: Any, where: str) -> list[str]:
    return [widget.label for widget in controls(app)[where]]


def greyed_out(app: Any) -> set[str]:
    found = controls(app)
    return {widget.key for widget in (*found["in view"], *found["below"]) if widget.disabled}


def test_the_controls_stand_in_their_order_and_help_texts_tell_what_the_options_are() -> None:
    app = sidebar_alone()
    assert labels(app, "in view") == IN_VIEW
    assert labels(app, "below") == BELOW
    for key, registry in (("loss", LOSSES), ("method", METHODS)):
        assert all(
            f"{option.label}: " in app.selectbox(key=key).help
            for option in registry.values()
            if getattr(option, "trains", True)
        )
    assert "Query-level z-score: " in app.selectbox(key="norm").help


@pytest.mark.parametrize(
    ("link", "disabled"),
    [
        ({}, {"lam", "freq"}),
        ({"map": "linear"}, {"m", "kernel", "g", "lam", "seed", "clin", "rank", "landmarks", "freq"}),
        ({"map": "random Fourier"}, {"lam", "rank", "landmarks"}),
        ({"map": "exact kernel"}, {"m", "lam", "seed", "rank", "landmarks", "freq"}),
        ({"costs": "λ as below"}, {"freq"}),
        (
            {"map": "linear", "solver": "SGD by query"},
            {"m", "kernel", "g", "lam", "clin", "rank", "landmarks", "freq"},
        ),
        ({"method": "factorised RankSVM"}, {"loss", "costs", "lam", "solver", "tol", "rank", "freq"}),
        (
            {"method": "factorised RankSVM", "map": "linear"},
            {"m", "kernel", "g", "loss", "costs", "lam", "solver", "tol", "rank", "landmarks", "freq"},
        ),
        ({"kernel": "polynomial"}, {"lam", "freq"}),
        ({"kernel": "linear"}, {"g", "lam", "freq"}),
    ],
)
def test_what_the_model_does_not_read_is_greyed_out(link: dict[str, str], disabled: set[str]) -> None:
    app = sidebar_alone(**link)
    assert greyed_out(app) == disabled
    for widget in (*controls(app)["in view"], *controls(app)["below"]):
        told = "Not used by" in (widget.help or "")
        assert told == (widget.key in disabled - {"lam"})


def test_the_fold_is_greyed_out_where_all_folds_are_pooled() -> None:
    pooled = sidebar_alone("influence").selectbox(key="fold")
    assert pooled.disabled
    assert "Choose “this fold” above the figure" in pooled.help
    assert not sidebar_alone("influence", scope="this fold").selectbox(key="fold").disabled
    assert not sidebar_alone("influence", view=OF_COSTS).selectbox(key="fold").disabled, "its list is of one"
    assert not sidebar_alone("ndcg_vs_m", folds="all folds").selectbox(key="fold").disabled


def test_a_fold_is_called_by_its_number_and_keeps_its_name_in_links() -> None:
    app = sidebar_alone(fold="Fold2")
    shown = app.selectbox(key="fold-named")
    assert (shown.options, shown.value) == (["Fold 1", "Fold 2", "Fold 3"], "Fold2")
    shown.select("Fold 3").run()
    assert app.session_state["spec"].fold == linked(app)["fold"] == "Fold3"
    app.session_state["fold"] = "Fold1"  # as a link of Train does
    assert app.run().selectbox(key="fold-named").value == app.session_state["spec"].fold == "Fold1"
    assert sidebar_alone("influence").selectbox(key="fold-named").disabled


@pytest.mark.parametrize("link", [{}, {"map": "linear"}])
def test_what_cannot_change_the_linear_weights_is_greyed_out(link: dict[str, str]) -> None:
    app = sidebar_alone("weights", **link)
    for key in ("map", "method"):
        assert app.selectbox(key=key).disabled
        assert "this page has a linear model" in app.selectbox(key=key).help


def test_a_kernel_s_own_settings_stand_behind_it_where_it_is_chosen() -> None:
    app = sidebar_alone(kernel="polynomial", deg=2, map="linear")
    assert labels(app, "in view")[5:9] == ["C", "γ", "Kernel", "Degree of the polynomial"]
    assert app.session_state["deg"] == 2
    app.selectbox(key="map").set_value("nystroem").run()
    assert app.session_state["spec"].degree == 2


def test_a_method_s_own_settings_stand_behind_it_where_it_is_chosen() -> None:
    app = sidebar_alone()
    app.selectbox(key="method").set_value("regularized").run()
    assert labels(app, "in view")[2:8] == [
        "Method",
        "Nuclear norm",
        "Coupling",
        "Solver",
        "Tolerance",
        "Feature map",
    ]
    assert app.session_state["spec"].method == "regularized"
    assert app.session_state["baseline"] == sidebar_alone().session_state["baseline"]
    app.selectbox(key="method").set_value("ranksvm").run()
    assert labels(app, "in view") == IN_VIEW


def test_a_named_map_and_changes_make_it_another_spec() -> None:
    state = state_of(SPEC.factorized(10, 0.5)) | state_of(SPEC) | {"method": "factorized"}
    assert spec_from_state(state).method == "factorized"
    assert spec_from_state(state, "exact") == SPEC.exact()
    assert spec_from_state(state, "nystroem", n_components=7) == SPEC.but(n_components=7)
    with pytest.raises(SettingError, match="'gamma' is not a setting"):
        spec_from_state(state, "linear", gamma=1.0)
    with pytest.raises(SettingError, match="needs a loss with"):
        spec_from_state(state_of(SPEC) | {"loss": "hinge", "solver": "lbfgs"})


def test_the_baseline_has_a_c_of_its_own_unless_it_is_what_is_set() -> None:
    assert sidebar_alone(clin=-3).session_state["baseline"] == SPEC.linear(2.0**-3)
    linear = sidebar_alone(map="linear", clin=-3)
    assert linear.session_state["baseline"] == linear.session_state["spec"] == SPEC.linear(2.0**-4)
    other = sidebar_alone(map="linear", method="factorised RankSVM", clin=-3)
    assert other.session_state["baseline"] == SPEC.linear(2.0**-3)


@pytest.mark.parametrize("name", [setting.name for setting in all_settings()])
def test_what_a_setting_starts_from_is_offered(name: str) -> None:
    for setting in (one for one in all_settings() if one.name == name):
        for value in (setting.first, setting.default):
            assert value_from(setting, widget_values(setting, value)) == value
        for value in setting.options:
            assert value_from(setting, widget_values(setting, value)) == value


@pytest.mark.parametrize(
    "spec",
    [
        SPEC.but(C=3.0),
        SPEC.but(C=2.0**40, gamma="scale"),
        SPEC.but(tol=1e-10),
        SPEC.but(n_components=7),
        SPEC.but(rank=2001),
        SPEC.but(seed=2**40),
    ],
)
def test_what_the_sidebar_does_not_offer_is_refused_and_not_rounded(spec: RunSpec) -> None:
    with pytest.raises(SettingError, match="is not available in “"):
        state_of(spec)


def test_a_setting_of_no_known_kind_has_no_control() -> None:
    setting = Setting("odd", "odd", "Odd", Positive(), 1.0, "Of no kind.", key="odd")
    with pytest.raises(TypeError, match="no control for the setting 'odd'"):
        value_from(setting, {"odd": 2.0})
    with pytest.raises(TypeError, match="no control for the setting 'odd'"):
        widget_values(setting, 2.0)


def test_costs_that_are_no_numbers_leave_the_sidebar_to_mend_them() -> None:
    app = sidebar_alone(costs="λ as below", lam="1, x")
    assert "one number" in app.error[0].value
    assert labels(app, "below") == BELOW
    app.text_input(key="lam").set_value("1, 2, 1.3").run()
    assert app.session_state["spec"].costs == TABLE


def test_presets_set_the_model_and_leave_the_data() -> None:
    app = sidebar_alone(fold="Fold2", m=10, map="linear", loss="hinge", norm="Global z-score", lcoupling=1)
    button = next(one for one in app.button if "Table 4" in one.label)
    button.click().run()
    assert app.session_state["spec"] == RunSpec("synthetic-demo", "Fold2", C=2.0**-7, gamma=2.0**-6)
    assert app.session_state["baseline"] == app.session_state["spec"].linear(2.0**-13)
    next(one for one in app.button if one.label == "Start values of this data set").click().run()
    assert app.session_state["spec"] == SPEC.but(fold="Fold2", n_components=200)
    assert preset("Start values of this data set", {})["clin"] == -10


def linked(app: AppTest) -> dict[str, str]:
    text = opened(app, "share-and-presets").code[0].value
    return dict(part.split("=") for part in text.removeprefix("?").split("&"))


def test_the_link_spells_every_setting_out_and_opens_the_same() -> None:
    app = sidebar_alone(map="exact kernel", c=-2, method="factorised RankSVM", lfactors=20)
    link = linked(app)
    assert {link[key] for key in ("lfactors", "c", "v")} == {"20", "-2", VERSION}
    assert set(link) >= {widget.key for widget in (*controls(app)["in view"], *controls(app)["below"])}
    app = sidebar_alone()
    shown = (*controls(app)["in view"], *controls(app)["below"])
    assert set(linked(app)) >= {widget.key for widget in shown}


@pytest.mark.parametrize("spec", SPECS)
def test_a_link_opens_its_spec(spec: RunSpec) -> None:
    app = sidebar_alone(**query_params(state_of(spec)))
    assert app.session_state["spec"] == spec
    assert not (*app.warning, *app.error)


OF_METHODS = {
    "fsolver": {"method": "factorized"},
    "rsolver": {"method": "regularized"},
    "layer": {"method": "hidden_layer"},
    "measure": {"method": "coordinate_ascent"},
    "svmmap": {"solver": "cutting_planes"},
}
"""What else a link needs for the settings of some methods, and for some options."""


@pytest.mark.parametrize("setting", [one for one in all_settings() if one.options], ids=lambda one: one.key)
def test_a_link_opens_with_every_option(setting: Setting) -> None:
    for raw in setting.options:
        more = OF_METHODS.get(setting.key, {}) | OF_METHODS.get(raw, {})
        app = sidebar_alone(**query_params(more | widget_values(setting, raw)))
        assert app.session_state[setting.key] == raw
        assert not (*app.warning, *app.error)
        app.run()
        assert app.session_state[setting.key] == raw, "it stays"


def test_a_loss_brings_a_solver_that_trains_it_and_takes_it_back() -> None:
    app = sidebar_alone()
    usual, said = app.session_state["solver"], "as truncated Newton cannot train SVM-MAP"
    app.selectbox(key="loss").set_value("svmmap").run()
    assert not app.exception
    assert app.session_state["solver"] == app.session_state["spec"].solver == "cutting_planes"
    assert said in "".join(one.value for one in app.caption)
    app.selectbox(key="loss").set_value("listnet").run()
    assert app.session_state["solver"] == usual
    assert said not in "".join(one.value for one in app.caption)
    app.selectbox(key="solver").set_value("lbfgs").run()
    app.selectbox(key="loss").set_value("hinge").run()
    assert app.session_state["solver"] == usual
    app.selectbox(key="solver").set_value("cutting_planes").run()
    app.selectbox(key="loss").set_value("huber").run()
    assert app.session_state["solver"] == "cutting_planes", "the visitor's own choice stays"


def test_a_link_with_the_loss_alone_brings_its_solver() -> None:
    app = sidebar_alone(loss=LOSS.options["svmmap"].label)
    assert app.session_state["spec"].solver == "cutting_planes"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"map": "exact kernel (RBF)"}, "Feature map = exact kernel (RBF) is not available; using Nyström."),
        ({"freq": "Gaussian"}, "Gaussian"),
        ({"costs": "Μ by query"}, "Costs of pairs = Μ by query"),
        ({"method": "regularised RankSVM", "lnuclear": "1e-03"}, "Nuclear norm = 1e-03"),
    ],
)
def test_a_label_of_an_earlier_version_is_not_offered_and_said_so(link: dict[str, str], words: str) -> None:
    assert words in "".join(one.value for one in sidebar_alone(**link).warning)


def test_what_a_link_asks_for_in_vain_is_said() -> None:
    app = sidebar_alone(map="nonsense", c=99, method="none such", m=7)
    assert app.warning[0].value == (
        "Feature map = nonsense is not available; using Nyström. C = 2⁹⁹ is not available; using 2⁻⁴. "
        "Method = none such is not available; using RankSVM. m = 7 is not available; using 200."
    )
    assert app.session_state["spec"] == SPEC.but(n_components=200)


@dataclass(frozen=True)
class Bringer:
    """A choice that brings settings along."""

    label: str
    settings: tuple[Setting, ...]


WIDTH = Setting("width", "width", "Width", Whole(), 3, "Of the stranger.", key="width", offer=Typed(1, 9))
DEPTH = Setting("depth", "depth", "Depth", Positive(), 0.25, "", key="depth", offer=Powers(-4, 0))
SHAPES = {"flat": Bringer("flat", ()), "deep": Bringer("deep", (DEPTH,))}
SHAPE = Setting("shape", "shape", "Shape", Choice(SHAPES), "flat", "", key="shape")
TEMPER = Setting("temper", "temper", "Temper", Positive(), 0.5, "", key="temper", offer=Steps((0.5, 1.5)))


def test_settings_of_a_new_map_appear_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = replace(FEATURE_MAPS["linear"], label="squares", settings=(WIDTH, SHAPE))
    monkeypatch.setitem(FEATURE_MAPS, "stranger", kind)
    assert labels(sidebar_alone(), "in view") == [*IN_VIEW[:8], "Width", "Shape", *IN_VIEW[8:]]
    assert greyed_out(sidebar_alone()) == {"lam", "freq", "width", "shape"}
    app = sidebar_alone(map="squares", width=5, shape="deep", depth=-3)
    assert labels(app, "in view") == [*IN_VIEW[:8], "Width", "Shape", "Depth", *IN_VIEW[8:]]
    spec = app.session_state["spec"]
    assert (spec.width, spec.shape, spec.depth) == (5, "deep", 2.0**-3)
    assert spec_from_state(state_of(spec)) == spec


def test_settings_of_a_new_solver_or_method_appear_where_it_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SOLVERS, "stranger", replace(SOLVERS["newton"], label="odd", settings=(TEMPER,)))
    monkeypatch.setitem(METHODS, "stranger", replace(strangers.RANKER, settings=(WIDTH,)))
    assert labels(sidebar_alone(), "below") == BELOW
    app = sidebar_alone(solver="odd", temper=1.5)
    assert labels(app, "below") == [*BELOW[:3], "Temper", *BELOW[3:]]
    assert app.session_state["spec"].temper == 1.5
    app = sidebar_alone(method="feature mean", width=4)
    assert labels(app, "in view") == [*IN_VIEW[:3], "Width", *IN_VIEW[3:]]
    assert app.session_state["spec"] == RunSpec("synthetic-demo", method="stranger", width=4)
    shared = {widget.key for widget in (*controls(app)["in view"], *controls(app)["below"])}
    assert greyed_out(app) == shared - {"data", "fold", "method", "width", "norm", "clin"}


def test_keys_are_of_one_setting_each_and_no_page_has_them() -> None:
    keys = [key for setting in all_settings() for key in control_of(setting).keys]
    assert len(keys) == len(set(keys))
    assert set(keys).isdisjoint(keys_of_pages())


def keys_of_pages() -> set[str]:
    """The keys that the pages' own widgets have, as they stand in the code."""
    found: set[str] = set()
    for path in (APP.parent / "ui").rglob("*.py"):
        if path.parent.name not in ("shared", "controls") or path.stem in ("widgets", "selection", "models"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in vars(Bound) and node.args:
                    found |= {str(one) for one in constants(node.args[0])}
                if isinstance(node, ast.keyword) and node.arg == "key":
                    found |= {str(one) for one in constants(node.value)}
                if isinstance(node, ast.Assign) and "KEY" in ast.unparse(node.targets[0]):
                    found |= {str(one) for one in constants(node.value)}
    found |= {setting.key for setting in HERE.values()}
    assert {"query", "factors", "plainmodel", "test", "picked", "upto", "mu"} <= found
    return found


def constants(node: ast.expr) -> list[Any]:
    values = node.elts if isinstance(node, ast.Tuple) else [node]
    return [one.value for one in values if isinstance(one, ast.Constant)]


def test_registries_are_asked_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Callable[[], Any] = sidebar_alone
    before = opened().selectbox(key="method").options
    monkeypatch.setitem(METHODS, "stranger", Method("odd one", strangers.FeatureMean, ()))
    assert opened().selectbox(key="method").options == [*before, "odd one"]
    assert FEATURE_MAP in all_settings()
    assert SOLVER in all_settings()
    assert BASELINE_C in all_settings()
