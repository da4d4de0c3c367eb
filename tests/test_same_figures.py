"""One thread or several, in this process or another: the same figures."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM
from rankviz.common.parallel import ENVIRONMENT
from rankviz.datasets import make_data
from rankviz.models.feature_ranker import FeatureRanker

DATA = make_data(n_queries=56, documents_per_query=(30, 60), n_features=12, seed=1)
"""More than 2,000 documents, so that an exact kernel is solved for in its own space."""

FACTORISED: dict[str, FactorizedRankSVM] = {
    "linear": FactorizedRankSVM(rank=8, C=0.01),
    "nystroem": FactorizedRankSVM(rank=16, C=0.01, feature_map="nystroem", n_components=80, max_iter=40),
    "fourier": FactorizedRankSVM(rank=4, C=0.01, feature_map="fourier", n_components=300, max_iter=40),
    "exact": FactorizedRankSVM(rank=2, C=0.01, feature_map="exact", gamma=0.1),
    "query_steps": FactorizedRankSVM(
        C=0.01, feature_map="fourier", n_components=400, solver="query_steps", max_iter=15
    ),
}
CONVEX: dict[str, FeatureRanker] = {
    **{f"linear, {loss}": RankSVM(loss=loss) for loss in ("squared_hinge", "hinge", "logistic")},
    **{f"linear, {solver}": RankSVM(solver=solver) for solver in ("newton_yuan", "lbfgs", "sgd_pair")},
    "linear, plain": RankSVM(preconditioner="none", C=0.1),
    "nystroem": RankSVM("nystroem", n_components=300),
    "nystroem, kmeans++": RankSVM("nystroem", n_components=80, landmarks="kmeans++"),
    "fourier": RankSVM("fourier", n_components=300),
    "exact": RankSVM("exact"),
    "exact, hinge": RankSVM("exact", loss="hinge", C=1e-3),
    "regularised, fista": RegularizedRankSVM(),
    "regularised, alternating": RegularizedRankSVM(solver="alternating", max_iter=5),
}


def fitted(model: FeatureRanker, threads: int, monkeypatch: pytest.MonkeyPatch) -> FeatureRanker:
    monkeypatch.setenv(ENVIRONMENT, str(threads))
    with threadpool_limits(limits=threads, user_api="blas"):
        return clone(model).fit_data(DATA)


def found(model: FeatureRanker) -> str:
    """A digest of everything that was found, bit by bit."""
    assert isinstance(model, FactorizedRankSVM)
    parts = (model.factors_, model.coef_, np.array([model.objective_, model.gap_, model.n_iter_]))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@pytest.mark.parametrize("name", FACTORISED)
def test_a_factorised_model_is_the_same_bit_by_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {found(fitted(FACTORISED[name], threads, monkeypatch)) for threads in (1, 3)}
    assert len(digests) == 1


SCRIPT = """
import test_same_figures as t
print(t.found(t.FACTORISED["exact"].fit_data(t.DATA)))
"""


def test_a_factorised_model_is_the_same_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "3", ENVIRONMENT: "3"}
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == found(fitted(FACTORISED["exact"], 1, monkeypatch))


@pytest.mark.parametrize("name", CONVEX)
def test_a_convex_model_is_the_same_bit_by_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are made by blocks of rows that do not depend on the number of threads, in one order."""
    weights = {fitted(CONVEX[name], threads, monkeypatch).coef_.tobytes() for threads in (1, 4)}
    assert len(weights) == 1
