"""The margin of two documents along one feature of the first, as a function of its values.

For a model whose scores are sums of products of functions of single features,

    f(A with A_j = x) − f(B) = Re Σ_i c_i Π_{l≠j} k_il(A_l) · k_ij(x) − f(B),

only the last factor changes: each value needs one function per term, not a new score.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import silent
from rankviz.features.kernel_base import Smooth, Straight, Tents
from rankviz.features.maps import Form, ProductForm
from rankviz.models.ranker import Ranker
from rankviz.whatif.looks import Line, Margin, of_smooth, of_tents, scanned, straight

ENTRIES = 500_000
"""Largest number of factors in memory: values · terms."""


def lines_of(model: Ranker, a: FloatArray, b: FloatArray) -> Callable[[int], Line]:
    """Return a function from a feature of a to the line of documents a and b (d,), for any fitted ranker."""
    other, form = float(model.scores(b[None], silent)[0]), _form_of(model)
    if isinstance(form, ProductForm):
        with np.errstate(under="ignore"):
            factors = form.factors(a, slice(None))
        return lambda feature: _by_products(form, factors, other, feature)

    def by_scores(feature: int) -> Line:
        course = None if form is None or form.course is None else form.course(feature)
        make = straight if isinstance(course, Straight) else scanned
        return make(_by_scores(model, a, other, feature))

    return by_scores


def _form_of(model: Ranker) -> Form | None:
    """Return the scores as functions of single features; None if the model has no such form."""
    try:
        return model.form()
    except SettingError:
        return None


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
        step = max(1, ENTRIES // max(len(values), 1))
        for start in range(0, len(weights), step):
            terms = slice(start, start + step)
            kernels = form.factor(values, feature, terms)
            found += (kernels @ weights[terms]).real
            largest = np.abs(weights[terms])  # for waves, whose absolute value is 1
            sizes += largest.sum() if np.iscomplexobj(kernels) else np.abs(kernels) @ largest
        return found, sizes

    def margin(values: FloatArray) -> FloatArray:
        return sums(values)[0]

    match None if form.course is None else form.course(feature):
        case Smooth() as course:
            return of_smooth(sums, weights, course, other)
        case Tents() as course:
            return of_tents(margin, weights, course, other)
        case _:
            return scanned(margin)
