"""Costs of pairs: he2009's λ and μ, chapelle2010's DCG differences, and tables that a user gives."""

import numpy as np
import pytest
from naive_ranking import GRADES, offsets, random_grades, slow_pairs

from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import (
    PLAIN,
    RULES,
    AllPairs,
    check_costs,
    count_pairs,
    dcg_differences,
    frozen_costs,
    grade_codes,
    pair_costs,
)
from rankviz.learning.risk import PairRisk

THREE = np.array([0, 1, 2, 1, 0, 0, 2, 0]), offsets([4, 2, 2])


def test_grades_of_he2009() -> None:
    """λ of (1, 0), (2, 1), (2, 0) are 1, 1.3 and 2 (§4.2)."""
    weight = pair_costs("grade", *THREE).weight[0]
    assert [weight[1, 0], weight[2, 1], weight[2, 0]] == [1.0, 1.3, 2.0]


def test_more_grades_follow_the_same_rule() -> None:
    y = np.arange(5)
    weight = pair_costs("grade", y, offsets([5])).weight[0]
    for high in range(1, 5):
        for low in range(high):
            assert weight[high, low] == pytest.approx(high - low + 0.3 * low)
            if low:
                assert weight[high, low - 1] > weight[high, low]
                assert weight[high, low] > weight[high - 1, low - 1]


def test_queries_of_he2009() -> None:
    """μ_q = ln(1 + max pairs/pairs(q)); queries without pairs are skipped."""
    y, ptr = THREE
    assert count_pairs(y, ptr).tolist() == [5, 0, 1]
    np.testing.assert_allclose(pair_costs("query", y, ptr).weight[:, 0, 0], [np.log(2), 0, np.log(6)])
    both = pair_costs("grade_query", y, ptr).weight
    assert both[2, 2, 0] == pytest.approx(2 * np.log(6))


def test_dcg_differences_by_plain_loops() -> None:
    """Every placing of equal grades among their places is equally likely: δ is the mean over documents."""
    y, ptr = random_grades(3, 4, (1, 9))
    levels = np.unique(y)
    delta = dcg_differences(grade_codes(y, ptr))
    for q in range(len(ptr) - 1):
        ideal = np.sort(y[ptr[q] : ptr[q + 1]])[::-1]
        discount = 1 / np.log2(np.arange(2, len(ideal) + 2))
        for r, high in enumerate(levels):
            for s, low in enumerate(levels):
                if high in ideal and low in ideal:
                    apart = abs(discount[ideal == high].mean() - discount[ideal == low].mean())
                    assert delta[q, r, s] == pytest.approx(abs(2.0**high - 2.0**low) * apart, abs=1e-12)
                else:
                    assert delta[q, r, s] == 0


def test_every_pair_has_a_positive_dcg_difference() -> None:
    y, ptr = random_grades(7, 5, (1, 30))
    risk = PairRisk(y, ptr, LOSSES["squared_hinge"], pair_costs("slack", y, ptr))
    assert (risk._weight > 0).all()


def test_both_rescalings_bound_the_cost_of_a_wrong_order() -> None:
    """chapelle2010 eq. 9: each is at least δ for every pair in the wrong order."""
    y, ptr = random_grades(11, 4, (4, 15))
    f = np.random.default_rng(0).normal(size=len(y))
    slack = PairRisk(y, ptr, LOSSES["squared_hinge"], pair_costs("slack", y, ptr))
    margin = PairRisk(y, ptr, LOSSES["squared_hinge"], pair_costs("margin", y, ptr))
    wrong = slack.pairs.margins(f) < 0
    bound = float(slack._weight[wrong].sum())
    assert min(slack.at(f).value, margin.at(f).value) > bound > 0
    t, b = margin.pairs.margins(f), margin._margin
    np.testing.assert_allclose(b, np.sqrt(slack._weight))
    assert margin.at(f).value == pytest.approx((np.maximum(0, b - t) ** 2).sum())
    assert slack.at(f).value == pytest.approx((slack._weight * np.maximum(0, 1 - t) ** 2).sum())


