"""One small problem and RankSVMs of every feature map, made and fitted."""

import pytest
from naive_ranking import problem, qid_of

from rankviz import RankSVM

X, Y, PTR = problem(n_queries=12)
QID = qid_of(PTR)
MAPS: dict[str, dict[str, object]] = {
    "linear": {},
    "nystroem": {"n_components": 30, "gamma": 0.2},
    "fourier": {"n_components": 30, "gamma": 0.2},
    "truncated": {"feature_map": "nystroem", "n_components": 30, "rank": 10},
}


def model(name: str = "linear", **settings: object) -> RankSVM:
    return RankSVM(**{"feature_map": name, "C": 0.1} | MAPS[name] | settings)


def fitted(name: str = "linear", **settings: object) -> RankSVM:
    return model(name, **settings).fit(X, Y, qid=QID)


each_map = pytest.mark.parametrize("name", MAPS)
