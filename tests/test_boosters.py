"""RankBoost, FRank, AdaRank and coordinate ascent: plain loops, falling losses, rising measures."""

from collections.abc import Callable
from typing import Any

import naive_boosters as naive
import numpy as np
import pytest
from scipy.special import expit

from rankviz import (
    AdaRankMAP,
    AdaRankNDCG,
    CoordinateAscent,
    DataError,
    Fold,
    FRank,
    RankBoost,
    RankingData,
    evaluate,
    explain_margin,
)
from rankviz.datasets import make_data, make_fold
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.top import TopNDCG
from rankviz.models.coordinate_ascent import Ascent
from rankviz.models.linear_rounds import Copies
from rankviz.models.rounds import RoundRanker
from rankviz.models.stumps import Stumps

ROUNDS = 7
NAIVE: dict[str, tuple[RoundRanker, Callable[[RankingData, int], Any]]] = {
    "rankboost": (RankBoost(n_rounds=ROUNDS, thresholds=1000), naive.rankboost),
    "frank": (FRank(n_rounds=ROUNDS, thresholds=1000), naive.frank),
    "adarank_ndcg": (
        AdaRankNDCG(n_rounds=ROUNDS),
        lambda data, rounds: naive.adarank(data, "NDCG@10", rounds),
    ),
    "adarank_map": (AdaRankMAP(n_rounds=ROUNDS), lambda data, rounds: naive.adarank(data, "MAP", rounds)),
}
each = pytest.mark.parametrize("name", NAIVE)


@pytest.fixture(scope="module")
def fold() -> Fold:
    made = make_fold(n_queries=15, documents_per_query=(3, 12), n_features=5, seed=4)
    rounded = [  # so that documents of a query share values, and scores
        RankingData.from_arrays(np.round(part.X, 1), part.y, part.qid) for part in made.parts.values()
    ]
    return Fold(*rounded)


@each
def test_each_round_is_that_of_plain_loops(name: str, fold: Fold) -> None:
    model, plain = NAIVE[name]
    scores, losses = plain(fold.train, ROUNDS)
    seen: list[float] = []
    model.fit_data(fold.train)
    np.testing.assert_allclose(model.trace_["loss"][1:], losses, rtol=1e-9)
    for rounds in range(1, ROUNDS + 1):
        shorter = type(model)(**(model.get_params() | {"n_rounds": rounds})).fit_data(fold.train)
        np.testing.assert_allclose(shorter.predict(fold.train.X), scores[rounds - 1], rtol=1e-9, atol=1e-12)
        seen.append(shorter.trace_["training"].iloc[-1])
    np.testing.assert_allclose(model.trace_["training"][1:], seen)


@pytest.mark.parametrize("kind", [RankBoost, FRank])
def test_losses_of_pairs_fall_in_each_round(kind: type[RoundRanker], fold: Fold) -> None:
    loss = kind(n_rounds=150).fit_data(fold.train).trace_["loss"]
    assert loss[0] == pytest.approx(1.0 if kind is RankBoost else 1 - np.sqrt(0.5))
    assert (loss.diff()[1:] < 0).all()
    assert loss.iloc[-1] < 0.7 * loss[0]


def test_the_bound_of_rankboost_is_above_the_share_of_wrong_pairs(fold: Fold) -> None:
    model = RankBoost(n_rounds=40).fit_data(fold.train)
    f = model.predict(fold.train.X)
    pairs = [pair for own in naive.pairs_of(fold.train) for pair in own]
    assert model.trace_["loss"].iloc[-1] >= np.mean([f[i] <= f[j] for i, j in pairs])
    assert model.trace_["loss"].iloc[-1] == pytest.approx(np.mean([np.exp(f[j] - f[i]) for i, j in pairs]))


