"""Exact share of every feature in f(A) − f(B): the reasons why A ranks above B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Callback, Progress, reporter, silent
from rankviz.common.threads import single_blas
from rankviz.models.ranker import Ranker
from rankviz.whatif.documents import fitted, pairs_of
from rankviz.whatif.products import shapley_values


@dataclass(frozen=True, eq=False)
class MarginExplanation:
    """Shares of features in the margin f(A) − f(B) of a pair, or of several.

    Attributes
    ----------
    values : (d,) or (p, d) float64
        Shapley values with B as baseline: a feature's mean effect when it changes from B's value to A's, over
        all orders of changing the features. They explain the model, not the world. Redundant features share
        their effect.
    margin : () or (p,) float64
        f(A) − f(B) by the model's scores.
    """

    values: FloatArray
    margin: FloatArray

    @property
    def rest(self) -> FloatArray:
        """The margin minus the values, () or (p,): rounding."""
        left: FloatArray = self.margin - self.values.sum(axis=-1)
        return left


def explain_margin(
    model: Ranker, A: ArrayLike, B: ArrayLike, *, callback: Callback | None = None
) -> MarginExplanation:
    """Compute exact Shapley values of the features in f(A) − f(B), for documents (d,) or pairs (p, d).

    The model's scores must be sums, or sums of products, of functions of single features: any feature map
    with the RBF, Laplacian or linear kernel. Raises `SettingError` with a reason for others, `DataError` for
    documents that do not fit each other or the model. `callback` gets the finished share of pairs; returning
    True raises `StopRequested`.

    Examples
    --------
    >>> from rankviz import RankSVM, explain_margin, load_demo
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> order = model.predict(train.X[train.query_slice(0)]).argsort()[::-1]
    >>> first, second = train.X[train.query_slice(0)][order[:2]]
    >>> why = explain_margin(model, first, second)
    >>> bool(abs(why.values.sum() - why.margin) < 1e-9), bool(why.margin > 0)
    (True, True)
    """
    fitted(model)
    form = model.form()
    a, b = pairs_of(model, A, B)
    report, values = reporter(callback), np.empty(a.shape)
    with single_blas():  # its products are small: threads would wait for each other
        for i in range(len(a)):
            values[i] = shapley_values(form, a[i], b[i])
            report(Progress("explain", (i + 1) / len(a)))
    margin = model.scores(a, silent) - model.scores(b, silent)
    return MarginExplanation(values, margin) if np.ndim(A) == 2 else MarginExplanation(values[0], margin[0])
