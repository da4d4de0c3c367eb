"""Margins, AUC and Kendall's τ against counts of listed pairs; the risk as a bound of 1 − AUC."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rankviz import RankSVM
from rankviz.datasets import RankingData, make_fold
from rankviz.learning.losses import LOSSES, SmoothedHinge, SmoothHinge
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.sorted_risk import SortedRisk, risk_of
from rankviz.metrics import auc, evaluate, kendall_tau, top_overlap
from rankviz.metrics.pairwise import histogram, summary
from rankviz.plots import margins as plot


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_listed_pairs(seed: int) -> None:
    part = make_fold(n_queries=9, documents_per_query=(1, 30), n_features=3, seed=seed).train
    rng = np.random.default_rng(seed)
    for scores in (rng.normal(size=part.n_documents), rng.integers(-3, 4, part.n_documents) / 2.0):
        t = preference_pairs(part.y, part.ptr).margins(scores)
        found = summary(scores, part)
        assert (found.n_pairs, found.misordered) == (len(t), int((t <= 0).sum()))
        assert (found.low, found.high) == (t.min(), t.max())
        edges = np.arange(-5.0, 8.0) / 2.0
        expected = [int(((t >= a) & (t < b)).sum()) for a, b in pairwise(edges)]
        assert histogram(scores, part, edges).tolist() == expected


def test_all_pairs_are_in_the_bins_and_zero_and_one_are_edges() -> None:
    part = make_fold(n_queries=9, documents_per_query=(1, 30), n_features=3, seed=1).train
    for scale in (0.0, 1e-3, 1.0, 7.0, 1e4):
        table = plot.bins_data(scale * part.X[:, 0], part)
        assert table["pairs"].sum() == len(preference_pairs(part.y, part.ptr))
        assert 0.0 in table["left"].to_list()
        assert scale > 1.0 or np.isclose(table["right"], 1.0).any()
        assert len(table) <= plot.MOST_BINS + 2


def test_no_pairs() -> None:
    part = RankingData.from_arrays(np.ones((3, 1)), [1, 1, 1], [1, 1, 2])
    assert summary(np.zeros(3), part).n_pairs == 0
    assert plot.bins_data(np.zeros(3), part)["pairs"].sum() == 0


def test_every_loss_is_drawn_with_its_derivative() -> None:
    part = make_fold(n_queries=9, documents_per_query=(5, 30), n_features=3, seed=1).train
    table = plot.bins_data(part.X[:, 0], part)
    lines = plot.curves(table)
    assert set(lines["loss"]) == set(LOSSES)
    fig = plot.losses_figure(table, lines, "nystroem", "hinge")
    assert len(fig.data) == 2 * len(LOSSES) + 1
    for name, rows in lines.groupby("loss"):
        slope = np.diff(rows["value"]) / np.diff(rows["t"])
        assert (slope >= rows["slope"].to_numpy()[:-1] - 1e-6).all(), name  # convex
        assert (slope <= rows["slope"].to_numpy()[1:] + 1e-6).all(), name


BOUNDS = LOSSES | {"smoothed": SmoothedHinge(0.4), "narrow": SmoothHinge(1e-3)}


def binary(n: int, seed: int = 0, d: int = 3) -> RankingData:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0.7).astype(np.int64)
    return RankingData.from_arrays(X, y, np.zeros(n, np.int64))


def slow_auc(f: np.ndarray, y: np.ndarray, ties: float) -> float:
    pairs = [(a, b) for a in f[y == 1] for b in f[y == 0]]
    return sum(1.0 if a > b else ties if a == b else 0.0 for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("n", [40, 1200])
@pytest.mark.parametrize("digits", [15, 1, 0])
def test_equals_scikit_learn_with_ties_as_halves(n: int, digits: int) -> None:
    data = binary(n)
    f = np.round(data.X[:, 0], digits)
    assert auc(f, data) == pytest.approx(roc_auc_score(data.y, f), abs=1e-12)


@pytest.mark.parametrize("ties", [0.0, 0.5, 1.0])
def test_equals_loops_whatever_ties_count(ties: float) -> None:
    data = binary(60)
    f = np.round(data.X[:, 0], 0)
    assert auc(f, data, ties=ties) == pytest.approx(slow_auc(f, data.y, ties), abs=1e-15)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("seed", range(5))
def test_risk_over_pairs_bounds_the_complement(name: str, seed: int) -> None:
    loss, data = BOUNDS[name], binary(300, seed)
    at_zero = float(loss.value(np.zeros(1))[0])
    for f in (data.X[:, 0], -data.X[:, 1], 10 * data.X[:, 0], np.round(data.X[:, 0]), 0 * data.X[:, 0]):
        risk = sum(loss.value(f[i] - f[data.y == 0]).sum() for i in np.flatnonzero(data.y))
        pairs = data.y.sum() * (1 - data.y).sum()
        assert 1 - auc(f, data, ties=0.0) <= risk / (pairs * at_zero) * (1 + 1e-12)


def test_the_losses_at_zero_are_what_the_documentation_says() -> None:
    for name in ("squared_hinge", "hinge", "huber", "smooth_hinge", "narrow"):
        assert BOUNDS[name].value(np.zeros(1))[0] == pytest.approx(1.0)
    assert LOSSES["logistic"].value(np.zeros(1))[0] == pytest.approx(np.log(2))
    assert SmoothedHinge(0.4).value(np.zeros(1))[0] == pytest.approx(0.8)


def test_training_on_many_examples_lists_no_pair() -> None:
    data = binary(300_000)
    assert isinstance(risk_of(data.y, data.ptr, LOSSES["squared_hinge"]), SortedRisk)
    svm = RankSVM(C=1e-9, max_iter=5).fit_data(data)
    assert svm.n_pairs_ == int(data.y.sum()) * int((1 - data.y).sum())
    found = auc(svm.predict(data.X), data)
    assert found == pytest.approx(roc_auc_score(data.y, svm.predict(data.X)), abs=1e-12)
    loss = (svm.objective_ - svm.coef_ @ svm.coef_ / 2) / svm.C
    assert 1 - found <= loss / svm.n_pairs_
    assert found > 0.7


def test_without_a_pair_there_is_none() -> None:
    data = RankingData.from_arrays(np.ones((3, 1)), [1, 1, 1], [0, 0, 0])
    assert np.isnan(auc(np.arange(3.0), data))


@pytest.mark.parametrize(("y", "qid"), [([0, 1, 2], [0, 0, 0]), ([0, 1, 1], [0, 1, 1])])
def test_other_data_are_refused(y: list[int], qid: list[int]) -> None:
    with pytest.raises(ValueError, match="one query with two grades"):
        auc(np.arange(3.0), RankingData.from_arrays(np.ones((3, 1)), y, qid))


def naive(left: np.ndarray, right: np.ndarray) -> float:
    """τ_b by its definition, pair by pair."""
    concordant = discordant = ties_left = ties_right = 0
    for i, j in combinations(range(len(left)), 2):
        product = np.sign(left[i] - left[j]) * np.sign(right[i] - right[j])
        concordant += product > 0
        discordant += product < 0
        ties_left += left[i] == left[j]
        ties_right += right[i] == right[j]
    pairs = len(left) * (len(left) - 1) // 2
    below = (pairs - ties_left) * (pairs - ties_right)
    return (concordant - discordant) / math.sqrt(below) if below else math.nan


def part(sizes: list[int]) -> RankingData:
    n = sum(sizes)
    qid = np.repeat(np.arange(10, 10 + len(sizes)), sizes)
    return RankingData.from_arrays(np.ones((n, 1)), np.zeros(n, int), qid)


def test_is_the_count_of_pairs_also_with_ties() -> None:
    data = make_fold(n_queries=15, documents_per_query=(2, 12), n_features=3, seed=2).train
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 5, (2, data.n_documents)).astype(float)
    found = kendall_tau(left, right, data)
    assert found.index.tolist() == data.query_ids.tolist()
    for position, tau in enumerate(found):
        rows = data.query_slice(position)
        assert tau == pytest.approx(naive(left[rows], right[rows]), nan_ok=True)


def test_nothing_to_compare_is_not_a_number() -> None:
    data = part([1, 3])
    found = kendall_tau(np.zeros(4), np.arange(4.0), data)
    assert found.isna().all()


def test_overlap_is_a_count_of_common_documents() -> None:
    data = make_fold(n_queries=15, documents_per_query=(2, 30), n_features=3, seed=2).train
    left, right = np.random.default_rng(0).integers(0, 5, (2, data.n_documents)).astype(float)
    for k in (1, 4, 10):
        found = top_overlap(left, right, data, k)
        assert found.index.tolist() == data.query_ids.tolist()
        for position, overlap in enumerate(found):
            rows = data.query_slice(position)
            tops = [
                sorted(range(len(s)), key=lambda i, s=s: (-s[i], i))[:k] for s in (left[rows], right[rows])
            ]
            assert overlap == sum(i in tops[1] for i in tops[0]) / len(tops[0])


def test_known_overlaps() -> None:
    data = part([3, 12, 1])
    rising, falling = np.arange(16.0), -np.arange(16.0)
    assert top_overlap(rising, rising, data).tolist() == [1, 1, 1]
    assert top_overlap(rising, falling, data).tolist() == [1, 0.8, 1]  # 3 of 3, 8 of 10, 1 of 1
    assert top_overlap(rising, falling, data, 2).tolist() == [0.5, 0, 1]
    assert top_overlap(np.zeros(16), falling, data, 2).tolist() == [1, 1, 1]  # ties: file order
    with pytest.raises(ValueError, match="k=0"):
        top_overlap(rising, falling, data, 0)


def test_ties_are_ranked_as_in_the_metrics() -> None:
    """The first document of tied ones is the one whose grade P@1 counts."""
    data = RankingData.from_arrays(np.ones((3, 1)), np.array([0, 1, 0]), np.array([1, 1, 1]))
    for scores in (np.array([1.0, 1, 0]), np.array([0.0, 1, 1])):
        counted = evaluate(scores, data).per_query["P@1"].iloc[0]
        assert top_overlap(scores, np.array([0.0, 1, 0]), data, 1).iloc[0] == counted
