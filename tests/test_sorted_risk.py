"""The sorted form of the risk against the listed one and against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import GRADES, offsets, random_grades, slow_pairs

from rankviz.learning import sorted_risk as layout_module
from rankviz.learning import sorted_risk as module
from rankviz.learning import sorted_risk as sorted_module
from rankviz.learning.losses import LOSSES, PiecewiseQuadratic, SmoothedHinge, SmoothHinge, eta_for
from rankviz.learning.pairs import PLAIN, RULES, pair_costs
from rankviz.learning.risk import PairRisk, adapted_risk, limit_of
from rankviz.learning.sorted_risk import SortedRisk, risk_of

SORTABLE = {name: loss for name, loss in LOSSES.items() if isinstance(loss, PiecewiseQuadratic)}
SORTABLE |= {"smoothed hinge": SmoothedHinge(0.25)}
COSTS = (None, *RULES)

each_case = pytest.mark.parametrize("name", GRADES)
each_loss = pytest.mark.parametrize("loss", SORTABLE.values(), ids=SORTABLE)
each_cost = pytest.mark.parametrize("costs", COSTS, ids=map(str, COSTS))


def grades(name: str) -> tuple[np.ndarray, np.ndarray]:
    y, ptr = GRADES[name]
    return np.minimum(y, 9), ptr  # costs by DCG have gains 2^y


def dyadic(n: int, seed: int = 0) -> np.ndarray:
    """Scores whose differences are exact, many of them at a kink."""
    return np.random.default_rng(seed).integers(-8, 9, n) / 4.0


def both(y: np.ndarray, ptr: np.ndarray, loss: PiecewiseQuadratic, costs: str | None = None):
    found = pair_costs(costs, y, ptr)
    return PairRisk(y, ptr, loss, found), SortedRisk(y, ptr, loss, found)


def hessian(point, n: int) -> np.ndarray:
    return np.array([point.hessian_product(e) for e in np.eye(n)]).reshape(n, n)


def listed(pairs, n: int) -> np.ndarray:
    """Active pairs as a matrix of their curvatures; each must be there once."""
    assert len(set(zip(pairs.winner.tolist(), pairs.loser.tolist(), strict=True))) == len(pairs.winner)
    out = np.zeros((n, n))
    out[pairs.winner, pairs.loser] = pairs.curvature
    return out


def assert_agree(one, other, n: int, exact: bool = False) -> None:
    scale = 1 + abs(one.value)
    assert other.value == pytest.approx(one.value, abs=1e-12 * scale)
    assert other.total_slope == pytest.approx(one.total_slope, abs=1e-12 * scale)
    assert other.total_curvature == pytest.approx(one.total_curvature, rel=1e-12)
    assert other.n_active == one.n_active
    np.testing.assert_allclose(other.gradient, one.gradient, atol=1e-12 * scale)
    H = hessian(one, n)
    np.testing.assert_allclose(hessian(other, n), H, atol=0 if exact else 1e-12 * scale)
    np.testing.assert_allclose(other.gram(np.eye(n)), H, atol=1e-12 * scale)
    rng = np.random.default_rng(0)
    everything = listed(one.sample_active(rng, 10**6), n), listed(other.sample_active(rng, 10**6), n)
    np.testing.assert_allclose(*everything, rtol=1e-12)


@each_case
@pytest.mark.parametrize("loss", ["squared_hinge", "huber", "smoothed hinge"])
def test_ties_and_kinks_fall_on_the_same_side(name: str, loss: str) -> None:
    y, ptr = grades(name)
    one, other = both(y, ptr, SORTABLE[loss])
    for seed in range(3):
        f = dyadic(len(y), seed)
        assert_agree(one.at(f), other.at(f), len(y), exact=True)


@each_cost
@each_loss
def test_both_forms_agree_on_costs(costs: str | None, loss: PiecewiseQuadratic) -> None:
    for name in GRADES:
        y, ptr = grades(name)
        f = np.random.default_rng(1).normal(size=len(y))
        one, other = both(y, ptr, loss, costs)
        for scores in (f, 0.0 * f, 2.0 * y):  # the cuts of equal scores are known without a search
            assert_agree(one.at(scores), other.at(scores), len(y))
        assert other.n_pairs == one.n_pairs


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 30), st.sampled_from(sorted(SORTABLE)))
def test_both_forms_agree_on_random_queries(seed: int, n_grades: int, longest: int, loss: str) -> None:
    y, ptr = random_grades(seed, n_grades, (1, longest))
    rng = np.random.default_rng(seed)
    f = rng.normal(size=len(y)) * 10.0 ** rng.integers(-3, 3)
    one, other = both(y, ptr, SORTABLE[loss], rng.choice(COSTS))
    assert_agree(one.at(f), other.at(f), len(y))


@each_cost
def test_costs_by_plain_loops(costs: str | None) -> None:
    """w·b²·ℓ(t/b) summed pair by pair, for the listed form, which the sorted one is compared with."""
    y, ptr = random_grades(5, 4)
    loss, found = LOSSES["logistic"], pair_costs(costs, y, ptr)
    f, levels = np.random.default_rng(2).normal(size=len(y)), np.unique(y)
    value, slope, gradient = 0.0, 0.0, np.zeros(len(y))
    for i, j in slow_pairs(y, ptr):
        at = (np.searchsorted(ptr, i, "right") - 1, *np.searchsorted(levels, y[[i, j]]))
        w = np.broadcast_to(found.weight, (len(ptr) - 1, len(levels), len(levels)))[at]
        b = 1.0 if found.margin is None else found.margin[at]
        t = np.array([f[i] - f[j]]) / b
        value += w * b * b * loss.value(t)[0]
        slope -= w * b * b * loss.derivative(t)[0]
        gradient[[i, j]] += w * b * loss.derivative(t)[0] * np.array([1.0, -1.0])
    point = PairRisk(y, ptr, loss, found).at(f)
    assert point.value == pytest.approx(value)
    assert point.total_slope == pytest.approx(slope)
    np.testing.assert_allclose(point.gradient, gradient, atol=1e-10)


def test_margins_near_a_kink_are_decided_once_for_both_roles() -> None:
    """Scores a rounding error apart: the Hessian stays symmetric and its rows sum to zero."""
    rng = np.random.default_rng(0)
    y, ptr = rng.integers(0, 3, 600), offsets([200, 200, 200])
    f = rng.integers(0, 4, 600) * 0.1 + rng.integers(-2, 3, 600) * 1e-16
    point = SortedRisk(y, ptr, PiecewiseQuadratic("", "", SORTABLE["huber"].zones)).at(f * 3.3)
    H = hessian(point, 600)
    assert (H == H.T).all()
    assert (H.sum(axis=1) == 0).all()


def test_many_groups_are_sorted_by_two_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    y, ptr = random_grades(4, 4, (1, 20))
    f = np.random.default_rng(0).normal(size=len(y))
    expected = SortedRisk(y, ptr, SORTABLE["huber"]).at(f)
    monkeypatch.setattr(layout_module, "RADIX", 3)
    found = SortedRisk(y, ptr, SORTABLE["huber"]).at(f)
    assert found.order.tolist() == expected.order.tolist()
    assert found.value == expected.value


def test_only_differences_within_a_query_matter() -> None:
    y, ptr = GRADES["five grades"]
    f, risk = dyadic(len(y), 5), SortedRisk(y, ptr, SORTABLE["squared_hinge"])
    shifted = f + np.repeat(np.arange(len(ptr) - 1) * 2.0**30, np.diff(ptr))
    here, there = risk.at(f), risk.at(shifted)
    assert here.value == there.value
    assert here.gradient.tolist() == there.gradient.tolist()


@pytest.mark.parametrize("form", [PairRisk, SortedRisk])
def test_sampled_pairs_are_active_and_uniform(form: type) -> None:
    y, ptr = random_grades(8, 3, (5, 9))
    f = dyadic(len(y))
    point = form(y, ptr, SORTABLE["huber"]).at(f)
    rng, counts = np.random.default_rng(0), np.zeros((len(y), len(y)))
    active = listed(point.sample_active(rng, 10**6), len(y)) > 0
    size = point.n_active // 3
    for _ in range(3000):
        pairs = point.sample_active(rng, size)
        assert len(pairs.winner) == size
        counts[pairs.winner, pairs.loser] += 1
    assert (counts[~active] == 0).all()
    share = counts[active] / 3000
    assert abs(share - size / point.n_active).max() < 5 * np.sqrt(0.25 / 3000)


def test_the_faster_form_is_chosen() -> None:
    y, ptr = np.tile([0, 1, 2, 0], 400), np.arange(0, 1601, 200)
    squared, logistic = LOSSES["squared_hinge"], LOSSES["logistic"]
    assert isinstance(risk_of(y, ptr, squared), SortedRisk)
    assert isinstance(risk_of(y, ptr, logistic), PairRisk)
    assert isinstance(risk_of(y[:8], np.array([0, 8]), squared), PairRisk)
    assert risk_of(y, ptr, squared).costs is PLAIN
    every = np.arange(1600)  # no grade twice: the sorted form would look at 1600 grades
    assert module.sorts(every, np.array([0, 1600]), squared) is False
    assert isinstance(risk_of(every[:0], np.zeros(1, np.int64), squared), PairRisk)


def test_another_loss_shares_what_is_prepared() -> None:
    y, ptr = GRADES["five grades"]
    for form, shared in ((PairRisk, "pairs"), (SortedRisk, "layout")):
        risk = form(y, ptr, SORTABLE["squared_hinge"])
        kept = getattr(risk, shared)
        other = risk.with_loss(SORTABLE["huber"])
        assert getattr(other, shared) is kept
        assert other.at(0.0 * y).value == form(y, ptr, SORTABLE["huber"]).at(0.0 * y).value
        assert risk.loss is SORTABLE["squared_hinge"]
        assert limit_of(other, 0.0 * y, point := other.at(0.0 * y)) == (point.value, 0.0)
    with pytest.raises(TypeError, match="pairs must be listed"):
        risk.with_loss(LOSSES["logistic"])


def test_the_smooth_hinge_adapts_to_c() -> None:
    y, ptr = GRADES["five grades"]
    risk = PairRisk(y, ptr, LOSSES["smooth_hinge"], pair_costs("grade", y, ptr))
    assert adapted_risk(risk, 8.0).loss == SmoothHinge(eta_for(8.0, risk.all_pairs.weight))
    other = risk.with_loss(LOSSES["logistic"])
    assert adapted_risk(other, 8.0) is other


@pytest.mark.parametrize("rows", [1, 7, 40, 10**6])
@each_cost
def test_the_gram_matrix_does_not_depend_on_blocks(
    monkeypatch: pytest.MonkeyPatch, rows: int, costs: str | None
) -> None:
    monkeypatch.setattr(sorted_module, "ROWS", rows)
    y, ptr = random_grades(4, 4, (1, 30))
    rng = np.random.default_rng(0)
    f, B = rng.normal(size=len(y)), rng.normal(size=(len(y), 5))
    for loss in (LOSSES["squared_hinge"], LOSSES["huber"], LOSSES["logistic_pwq"]):
        one, other = (risk.at(f) for risk in both(y, ptr, loss, costs))
        scale = np.abs(one.gram(B)).max()
        np.testing.assert_allclose(other.gram(B), one.gram(B), atol=1e-12 * scale)
