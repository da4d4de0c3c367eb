"""The weights of a model at every Newton step, from given weights to the optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress
from rankviz.datasets.types import RankingData
from rankviz.learning.training import Task
from rankviz.models.ranksvm import RankSVM


class WeightPath:
    """Collects the weights at the beginning of each Newton step, as callback or report of a fit."""

    def __init__(self) -> None:
        self._steps: list[FloatArray] = []

    def __call__(self, progress: Progress) -> None:
        """Store the weights of a report."""
        if progress.weights is None:
            return
        if progress.record is None and self._steps:  # a narrower smoothing begins at the end of the last one
            self._steps.pop()
        self._steps.append(progress.weights)

    def to(self, model: RankSVM) -> FloatArray:
        """Return all steps up to the weights of the fitted model, (t, m): one for each row of its trace."""
        return np.array([*self._steps[: len(model.trace_) - 1], model.coef_])


def newton_path(model: RankSVM, data: RankingData, start: ArrayLike) -> FloatArray:
    """Return the weights at every Newton step from `start` (m,) to the optimum, (t, m); this fits `model`.

    Raises `SettingError` for weights of another shape, or that are not finite.
    """
    w, path = np.asarray(start, float), WeightPath()
    training = model.training(data)
    task = Task(int(model.n_components), model.gamma_for(data.X), float(model.C))
    m = training.space.map(task).n_components
    if w.shape != (m,) or not np.isfinite(w).all():
        raise SettingError(f"weights of shape {w.shape} must be {m} finite numbers, one for each feature")
    training.resume(task, w)
    model.fit_in(training, path)
    return path.to(model)
