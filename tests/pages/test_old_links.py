"""Links of the version before settings had objects: the address has labels, and every one still opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest_pages import words
from sidebar_script import sidebar_alone
from streamlit.testing.v1 import AppTest

from ui.shared.old_labels import FORMER

Opener = Callable[..., AppTest]

# every option of every menu of the sidebar then, and what it stands for
SIDEBAR = [
    ("map", "linear", "linear"),
    ("map", "Nyström", "nystroem"),
    ("map", "random Fourier", "fourier"),
    ("map", "exact kernel (RBF)", "exact"),
    ("loss", "squared hinge", "squared_hinge"),
    ("loss", "Huber", "huber"),
    ("loss", "hinge", "hinge"),
    ("loss", "logistic", "logistic"),
    ("loss", "piecewise-quadratic logistic", "logistic_pwq"),
    ("loss", "smooth hinge", "smooth_hinge"),
    ("costs", "every pair costs 1", "none"),
    ("costs", "Μ by query", "query"),
    ("costs", "Λ by grades", "grade"),
    ("costs", "Λ by grades × μ by query", "grade_query"),
    ("costs", "Slack rescaling by DCG", "slack"),
    ("costs", "Margin rescaling by DCG", "margin"),
    ("costs", "λ as below", "table"),
    ("costs", "λ as below × μ by query", "table_query"),
    ("solver", "truncated Newton", "newton"),
    ("solver", "Newton-YUAN", "newton_yuan"),
    ("solver", "SGD by query", "sgd_query"),
    ("solver", "SGD by pair", "sgd_pair"),
    ("solver", "SGD by query, steps 1/t as printed", "sgd_query_printed"),
    ("solver", "SGD by pair, steps 1/t as printed", "sgd_pair_printed"),
    ("solver", "L-BFGS (SciPy)", "lbfgs"),
    ("norm", "None", "none"),
    ("norm", "Query-level min-max", "query_minmax"),
    ("norm", "Query-level z-score", "query_zscore"),
    ("norm", "Global z-score", "global_zscore"),
    ("landmarks", "uniform", "uniform"),
    ("landmarks", "k-means++", "kmeans++"),
    ("freq", "Gaussian", "gaussian"),
    ("freq", "orthogonal", "orthogonal"),
    *(("m", str(m), m) for m in (5, 10, 25, 50, 100, 200, 500, 1000, 2000)),
    *(("tol", text, float(text)) for text in ("1e-03", "1e-04", "1e-05", "1e-06", "1e-07", "1e-08")),
    *(("fold", name, name) for name in ("Fold1", "Fold2", "Fold3")),
    *(
        (key, str(value), value)
        for key, value in (("c", -15), ("c", 10), ("g", -12), ("g", 4), ("clin", -13))
    ),
    *((key, str(value), value) for key, value in (("seed", 2**31 - 1), ("rank", 2000), ("lam", "1, 2, 3"))),
]

QUICK = {"m": 5, "map": "linear", "c": -12, "loss": "hinge", "factors": 1, "upto": 10, "exact": "false"}
METRICS = [*(f"NDCG@{k}" for k in range(1, 11)), "MeanNDCG", "MAP", *(f"P@{k}" for k in range(1, 11))]
NUMBERS = ["5", "10", "25", "50", "100", "200", "500", "1000", "2000"]

# every option of the pages' own menus then, as far as data do not decide what they are
PAGES: list[tuple[str, dict[str, str], dict[str, list[str]]]] = [
    (
        "influence",
        {},
        {
            "view": ["Influence of C", "Influence of λ and μ"],
            "metric": ["NDCG@10", "NDCG@1", "NDCG@3", "NDCG@5", "MeanNDCG", "MAP", "P@10"],
            "model": ["linear", "current model"],
            "scope": ["all folds", "this fold"],
        },
    ),
    ("influence", {"view": "Influence of λ and μ"}, {"vary": ["λ₁₀", "λ₂₀", "λ₂₁"]}),
    (
        "low_rank",
        {},
        {
            "counted": ["% of the documents", "% of the largest rank", "number"],
            "matrix": ["block", "symmetrised"],
            "zero": ["10⁻²", "10⁻⁴", "10⁻⁶", "10⁻⁹"],
            "tool": ["a click", "a box"],
            "order": ["grade, then score", "score"],
            "beside": ["cut to rank k", "what that leaves out"],
            "t": ["50 %", "85 %", "90 %", "99 %", "99.5 %", "99.9 %"],
            "k": ["1", "2", "10", "12", "15", "100"],
        },
    ),
    (
        "low_rank",
        {"view": "Three models"},
        {
            "clow": ["the sidebar's C", "2⁻¹⁵", "2⁰", "2¹⁰"],
            "regmatrix": ["A, thresholded", "α"],
            "shown": ["rank", "k for t of the energy"],
            "rankagainst": ["largest possible rank", "documents", "pairs"],
            "nuclear": ["0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100"],
            "coupling": ["0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000", "3000", "10000"],
        },
    ),
    (
        "low_rank",
        {"map": "linear"},
        {
            "view": [
                "One query",
                "Energy",
                "Why so low?",
                "Three models",
                "Learning curves",
                "Sensitivity",
                "Numbers",
            ]
        },
    ),
    ("low_rank", {"view": "Learning curves"}, {"learnaxis": ["iterations", "seconds"]}),
    (
        "low_rank",
        {"view": "Sensitivity"},
        {
            "sweepmetric": ["MAP", "NDCG@1", "NDCG@3", "NDCG@5", "objective"],
            "sweep": ["factorised: K", "regularised: nuclear, coupling"],
        },
    ),
    (
        "convergence",
        {"loss": "squared hinge"},
        {
            "show": [
                "Objective above the best",
                "Gradient norm",
                "Newton decrement",
                "Duality gap",
                "Cg iterations",
                "Active pairs",
            ],
            "against": ["iterations", "products with the features", "seconds", "CG iterations"],
            "losses": ["Huber", "hinge", "logistic", "piecewise-quadratic logistic", "smooth hinge"],
            "solvers": [
                label for key, label, _ in SIDEBAR if key == "solver" and label != "truncated Newton"
            ],
            "cs": ["2^-15", "2^0", "2^10"],
        },
    ),
    (
        "kernel_approximation",
        {},
        {
            "view": ["κ against κ̃", "Residuals of one query", "Spectrum", "Error against seconds", "Numbers"],
            "errnorm": ["Frobenius", "spectral", "maximum-entry"],
            "errupto": NUMBERS[3:],
            "also": ["k-means++ landmarks", "orthogonal frequencies"],
        },
    ),
    (
        "side_by_side",
        {},
        {
            "left": ["Nyström", "random Fourier", "linear", "exact kernel"],
            "right": ["Nyström", "random Fourier", "linear", "exact kernel"],
            "metric": METRICS,
            "tool": ["a click", "a box", "a lasso"],
            "first": ["10", "20"],
            "scores": ["centred", "standardised"],
        },
    ),
    (
        "ndcg_vs_m",
        {"map": "Nyström"},
        {
            "metric": METRICS,
            "xaxis": ["features m", "seconds"],
            "folds": ["this fold", "all folds"],
            "documents": ["first 10", "all"],
            "upto": NUMBERS[1:],
        },
    ),
    ("train", {}, {"curve": ["NDCG@k", "P@k"]}),
    ("data", {}, {"part": ["training", "validation"]}),
]


@pytest.mark.parametrize(("key", "label", "value"), SIDEBAR)
def test_what_the_sidebar_was_set_to(key: str, label: str, value: object) -> None:
    app = sidebar_alone(**{key: label})
    assert app.session_state[key] == value
    assert not (*app.warning, *app.error)
    app.run()
    assert app.session_state[key] == value, "it stays"


def test_what_was_called_something_else_is_in_the_address_by_its_name_of_today() -> None:
    app = sidebar_alone(map="exact kernel (RBF)", freq="Gaussian", costs="nonsense")
    assert "Costs of pairs = nonsense" in app.warning[0].value
    assert "Feature map" not in app.warning[0].value
    assert "map=exact+kernel&" in app.code[0].value
    app.selectbox(key="map").set_value("linear").run()
    assert app.session_state["spec"].feature_map == "linear"


@pytest.mark.parametrize(("page", "link", "menus"), PAGES)
def test_what_pages_were_set_to(
    page: str,
    link: dict[str, str],
    menus: dict[str, list[str]],
    open_page: Opener,
    data_set: Callable[[str], None],
) -> None:
    data_set("small")
    offered = options(open_page(page, **({"data": "edge"} | QUICK | link)))
    for key, labels in menus.items():
        lost = [label for label in labels if label not in offered[key] and (key, label) not in FORMER]
        assert not lost, key


def options(app: AppTest) -> dict[str, list[str]]:
    """The options of menus and the labels of tabs, by the keys that they have in the address."""
    found: dict[str, list[str]] = {}
    for kind in ("selectbox", "multiselect", "select_slider", "segmented_control", "pills"):
        for element in app.get(kind):
            told = [str(getattr(option, "content", option)) for option in element.proto.options]
            found[element.key or element.proto.query_param_key] = told
    tabs: list[Any] = list(app.tabs)
    return found | {"view": [tab.label for tab in tabs]}


def test_a_page_opens_by_a_former_label(open_page: Opener) -> None:
    app = open_page("train", map="exact kernel (RBF)")
    assert app.session_state["map"] == "exact"
    assert "exact kernel" in words(app)
