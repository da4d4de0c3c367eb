"""Pages of rankers with trees, without a fixed objective, and with several starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import Opener, figures, words
from test_home_train import lines

pytestmark = pytest.mark.usefixtures("every_tab")


@pytest.mark.parametrize("method", ["LambdaRank", "LambdaLoss"])
def test_convergence_says_that_no_objective_is_fixed(
    method: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    app = open_page("convergence", data="edge", m=10, method=method, reweight=10)
    assert len(figures(app)) == 1
    assert "No fixed objective: the weights of pairs follow the ranking" in words(app)


def test_convergence_names_the_ends_of_all_starts(open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("small")
    app = open_page("convergence", data="edge", m=10, method="ApproxNDCG", restarts=3)
    assert not app.error
    assert "3 starts end at the objectives" in words(app)
    assert "(kept)" in words(app)


def test_train_and_convergence_draw_rounds_and_importance(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
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
