"""RankSVM with given landmarks: any points, not only documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Report, silent
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import needed
from rankviz.features.nystroem import GivenLandmarks
from rankviz.learning.training import Training
from rankviz.models.ranksvm import RankSVM


class LandmarkRankSVM(RankSVM):
    """RankSVM with Nyström features of given landmarks; otherwise like `RankSVM`.

    Parameters
    ----------
    points : (m, d) array
        The landmarks. The documents that `RankSVM` would draw give the same model.
    kernel, gamma, degree, coef0, C, loss, costs, random_state, tol, max_iter
        As for `RankSVM`.

    Examples
    --------
    >>> from rankviz.datasets.plane import make_plane
    >>> from rankviz.whatif.given import LandmarkRankSVM
    >>> data = make_plane("ring")
    >>> model = LandmarkRankSVM([[0.0, 0.0]], gamma=2.0).fit(data.X, data.y, qid=data.qid)
    >>> bool(model.predict([[0.0, 0.0]])[0] < model.predict([[0.9, 0.0]])[0])
    True
    """

    def __init__(
        self,
        points: ArrayLike = ((0.0,),),
        kernel: str = "rbf",
        gamma: float | str = "scale",
        C: float = 2.0**-7,
        loss: str = "squared_hinge",
        random_state: int | np.random.RandomState | None = 0,
        tol: float = 1e-6,
        max_iter: int | None = None,
        costs: ArrayLike = None,  # type: ignore[assignment]
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        super().__init__(
            "nystroem",
            kernel=kernel,
            gamma=gamma,
            C=C,
            loss=loss,
            random_state=random_state,
            tol=tol,
            max_iter=max_iter,
            costs=costs,
            degree=degree,
            coef0=coef0,
        )
        self.points = points

    def training(
        self,
        data: RankingData,
        report: Report = silent,
        *,
        keep_arguments: bool = False,
        weights: FloatArray | None = None,
    ) -> Training:
        """Return the training, as for `RankSVM`; raise `SettingError` for points of another dimension."""
        self.n_components = len(self._landmarks(data.n_features))
        return super().training(data, report, keep_arguments=keep_arguments, weights=weights)

    def unfitted_map(self, gamma: float, seed: int) -> GivenLandmarks:
        """Return the Nyström map of the points."""
        return GivenLandmarks(np.asarray(self.points, float), needed(self.kernel_at(gamma)))

    def _landmarks(self, d: int) -> FloatArray:
        points = np.asarray(self.points, float)
        if points.ndim != 2 or points.shape[1] != d or len(points) == 0 or not np.isfinite(points).all():
            raise SettingError(
                f"points of shape {points.shape} must be finite numbers, one row of {d} for each landmark"
            )
        return points
