"""Every page with a loss, a kernel, a feature map, a solver and rankers that exist nowhere in the project.

Each is entered where the project's own are, and chosen in the sidebar: a page then shows a figure, or a
sentence that says why not and what would; never a fault, nor anything that is not there.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import strangers
from conftest_pages import Opener, figures, sound, words
from test_every_page import FEW, READING

from rankviz.common.settings import Typed, Whole
from rankviz.features import FEATURE_MAPS, KERNELS
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import RULES
from rankviz.learning.solvers import SOLVERS, TOL
from rankviz.models.methods import METHODS

pytestmark = pytest.mark.usefixtures("every_tab")


STRANGERS: dict[str, tuple[dict[str, str], *tuple[tuple[dict[str, Any], Any], ...]]] = {
    "loss and kernel": (
        {"loss": "exponential", "kernel": "Cauchy"},
        (LOSSES, strangers.LOSS),
        (KERNELS, strangers.KERNEL),
    ),
    "rising loss and exact kernel": (
        {"loss": "squared ε-insensitive", "kernel": "Cauchy", "map": "exact kernel"},
        (LOSSES, strangers.RISING_LOSS),
        (KERNELS, strangers.KERNEL),
    ),
    "cost, solver and map": (
        {"costs": "Flat", "solver": "gradient descent", "map": "squares"},
        (RULES, strangers.COST),
        (SOLVERS, strangers.SOLVER),
        (FEATURE_MAPS, strangers.FEATURE_MAP),
    ),
    "ranker": ({"method": "feature mean"}, (METHODS, strangers.RANKER)),
    "linear ranker": ({"method": "linear ListNet"}, (METHODS, strangers.LISTNET)),
}
"""The link that chooses strangers by their labels; where each is entered, and what is entered."""

UNTRUE = {
    "loss and kernel": r"squared hinge\b|\bRBF\b",
    "rising loss and exact kernel": r"squared hinge\b|α > 0|\bRBF\b",
    "cost, solver and map": r"[Tt]his is the linear model|squares.*Nyström m = |\bm = 200\b.*squares",
    "ranker": r"[Tt]his is the linear model|feature mean[^.·(]*(K =|m =|γ =|C =|2⁻)|feature mean RankSVM",
    "linear ranker": r"[Tt]his is the linear model|linear ListNet[^.·(]*(K =|m =|γ =)|linear ListNet RankSVM",
}
"""What would be a wrong label in a text that speaks of the model by its name."""


@pytest.fixture
def stranger(
    monkeypatch: pytest.MonkeyPatch, data_set: Callable[[str], None]
) -> Callable[[str], dict[str, str]]:
    """Enter a stranger; returns the link that chooses it, on a small data set."""
    data_set("small")

    def enter(kind: str) -> dict[str, str]:
        link, *entries = STRANGERS[kind]
        for registry, entry in entries:
            monkeypatch.setitem(registry, "stranger", entry)
        return link | {"data": "edge"}

    return enter


@pytest.mark.parametrize("page", READING)
@pytest.mark.parametrize("kind", STRANGERS)
def test_every_page_shows_it_or_says_why_not(
    page: str, kind: str, open_page: Opener, stranger: Callable[[str], dict[str, str]]
) -> None:
    link = stranger(kind)
    app = open_page(page, m=10, **FEW.get(page, {}), **link)
    for key, chosen in STRANGERS[kind][0].items():
        assert app.session_state[key] == ("exact" if chosen == "exact kernel" else "stranger")
    said = sound(app)
    labels = [entry.label for _, entry in STRANGERS[kind][1:]]
    about_it = [text for text in said.splitlines() if any(label in text for label in labels)]
    assert not [text for text in about_it if re.search(UNTRUE.get(kind, r"(?!)"), text)]
    if kind == "ranker" and page not in {"data", "home", "weights"}:
        assert "feature mean" in (said + str(figures(app))).lower(), "it is called by its name"


def test_influence_says_why_another_model_is_shown(
    open_page: Opener, stranger: Callable[[str], dict[str, str]]
) -> None:
    link = stranger("linear ranker")
    said = words(open_page("influence", scope="this fold", **link))
    assert "The current model, linear ListNet, has no costs of pairs; choose “current model” above" in said
    assert "Shown: the linear RankSVM." in said
    own = {"model": "current model", "scope": "this fold"} | link
    assert "s of training, one fold together, each C by itself" in words(open_page("influence", **own))
    costs = words(open_page("influence", view="Influence of λ and μ", **own))
    assert "Linear ListNet has no costs of pairs. Choose the linear model above" in costs


@pytest.mark.parametrize(
    ("change", "models"),
    [
        ({}, "3 models"),
        ({"domain": Whole(), "default": 1, "offer": Typed(1, 8)}, "3 models"),
        ({"domain": Whole(most=3), "default": 2, "offer": Typed(1, 3)}, "1 model:"),
    ],
)
def test_a_sweep_of_a_ranker_without_c_begins_with_what_it_has(
    change: dict[str, Any], models: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    power = replace(strangers.POWER, **change)
    made = lambda power, tol: strangers.ScaledMean(power)  # noqa: E731
    method = replace(strangers.SCALED_MEAN, settings=(TOL, power), make=made)
    monkeypatch.setitem(METHODS, "stranger", method)
    app = open_page("sweep", method="scaled mean")
    assert not app.error
    assert app.multiselect(key="axes").value == ["p"]
    assert models in app.header[0].value
    assert figures(app)


def test_low_rank_says_that_dual_variables_of_a_rising_loss_are_negative(
    open_page: Opener, stranger: Callable[[str], dict[str, str]]
) -> None:
    app = open_page("low_rank", m=10, **stranger("rising loss and exact kernel"))
    (info,) = app.info
    assert "has no dual variables α ≥ 0 (its loss rises at some margins, where α is negative)" in info.value
    assert not figures(app)
    assert "Use squared hinge" in [button.label for button in app.button]
