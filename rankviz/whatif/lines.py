"""The margin of two documents along one feature of the first, as a function of its values.

Of a model whose scores are sums of products of functions of single features,

    f(A with A_j = x) − f(B) = Re Σ_i c_i Π_{l≠j} k_il(A_l) · k_ij(x) − f(B),

only the last factor moves: a value takes one function of a term, not a score of a document.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import silent
from rankviz.features.forms import ProductForm
from rankviz.models.ranker import Ranker

Margin = Callable[[FloatArray], FloatArray]
"""Of values (s,) of a feature -> (s,)."""
ENTRIES = 500_000
"""Factors that stand in memory at a time: values · terms."""


def lines_of(model: Ranker, a: FloatArray, b: FloatArray) -> Callable[[int], Margin]:
    """What gives the margin of documents a and b (d,) along a feature of a, for any fitted ranker."""
    other, form = float(model.scores(b[None], silent)[0]), _products_of(model)
    if form is None:
        return lambda feature: _by_scores(model, a, other, feature)
    with np.errstate(under="ignore"):
        factors = form.factors(a, slice(None))
    return lambda feature: _by_products(form, factors, other, feature)


def _products_of(model: Ranker) -> ProductForm | None:
    """The scores as sums of products; None of a model that has none."""
    try:
        form = model.form()
    except SettingError:
        return None
    return form if isinstance(form, ProductForm) else None


def _by_scores(model: Ranker, a: FloatArray, other: float, feature: int) -> Margin:
    def margin(values: FloatArray) -> FloatArray:
        rows = np.repeat(a[None], len(values), axis=0)
        rows[:, feature] = values
        found: FloatArray = model.scores(rows, silent) - other
        return found

    return margin


def _by_products(form: ProductForm, factors: np.ndarray, other: float, feature: int) -> Margin:
    """Factors (m, d) are those of a; the one of the feature is left out, for a division would fail at 0."""
    with np.errstate(under="ignore"):
        weights = form.coefficients * np.delete(factors, feature, axis=1).prod(axis=1)

    def margin(values: FloatArray) -> FloatArray:
        found, step = np.full(len(values), -other), max(1, ENTRIES // max(len(values), 1))
        for start in range(0, len(weights), step):
            terms = slice(start, start + step)
            found += (form.factor(values, feature, terms) @ weights[terms]).real
        return found

    return margin
