"""The problem that every solver is tried on, its objectives, and the costs and stochastic terms to try."""

from functools import partial

import pytest
from naive_ranking import problem, qid_of

from rankviz.datasets import RankingData
from rankviz.features import FEATURE_MAPS, RBF, MapSettings
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import pair_costs
from rankviz.learning.risk import PairRisk
from rankviz.learning.stochastic import PairTerms, QueryTerms

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
STOCHASTIC = {"query": QueryTerms, "pair": PairTerms, "single pair": partial(PairTerms, batch=1)}
COSTS = (None, "grade_query", "margin")

each_cost = pytest.mark.parametrize("costs", COSTS)
each_terms = pytest.mark.parametrize("terms", STOCHASTIC.values(), ids=STOCHASTIC)


def objective_of(
    loss: str = "squared_hinge", C: float = 0.25, costs: str | None = None, feature_map: str = "linear"
) -> RankObjective:
    features = FEATURE_MAPS[feature_map].make(MapSettings(15, RBF(0.3), None, 1)).fit(X).operator(X)
    return RankObjective(features, PairRisk(Y, PTR, LOSSES[loss], pair_costs(costs, Y, PTR)), C)