def test_thresholds_are_quantiles_where_there_are_many_values() -> None:
    X = np.random.default_rng(0).exponential(size=(1000, 2))
    v = np.random.default_rng(1).standard_normal(1000)
    few, every = Stumps(X, 20).best(v), Stumps(X, 5000).best(v)
    assert few is not None
    assert every is not None
    assert abs(few.total) <= abs(every.total)
    for found in (few, every):
        assert found.total == pytest.approx(v[X[:, found.feature] > found.threshold].sum())
    sums = [v[X[:, j] > t].sum() for j in range(2) for t in naive.thresholds(X[:, j])]
    assert abs(every.total) == pytest.approx(max(map(abs, sums)))
    assert len(Stumps(X, 20)._cuts[0]) == 20


@pytest.mark.parametrize("measure", ["ndcg", "map"])
def test_coordinate_ascent_never_lowers_its_measure(measure: str, fold: Fold) -> None:
    model = CoordinateAscent(n_rounds=12, starts=3, measure=measure).fit_data(fold.train)
    raised = model.trace_["raised"]
    assert (raised.diff()[1:] >= 0).all()
    assert raised.iloc[-1] > raised[0] + 0.05
    column = {"ndcg": "NDCG@10", "map": "MAP"}[measure]
    own = naive.measured(model.predict(fold.train.X), fold.train, column).mean()
    assert raised.iloc[-1] == pytest.approx(own, abs=1e-9)
    if measure == "ndcg":
        np.testing.assert_allclose(model.trace_["training"], raised, atol=1e-9)


def test_a_pass_ends_where_no_tried_change_raises_the_measure(fold: Fold) -> None:
    ascent, rng = Ascent(fold.train, "NDCG@10"), np.random.default_rng(0)
    w, rose = np.full(5, 0.2), True
    while rose:
        before = ascent.value(w)
        w, rose = ascent.passed(w, rng.permutation(5))
        assert ascent.value(w) >= before
    for j in range(5):
        for step in (-2.0, -0.25, 0.5, 4.0):
            moved = w.copy()
            moved[j] += step * np.abs(w).mean()
            assert ascent.value(moved) <= ascent.value(w) + 1e-9


def test_copies_measure_as_single_calls(fold: Fold) -> None:
    scores = np.round(np.random.default_rng(0).standard_normal((3, fold.train.n_documents)), 1)
    found = Copies(fold.train, "MAP", 3).means(scores)
    np.testing.assert_allclose(found, [naive.measured(own, fold.train, "MAP").mean() for own in scores])


@pytest.mark.parametrize("kind", [RankBoost, FRank, AdaRankNDCG, CoordinateAscent])
def test_shares_of_features_add_up_to_the_margin(kind: type[RoundRanker], fold: Fold) -> None:
    model = kind(n_rounds=10).fit_data(fold.train)
    a, b = fold.test.X[:2]
    found = explain_margin(model, a, b)
    fa, fb = model.predict(fold.test.X[:2])
    assert found.values.sum() == pytest.approx(fa - fb, abs=1e-12)
    for j in range(5):  # in a sum, a share is the effect of the feature alone
        moved = b.copy()
        moved[j] = a[j]
        effect = model.predict(moved[None])[0] - fb
        assert found.values[j] == pytest.approx(effect, abs=1e-12)


def test_early_stopping_keeps_the_best_round(fold: Fold) -> None:
    for model in (RankBoost(patience=5), FRank(patience=5), AdaRankNDCG(patience=5), CoordinateAscent()):
        model.fit_watching(fold.train, fold.vali)
        best = int(model.trace_["validation"][1:].idxmax())
        assert model.n_rounds_ == best
        measured = evaluate(model.predict(fold.vali.X), fold.vali, "letor", ties="mean", at=[10]).mean
        assert measured["NDCG@10"] == pytest.approx(model.trace_["validation"][best])


@pytest.mark.filterwarnings("ignore::rankviz.DataWarning")
@pytest.mark.parametrize("kind", [RankBoost, FRank, AdaRankMAP, CoordinateAscent])
def test_without_pairs_or_differences_all_scores_are_equal(kind: type[RoundRanker]) -> None:
    for X, y in ((np.eye(4), [1, 1, 0, 0]), (np.ones((4, 2)), [1, 0, 1, 0])):
        model = kind(n_rounds=3).fit(X, y, qid=[1, 1, 2, 2])
        assert model.n_rounds_ >= 1
        if kind in (RankBoost, FRank):
            assert not model.predict(X).any()


