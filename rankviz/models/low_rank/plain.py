"""Dual variables of the plain hinge RankSVM, as a start, from existing features or kernel."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.datasets.types import RankingData
from rankviz.learning import Risk, risk_of
from rankviz.learning.feature_space import Objective, RankObjective
from rankviz.learning.hinge import HingeContinuation
from rankviz.learning.kernel_space import KernelObjective, first_landmarks
from rankviz.learning.losses import SmoothedHinge
from rankviz.models.low_rank.blocks import Blocks
from rankviz.models.low_rank.gram import FeatureGram, Gram, KernelGram


def plain_alpha(
    data: RankingData, blocks: Blocks, gram: Gram, C: float, tol: float, report: Report = silent
) -> FloatArray:
    """Return α (E,) of the hinge to a duality gap of `tol`: slopes of the last smoothing, 0 outside pairs.

    A stop through `report` returns the current α.
    """
    objective = _objective(data, gram, risk_of(data.y, data.ptr, SmoothedHinge(1.0)), C)
    result = HingeContinuation(tol).solve(objective, report=lambda progress: report(Progress("newton")))
    width = result.trace[-1].smoothing if result.trace else 1.0
    slopes = SmoothedHinge(width).derivative(blocks.margins(result.point.scores))
    return np.where(blocks.is_pair, -C * slopes, 0.0)


def _objective(data: RankingData, gram: Gram, risk: Risk, C: float) -> Objective:
    if isinstance(gram, KernelGram):
        few = first_landmarks(data.n_documents)  # as assumed when memory was counted
        return KernelObjective(data.X, gram.kernel, gram.K, risk, C, most_landmarks=few)
    if isinstance(gram, FeatureGram):
        return RankObjective(gram.features.compact(), risk, C)
    raise TypeError(f"no objective is known for {type(gram).__name__}")
