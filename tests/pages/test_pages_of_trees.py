"""Every page with trees: it shows them, or says what they lack."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest_pages import figures, shown, words
from streamlit.testing.v1 import AppTest
from test_every_page import READING
from test_home_train import lines

pytestmark = pytest.mark.usefixtures("every_tab")

Opener = Callable[..., AppTest]
LABEL, LINK = "LambdaMART", {"method": "LambdaMART", "rounds": "12", "patience": "5"}


@pytest.mark.parametrize("page", READING)
def test_every_page_shows_it_or_says_why_not(
    page: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    app = open_page(page, m=10, data="edge", **LINK)
    said = words(app)
    assert shown(app) or app.info or app.warning
    assert not app.error, [error.value for error in app.error]
    assert "nan" not in re.findall(r"[\w]+", said.lower())
    wrong = rf"[Tt]his is the linear model|{LABEL}[^.·(]*(K =|m =|γ =|C =)|{LABEL} RankSVM"
    assert not [line for line in said.splitlines() if LABEL in line and re.search(wrong, line)]


def test_train_and_convergence_draw_rounds_and_importance(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    link = {"data": "edge", **LINK}
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
    method: str, objective: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    app = open_page("convergence", data="edge", method=method, rounds="12", passes="3")
    measured, lowered = figures(app)
    assert lowered["layout"]["yaxis"]["title"]["text"] == objective
    line, kept = lines(lowered).values()
    assert len(line) == len(next(iter(lines(measured).values())))
    assert kept[0] in line
    assert (kept[0] > line[0]) is (method == "coordinate ascent")
