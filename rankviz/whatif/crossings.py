"""Swaps of two documents: values of one feature of A at which the scores of A and B are equal.

For a model whose scores are sums of products of functions of single features,

    f(A with A_j = x) − f(B) = Re Σ_i c_i Π_{l≠j} k_il(A_l) · k_ij(x) − f(B),

only the last factor changes: each value needs one function per term, not a new score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.parallel import single_blas
from rankviz.common.progress import silent
from rankviz.common.settings import as_float
from rankviz.features.kernel_base import Smooth, Straight, Tents
from rankviz.features.maps import ProductForm
from rankviz.models.ranker import Ranker, check_width, features_of
from rankviz.whatif.explanations import check_feature, check_model_fitted, column_of, form_of, one_pair
from rankviz.whatif.scan_grid import (
    Line,
    Margin,
    ScanGrid,
    scanned_line,
    smooth_line,
    straight_line,
    tents_line,
)

LINE_ENTRIES = 500_000
"""Largest number of factors in memory: values · terms."""


def lines_of(model: Ranker, a: FloatArray, b: FloatArray) -> Callable[[int], Line]:
    """Return a function from a feature of a to the line of documents a and b (d,), for any fitted ranker."""
    other, form = float(model.scores(b[None], silent)[0]), form_of(model)
    if isinstance(form, ProductForm):
        with np.errstate(under="ignore"):
            factors = form.factors(a, slice(None))
        return lambda feature: _by_products(form, factors, other, feature)

    def by_scores(feature: int) -> Line:
        profile = None if form is None or form.profile is None else form.profile(feature)
        make = straight_line if isinstance(profile, Straight) else scanned_line
        return make(_by_scores(model, a, other, feature))

    return by_scores


def _by_scores(model: Ranker, a: FloatArray, other: float, feature: int) -> Margin:
    def margin(values: FloatArray) -> FloatArray:
        rows = np.repeat(a[None], len(values), axis=0)
        rows[:, feature] = values
        found: FloatArray = model.scores(rows, silent) - other
        return found

    return margin


def _by_products(form: ProductForm, factors: np.ndarray, other: float, feature: int) -> Line:
    """Return the line; `factors` (m, d) are those of a. One factor is omitted, as division could be by 0."""
    with np.errstate(under="ignore"):
        weights = form.coefficients * np.delete(factors, feature, axis=1).prod(axis=1)

    def sums(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        found, sizes = np.full(len(values), -other), np.full(len(values), abs(other))
        step = max(1, LINE_ENTRIES // max(len(values), 1))
        for start in range(0, len(weights), step):
            terms = slice(start, start + step)
            kernels = form.factor(values, feature, terms)
            found += (kernels @ weights[terms]).real
            largest = np.abs(weights[terms])  # for waves, whose absolute value is 1
            sizes += largest.sum() if np.iscomplexobj(kernels) else np.abs(kernels) @ largest
        return found, sizes

    def margin(values: FloatArray) -> FloatArray:
        return sums(values)[0]

    match None if form.profile is None else form.profile(feature):
        case Smooth() as profile:
            return smooth_line(sums, weights, profile, other)
        case Tents() as profile:
            return tents_line(margin, weights, profile, other)
        case _:
            return scanned_line(margin)


@dataclass(frozen=True)
class Swap:
    """The smallest change of one feature of A that swaps A and B.

    Attributes
    ----------
    feature : int
        Column of the feature.
    value : float
        Value at which both scores are equal.
    change : float
        This value minus A's.
    spreads : float
        |change| in standard deviations of the feature over the data.
    step : float
        0 if no smaller change swaps them. Otherwise a smaller one may be missed: some feature was checked
        only at values this many of its standard deviations apart.
    """

    feature: int
    value: float
    change: float
    spreads: float
    step: float = 0.0


@dataclass(frozen=True, eq=False)
class Crossings:
    """Values of a feature at which two documents swap.

    Attributes
    ----------
    values : (k,) float64
        Ascending.
    step : float
        0 if these are all. Otherwise two crossings may be missed between values this far apart.
    """

    values: FloatArray
    step: float


@dataclass(frozen=True, eq=False)
class Swaps:
    """The nearest swap along every feature that has one.

    Attributes
    ----------
    found : list of Swap
        Smallest change first.
    step : float
        As in `Swap`; it holds for an empty result too.
    """

    found: list[Swap]
    step: float


def margin_along(model: Ranker, A: ArrayLike, B: ArrayLike, feature: int, values: ArrayLike) -> FloatArray:
    """Return f(A with each of these values of a feature) − f(B): documents (d,), values (s,) -> (s,)."""
    check_model_fitted(model)
    a, b = one_pair(model, A, B)
    check_feature(feature, len(a))
    return lines_of(model, a, b)(feature).margin(column_of(values))


def crossings(
    model: Ranker, A: ArrayLike, B: ArrayLike, feature: int, within: tuple[float, float]
) -> FloatArray:
    """Return all values of a feature of A, ascending within (low, high), at which A and B swap.

    Works for any ranker. None is missed if scores are known functions of single features, as with the RBF,
    Laplacian or linear kernel on any map (see `rankviz.whatif.scan_grid`), unless the range has too many
    waves. For other rankers, two crossings between neighbours of 200 values may be missed. `crossings_seen`
    reports the case. If scores are equal on an interval, up to rounding, its middle is returned. Raises
    `SettingError` for an invalid feature or range, `DataError` for documents that do not fit.

    Examples
    --------
    >>> from rankviz import RankSVM, crossings
    >>> model = RankSVM(C=1.0).fit([[1.0, 0.0], [0.0, 0.0]], [1, 0], qid=[1, 1])
    >>> crossings(model, [0.5, 0.0], [0.25, 0.0], feature=0, within=(0.0, 1.0)).round(6).tolist()
    [0.25]
    """
    return crossings_seen(model, A, B, feature, within).values


def crossings_seen(
    model: Ranker, A: ArrayLike, B: ArrayLike, feature: int, within: tuple[float, float]
) -> Crossings:
    """Return the same, and whether these are all."""
    check_model_fitted(model)
    a, b = one_pair(model, A, B)
    check_feature(feature, len(a))
    ends = [as_float(end) for end in within] if isinstance(within, Sequence | np.ndarray) else []
    if len(ends) != 2 or not -math.inf < ends[0] <= ends[1] < math.inf:
        raise SettingError(f"within={within!r} must be two finite numbers, the smaller one first")
    low, high = ends
    with single_blas():  # its products are small: threads would wait for each other
        line = lines_of(model, a, b)(feature)
        look = line.look(low, high)
        return Crossings(_crossings(line, look), look.step)


def swaps(model: Ranker, A: ArrayLike, B: ArrayLike, X: ArrayLike) -> Swaps:
    """Return the nearest crossing along every feature, and whether a nearer one may be missed.

    Features stay within their range over documents X (n, d); changes are in standard deviations over X.
    """
    check_model_fitted(model)
    a, b = one_pair(model, A, B)
    data = features_of(X)
    check_width(model, data)
    if len(data) == 0:
        raise DataError("no documents", expected="data that define ranges", remedy="Pass the data shown.")
    low, high, spread = data.min(axis=0), data.max(axis=0), data.std(axis=0)
    found, step = list[Swap](), 0.0
    with single_blas():
        along = lines_of(model, a, b)
        for feature in np.flatnonzero(high > low).tolist():
            ends = float(low[feature]), float(high[feature])
            values, apart = _nearest(along(feature), float(a[feature]), *ends)
            step = max(step, apart / float(spread[feature]))
            if len(values):
                value = float(values[np.abs(values - a[feature]).argmin()])
                change = value - float(a[feature])
                found.append(Swap(feature, value, change, abs(change) / float(spread[feature])))
    found = [replace(swap, step=step) for swap in sorted(found, key=lambda swap: swap.spreads)]
    return Swaps(found, step)


def smallest_swap(model: Ranker, A: ArrayLike, B: ArrayLike, X: ArrayLike) -> Swap | None:
    """Return the smallest change of a single feature that swaps A and B, in standard deviations, or None.

    Its `step` is 0 if no smaller change does. `swaps` returns the nearest swap along every feature, and its
    precision even if nothing was found. Raises like `crossings`.

    Examples
    --------
    >>> from rankviz import RankSVM, smallest_swap
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]
    >>> model = RankSVM(C=1.0).fit(X, [2, 0, 1], qid=[1, 1, 1])
    >>> swap = smallest_swap(model, X[0], X[2], X)
    >>> swap.feature, round(swap.value, 6)
    (0, 0.5)
    """
    return next(iter(swaps(model, A, B, X).found), None)


def _nearest(line: Line, own: float, low: float, high: float) -> tuple[FloatArray, float]:
    """Return the crossings nearest to a value, and the step of the search that found them."""
    start, reach = min(max(own, low), high), line.reach
    while True:
        left, right = max(low, start - reach), min(high, start + reach)
        look = line.look(left, right)
        found = _crossings(line, look, own)
        if (left, right) == (low, high) or (len(found) and look.step == 0.0):
            return found, look.step
        reach = 4 * reach if look.step == 0.0 else math.inf


def _crossings(line: Line, look: ScanGrid, own: float | None = None) -> FloatArray:
    """Return all crossings of a look, ascending; or a few, including the nearest to a value."""
    signed = np.flatnonzero(look.margins)  # equal scores have no sign
    above = look.margins[signed] > 0
    turned = np.flatnonzero(above[1:] != above[:-1])
    pairs = np.column_stack((signed[turned], signed[turned + 1]))
    if own is not None:
        ends = look.values[pairs]
        pairs = pairs[np.maximum(ends[:, 0] - own, own - ends[:, 1]).argsort(kind="stable")[:3]]
    return np.array([_zero(line.margin, look, *pair) for pair in pairs.tolist()], np.float64)


def _zero(margin: Margin, look: ScanGrid, left: int, right: int) -> float:
    """Return the zero between two values of a look; the middle if all values between have margin 0."""
    if right > left + 1:
        return float((look.values[left + 1] + look.values[right - 1]) / 2)
    return _between(margin, {float(look.values[i]): float(look.margins[i]) for i in (left, right)})


def _between(margin: Margin, ends: dict[float, float]) -> float:
    """Return the zero between two ends; reuse their margins, which might round differently."""
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