def test_a_threshold_that_orders_all_pairs_ends_rankboost() -> None:
    model = RankBoost(n_rounds=20).fit([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert model.n_rounds_ == 1
    assert np.isfinite(model.predict([[3.0]])).all()


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0, 3.0, 10.0])
def test_frank_tries_enough_thresholds_to_find_the_best(scale: float) -> None:
    data = make_fold(n_queries=25, documents_per_query=(4, 20), n_features=6, seed=1).train
    stumps, tries, every = Stumps(data.X, 60), 0, 0
    fidelity = FRank().steps(data, stumps)
    for seed in range(6):
        f = scale * np.random.default_rng(seed).standard_normal(data.n_documents)
        margins = fidelity.pairs.margins(f)
        P = expit(margins)
        W, most = fidelity.weight * np.sqrt(P) * (1 - P), 1 / (np.sqrt(P) + P)
        lowers = {
            (j, k): fidelity._tried(stumps.at(j, k), margins, W)[1]
            for j, cuts in enumerate(stumps._cuts)
            for k in range(len(cuts))
        }
        bounds = fidelity._candidates(W, W * (0.5 - 1.5 * P), most.max())
        assert all(high >= lowers[j, k] for high, j, k in bounds)
        step = fidelity.step(f)
        assert step is not None
        assert step.loss == pytest.approx(fidelity.at(f) - max(lowers.values()), rel=1e-12)
        tries, every = tries + len(bounds), every + len(lowers)
    assert tries < every, "bounds leave some out"


def test_frank_counts_its_pairs_before_training(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = sum(map(len, naive.pairs_of(fold.train)))
    enough = FRank(n_rounds=1).fit_data(fold.train).memory_need_
    assert enough == FRank.bytes_for(fold.train.n_documents, 5, FRank().get_params()) + 96 * pairs
    monkeypatch.setattr("rankviz.models.frank.default_budget", lambda: enough - 1.0)
    with pytest.raises(DataError, match="FRank lists its pairs"):
        FRank().fit_data(fold.train)


@pytest.fixture(scope="module")
def data() -> RankingData:
    """Queries of 1 to 90 documents; some have no relevant one."""
    return make_data(n_queries=80, documents_per_query=(1, 90), n_features=5, seed=3)


@pytest.mark.parametrize("digits", [-2, 0, 1, 12], ids=["all", "many", "some", "none"])
def test_equals_the_metric_of_whole_lists_to_the_bit(digits: int, data: RankingData) -> None:
    scores = np.round(np.random.default_rng(0).standard_normal((7, data.n_documents)), digits)
    found = TopNDCG(data).by_query(scores)
    for own, of_query in zip(scores, found, strict=True):
        expected = evaluate(own, data, COMPARED, measures=["NDCG@10"])
        np.testing.assert_array_equal(of_query, expected.per_query["NDCG@10"])
        assert TopNDCG(data).mean(own) == expected.mean["NDCG@10"]


def test_another_cut_off_and_lists_of_one_size() -> None:
    data = make_data(n_queries=9, documents_per_query=(12, 12), n_features=5, seed=1)
    scores = np.random.default_rng(1).integers(0, 4, (5, data.n_documents)).astype(float)
    for k in (1, 3, 10):
        expected = [evaluate(own, data, COMPARED, measures=[f"NDCG@{k}"]).per_query for own in scores]
        np.testing.assert_array_equal(TopNDCG(data, k).by_query(scores), np.hstack(expected).T)


def test_names_the_document_without_a_score(data: RankingData) -> None:
    scores = np.zeros(data.n_documents)
    scores[3] = np.nan
    with pytest.raises(DataError, match="score"):
        TopNDCG(data).mean(scores)
