"""One small problem, and RankSVMs with every kernel on it."""

from typing import Any

import pytest
from naive_ranking import problem, qid_of

from rankviz import RankSVM
from rankviz.datasets import RankingData
from rankviz.features import KERNELS

X, Y, PTR = problem(n_queries=8)
QID = qid_of(PTR)
DATA = RankingData.from_arrays(X, Y, QID)
SETTINGS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.2},
    "polynomial": {"gamma": 0.4, "degree": 2, "coef0": 0.5},
    "linear": {},
}
each_kernel = pytest.mark.parametrize("kernel", SETTINGS)


def model(kernel: str, feature_map: str = "exact", **settings: Any) -> RankSVM:
    known = {"C": 0.5, "tol": 1e-10, "n_components": 1000} | SETTINGS.get(kernel, {"gamma": 0.4})
    return RankSVM(feature_map, kernel=kernel, **known | settings)


def kernel_of(kernel: str) -> Any:
    return KERNELS[kernel].make({"degree": 2, "coef0": 0.5, "gamma": 0.4} | SETTINGS.get(kernel, {}))