def test_a_table_is_indexed_by_grade() -> None:
    y, ptr = np.array([0, 2, 4, 2]), offsets([4])
    table = np.arange(25.0).reshape(5, 5)
    weight = pair_costs(frozen_costs(table), y, ptr).weight[0]
    assert weight.tolist() == [[0, 2, 4], [10, 12, 14], [20, 22, 24]]
    assert PairRisk(y, ptr, LOSSES["squared_hinge"], pair_costs(frozen_costs(table), y, ptr)).at(
        np.zeros(4)
    ).value == pytest.approx(10 + 10 + 20 + 22 + 22)


def test_a_table_and_weights_of_queries_together() -> None:
    y, ptr = THREE
    table = frozen_costs([[0, 0, 0], [1, 0, 0], [3, 2, 0]])
    mu = pair_costs("query", y, ptr).weight
    np.testing.assert_allclose(
        pair_costs(("query", table), y, ptr).weight, mu * pair_costs(table, y, ptr).weight
    )


@pytest.mark.parametrize("costs", [None, *RULES])
@pytest.mark.parametrize("name", GRADES)
def test_the_laplacian_of_all_pairs(name: str, costs: str | None) -> None:
    y, ptr = GRADES[name]
    y = np.minimum(y, 12)
    found = pair_costs(costs, y, ptr)
    risk, every = PairRisk(y, ptr, LOSSES["squared_hinge"], found), AllPairs(y, ptr, found)
    weight = np.ones(risk.n_pairs) if risk._weight is None else risk._weight
    L0 = np.zeros((len(y), len(y)))
    for w, i, j in zip(weight, risk.pairs.winner, risk.pairs.loser, strict=True):
        L0[np.ix_([i, j], [i, j])] += w * np.array([[1, -1], [-1, 1]])
    B = np.random.default_rng(0).normal(size=(len(y), 3))
    np.testing.assert_allclose(every.gram(B), B.T @ L0 @ B, atol=1e-11 * (1 + weight.sum()))
    assert every.weight == pytest.approx(weight.sum())
    assert risk.n_pairs == len(slow_pairs(y, ptr))


@pytest.mark.parametrize("costs", [None, *RULES, ((0, 0), (1, 0)), ("query", ((0, 0), (1, 0)))])
def test_no_document(costs: object) -> None:
    assert pair_costs(costs, np.zeros(0, np.int64), np.zeros(1, np.int64)) is PLAIN


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ("cheap", "choose one of None, 'query'"),
        (3, "shape"),
        ((1.0, 2.0), "a row and a column for every grade"),
        (((0.0, 1.0), (1.0,)), "not a table of numbers"),
        (((0.0, -1.0), (1.0, 0.0)), "entries that are negative"),
        (((0.0, float("nan")), (1.0, 0.0)), "not finite"),
        (("query", "grade"), "not a table of numbers"),
        (object(), "not a table of numbers"),
    ],
)
def test_what_is_no_choice_of_costs_is_refused(costs: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_costs(costs)


def test_a_table_too_small_and_grades_too_large_are_named() -> None:
    y, ptr = np.array([0, 3]), offsets([2])
    with pytest.raises(ValueError, match="grades up to 3; give 4 rows"):
        pair_costs(((0.0, 0.0), (1.0, 0.0)), y, ptr)
    with pytest.raises(ValueError, match="fewer, smaller grades"):
        pair_costs("slack", np.array([0, 2000]), ptr)


def test_costs_as_values() -> None:
    table = frozen_costs(np.eye(2))
    assert table == ((1.0, 0.0), (0.0, 1.0)) == frozen_costs([[1, 0], [0, 1]])
    assert frozen_costs(["query", [[1, 0], [0, 1]]]) == ("query", table)
    assert frozen_costs("slack") == "slack"
    assert frozen_costs(None) is None
    assert hash(table)
