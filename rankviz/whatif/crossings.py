"""Where would two documents swap? Values of one feature of A at which the scores of A and B are equal."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.models.inputs import check_width, features_of
from rankviz.models.ranker import Ranker
from rankviz.whatif.documents import check_feature, one_pair
from rankviz.whatif.lines import Margin, lines_of

POINTS = 200
"""Values that are scanned: two crossings between neighbouring ones are not seen."""


@dataclass(frozen=True)
class Swap:
    """The smallest change of one feature of A that swaps A and B.

    Attributes
    ----------
    feature : int
        Its column.
    value : float
        At which their scores are equal.
    change : float
        That value less A's.
    spreads : float
        |change| in standard deviations of the feature over the data.
    """

    feature: int
    value: float
    change: float
    spreads: float


def margin_along(model: Ranker, A: ArrayLike, B: ArrayLike, feature: int, values: ArrayLike) -> FloatArray:
    """f(A with each of these values of a feature) − f(B): documents (d,), values (s,) -> (s,)."""
    check_is_fitted(model, "n_features_in_")
    a, b = one_pair(model, A, B)
    check_feature(feature, len(a))
    return lines_of(model, a, b)(feature)(np.asarray(values, np.float64))


def crossings(
    model: Ranker, A: ArrayLike, B: ArrayLike, feature: int, within: tuple[float, float]
) -> FloatArray:
    """All values of a feature of A, rising and within (low, high), at which A and B swap.

    For any ranker: the margin is scanned at `POINTS` values, and where its sign changes the value is found
    between them, so that two crossings closer than (high − low)/(POINTS − 1) may be missed. Where scores are
    equal over a stretch, as far as numbers tell, its middle is given. Raises `SettingError` for a feature or
    a range that is none, `DataError` for documents that do not fit.

    Examples
    --------
    >>> from rankviz import RankSVM, crossings
    >>> model = RankSVM(C=1.0).fit([[1.0, 0.0], [0.0, 0.0]], [1, 0], qid=[1, 1])
    >>> crossings(model, [0.5, 0.0], [0.25, 0.0], feature=0, within=(0.0, 1.0)).round(6).tolist()
    [0.25]
    """
    check_is_fitted(model, "n_features_in_")
    a, b = one_pair(model, A, B)
    check_feature(feature, len(a))
    low, high = map(float, within)
    if not low <= high or not np.isfinite([low, high]).all():
        raise SettingError(f"within=({low:g}, {high:g}) must be two finite numbers, the smaller one first")
    return _crossings(lines_of(model, a, b)(feature), low, high)


def swaps(model: Ranker, A: ArrayLike, B: ArrayLike, X: ArrayLike) -> list[Swap]:
    """The nearest crossing along every feature that has one, smallest change first.

    Features stay within their range over documents X (n, d), and changes are in their spreads there.
    """
    check_is_fitted(model, "n_features_in_")
    a, b = one_pair(model, A, B)
    data = features_of(X)
    check_width(model, data)
    if len(data) == 0:
        raise DataError("no documents", expected="data to take ranges from", remedy="Pass the data shown.")
    low, high, spread = data.min(axis=0), data.max(axis=0), data.std(axis=0)
    found, along = list[Swap](), lines_of(model, a, b)
    for feature in np.flatnonzero(high > low).tolist():
        values = _crossings(along(feature), float(low[feature]), float(high[feature]))
        if len(values):
            value = float(values[np.abs(values - a[feature]).argmin()])
            change = value - float(a[feature])
            found.append(Swap(feature, value, change, abs(change) / float(spread[feature])))
    return sorted(found, key=lambda swap: swap.spreads)


def smallest_swap(model: Ranker, A: ArrayLike, B: ArrayLike, X: ArrayLike) -> Swap | None:
    """The smallest change of a single feature that swaps A and B, in spreads; None where no feature does.

    See `swaps`.

    Examples
    --------
    >>> from rankviz import RankSVM, smallest_swap
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]
    >>> model = RankSVM(C=1.0).fit(X, [2, 0, 1], qid=[1, 1, 1])
    >>> swap = smallest_swap(model, X[0], X[2], X)
    >>> swap.feature, round(swap.value, 6)
    (0, 0.5)
    """
    return next(iter(swaps(model, A, B, X)), None)


def _crossings(margin: Margin, low: float, high: float) -> FloatArray:
    values = np.linspace(low, high, POINTS)
    seen = margin(values)
    signed = np.flatnonzero(seen).tolist()  # scores that are equal have no sign
    found = []
    for left, right in pairwise(signed):
        if (seen[left] > 0) != (seen[right] > 0):
            ends = {values[i]: seen[i] for i in (left, right)}
            found.append(_between(margin, ends) if right == left + 1 else _middle(values[left + 1 : right]))
    return np.array(found, np.float64)


def _middle(values: FloatArray) -> float:
    return float((values[0] + values[-1]) / 2)


def _between(margin: Margin, ends: dict[float, float]) -> float:
    """The zero between two ends, whose margins are not computed again: alone they may round otherwise."""
    low, high = ends
    precision = 4 * np.finfo(float).eps
    return float(
        brentq(
            lambda x: ends[x] if x in ends else float(margin(np.array([x]))[0]),
            low,
            high,
            xtol=precision * (high - low),
            rtol=precision,
        )
    )
