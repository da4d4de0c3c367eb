"""Listwise losses and their gradients beside those that RAX 0.4.0 gave for one list, in double precision.

RAX multiplies its lambda weights by the number of documents, and its smooth metric is −NDCG: values here are
divided by it, and 1 is added. Its parts of lambda weights are `dcg_lambdaweight` and `dcg2_lambdaweight`.
"""

import numpy as np
import pytest

from rankviz.common.arrays import FloatArray
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.score_losses import SCORE_LOSSES, Queries
from rankviz.models.approx_ndcg import ApproxNDCGLoss
from rankviz.models.lambda_rank import lambda_weights

SCORES = np.array([0.4, -1.1, 0.9, 0.05, 2.3, -0.6, 1.4])
GRADES, PTR = np.array([2, 0, 1, 3, 0, 1, 2]), np.array([0, 7])
RAX = {
    "ListNet": (
        2.6055960166393506,
        *(-0.09976704862528285, -0.006924914428287739, 0.05925105889431374, -0.4220418200400012),
        *(0.4772282245032893, -0.03670224609559317, 0.02895674579156174),
    ),
    "ApproxNDCG": (
        0.3980071989561056,
        *(0.002026184248882955, 0.0001571924551174853, 0.003287632665763934, -0.002759791076032795),
        *(6.288284955570185e-05, 0.0001557898342886644, -0.002929890977575947),
    ),
    "LambdaRank": (
        1.8634590249509155,
        *(-0.1393849134830643, 0.02137298241820335, 0.0213917911874483, -0.4807802294468621),
        *(0.6393231357854264, -0.04016250779215605, -0.02176025866899572),
    ),
    "LambdaLoss": (
        0.7212763266854773,
        *(0.01046128628365868, 0.03656331757224099, 0.1051029300867863, -0.2581567983349039),
        *(0.1230719600949614, 0.05994564094413678, -0.07698833664688029),
    ),
}
"""The value, and the derivative by the score of each document."""


def by_weights(weights: FloatArray) -> tuple[float, FloatArray]:
    """Return Σ w_ij log(1 + e^−(f_i − f_j)) and its gradient, the weights held fixed."""
    pairs = preference_pairs(GRADES, PTR)
    margins = pairs.margins(SCORES)
    push = weights / (1.0 + np.exp(margins))
    gradient = np.bincount(pairs.loser, push, len(SCORES)) - np.bincount(pairs.winner, push, len(SCORES))
    return float(weights @ np.log1p(np.exp(-margins))), gradient


def ours(name: str) -> tuple[float, FloatArray]:
    pairs = preference_pairs(GRADES, PTR)
    rank, both = (lambda_weights(SCORES, GRADES, PTR, pairs, mu) for mu in (0.0, 1.0))
    if name == "LambdaRank":
        return by_weights(rank)
    if name == "LambdaLoss":
        return by_weights(both - rank)
    loss = SCORE_LOSSES["listnet"] if name == "ListNet" else ApproxNDCGLoss(0.1)
    found = loss.prepared(GRADES, Queries(PTR))(SCORES)
    return float(found.value[0]), found.gradient


@pytest.mark.parametrize("name", RAX)
def test_losses_and_gradients_are_those_of_rax(name: str) -> None:
    value, gradient = ours(name)
    np.testing.assert_allclose([value, *gradient], RAX[name], rtol=1e-12, atol=1e-14)
