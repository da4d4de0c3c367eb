"""Low-rank models at the size of real sets: the memory they state, and OHSUMED's dual optimum."""

import tracemalloc
from pathlib import Path

import pytest

import rankviz
from rankviz import FactorizedRankSVM, RegularizedRankSVM
from rankviz.datasets import make_data
from rankviz.models.low_rank import LowRankRanker

MODELS = {
    "factorised, K = 1": FactorizedRankSVM(1, max_iter=12),
    "factorised, K = 10": FactorizedRankSVM(10, max_iter=12),
    "factorised, by query": FactorizedRankSVM(10, max_iter=1, solver="query_steps"),
    "regularised": RegularizedRankSVM(max_iter=6),
    "regularised, alternating": RegularizedRankSVM(max_iter=1, solver="alternating"),
    "nystroem": FactorizedRankSVM(2, feature_map="nystroem", n_components=50, max_iter=12),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_memory_they_state_is_enough_and_not_far_too_much(model: LowRankRanker) -> None:
    data = make_data(n_queries=40, documents_per_query=(100, 100), n_features=5, seed=0)
    model.fit_data(data)  # whatever is made once
    tracemalloc.start()
    model.fit_data(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= model.memory_need_ <= 8 * peak  # steps by query take least


def test_ohsumed(letor_root: Path) -> None:
    """Its dual optimum is 2984.6218: the factors stay below, the other model is near it."""
    train = rankviz.load_fold(letor_root / "OHSUMED", 1).train
    factorised = FactorizedRankSVM(rank=1, C=0.01).fit_data(train)
    assert 0.9 * 2984.6218 < factorised.dual_ < 2984.6218
    assert factorised.gap_ < 0.1
    regularised = RegularizedRankSVM(C=0.01, nuclear=1e-3, coupling=1.0).fit_data(train)
    assert regularised.dual_ == pytest.approx(2984.6218, rel=1e-4)
    assert regularised.trace_["gap"].iloc[-1] <= 1e-3
