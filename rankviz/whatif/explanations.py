"""Reasons why A ranks above B: shares of features, exact or sampled, and of landmarks in f(A) − f(B).

In the game f(A) − f(B), a feature that is "on" has A's value, one that is "off" has B's. With f(x) =
Re Σ_i c_i Π_l k_il(x_l), the mean over all orders of switching features on (the Shapley value) is an integral

    v_j = Re Σ_i c_i (k_ij(A_j) − k_ij(B_j)) ∫₀¹ Π_{l≠j} [(1 − t) k_il(B_l) + t k_il(A_l)] dt

of a polynomial in t. Its degree is one less than the number d of features that differ, so ⌈d/2⌉
Gauss–Legendre nodes are exact. The product without factor j is the product of all factors before it, times
all after it. Division would fail if factors vanish or underflow.

A leaf of a tree is a product too: of indicators that x_l is in an interval. If p of its features are inside
with A's value only, and q with B's only, then v_j = ± c (p − 1)! q!/(p + q)! or p! (q − 1)!/(p + q)!, and 0
for others (lundberg2020, with B as the only background). Other scores are switched on in random orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln
from sklearn.utils.validation import check_is_fitted

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.parallel import single_blas
from rankviz.common.progress import Callback, Progress, reporter, silent
from rankviz.common.settings import Whole, instance
from rankviz.datasets.types import RankingData, require_data
from rankviz.features.maps import BoxForm, Form, ProductForm, SumForm
from rankviz.models.ranker import Ranker, check_width, features_of

ORDERS = 200
"""Random orders of features, where values are sampled."""
SAMPLED_ENTRIES = 4_000_000
"""Numbers of documents in memory, where values are sampled."""
SHAPLEY_ENTRIES = 300_000
"""Number of products in memory: features · nodes · terms, about the size of outer caches."""


def shapley_values(form: Form, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Shapley values (d,) of the features of a and b (d,) in f(a) − f(b); 0 where they are equal."""
    values, moved = np.zeros(len(a)), np.flatnonzero(a != b)
    if isinstance(form, SumForm):
        values[moved] = form.differences(a, b)[moved]
    elif isinstance(form, BoxForm):
        values = _of_boxes(form, a, b)
    elif len(moved):
        values[moved] = _of_products(form, a, b, moved)
    return values


def _of_boxes(form: BoxForm, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the values (d,) of the features of a and b in sums of boxes."""
    on, off, m = form.inside(a), form.inside(b), len(form.coefficients)
    p, q = (np.bincount(form.box, one, m)[form.box] for one in (on & ~off, off & ~on))
    never = np.bincount(form.box, ~(on | off), m)[form.box] > 0
    matters = (on != off) & ~never
    p, q, on, c = p[matters], q[matters], on[matters], form.coefficients[form.box[matters]]
    share = np.exp(betaln(np.where(on, p, p + 1.0), np.where(on, q + 1.0, q)))  # (p − 1)! q!/(p + q)!
    return np.bincount(form.feature[matters], np.where(on, c, -c) * share, len(a)).astype(np.float64)


def sampled_shares(
    model: Ranker, a: FloatArray, b: FloatArray, orders: int, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return means and standard errors (d,) of the effects of switching features on in random orders."""
    rng, moved = np.random.default_rng(seed), np.flatnonzero(a != b)
    effects, k = np.zeros((orders, len(a))), len(moved)
    step = max(1, SAMPLED_ENTRIES // ((k + 1) * len(a)))
    for start in range(0, orders, step):
        order = rng.permuted(np.tile(moved, (min(step, orders - start), 1)), axis=1)
        rows = np.tile(b, (len(order), k + 1, 1))
        at = np.arange(len(order))
        for i in range(k):
            rows[:, i + 1] = rows[:, i]
            rows[at, i + 1, order[:, i]] = a[order[:, i]]
        scores = model.scores(rows.reshape(-1, len(a)), silent).reshape(len(order), k + 1)
        effects[start + at[:, None], order] = np.diff(scores, axis=1)
    return effects.mean(axis=0), effects.std(axis=0, ddof=1) / math.sqrt(orders)


def _of_products(form: ProductForm, a: FloatArray, b: FloatArray, moved: NDArray[np.intp]) -> FloatArray:
    nodes, weights = _rule((len(moved) + 1) // 2)
    step = max(1, SHAPLEY_ENTRIES // (len(nodes) * len(moved)))
    kept = np.setdiff1d(np.arange(len(a)), moved)
    values = np.zeros(len(moved))
    with np.errstate(under="ignore"):
        for start in range(0, len(form.coefficients), step):
            terms = slice(start, start + step)
            on, off = form.factors(a, terms), form.factors(b, terms)
            c = form.coefficients[terms] * off[:, kept].prod(axis=1)
            values += _of_terms(c, on[:, moved].T, off[:, moved].T, nodes, weights)
    return values


def _of_terms(
    c: NDArray[Any], on: NDArray[Any], off: NDArray[Any], nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return values (d,) from terms (m,) with factors (d, m), by products at the nodes."""
    t = nodes[:, None]
    between = (1 - t) * off[:, None, :] + t * on[:, None, :]
    before = np.empty_like(between)  # [j]: the product of all factors before the j-th
    before[0] = 1.0
    for j in range(len(on) - 1):
        np.multiply(before[j], between[j], out=before[j + 1])
    after, values = np.ones_like(between[0]), np.empty(len(on))
    for j in reversed(range(len(on))):
        before[j] *= after
        values[j] = ((weights @ before[j]) @ (c * (on[j] - off[j]))).real
        after *= between[j]
    return values


@cache
def _rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Return the n Gauss–Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


def pairs_of(model: Ranker, A: ArrayLike, B: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return documents (p, d) each, of one pair or of p; `DataError` if they do not fit the model.

    Column names are not checked, because a row of a table has none.
    """
    shapes = np.shape(A), np.shape(B)
    if shapes[0] != shapes[1] or len(shapes[0]) not in (1, 2):
        raise DataError(
            f"documents A of shape {shapes[0]} and B of shape {shapes[1]}",
            expected="two documents of d features each, or two tables (pairs, d) of the same shape",
            remedy="Pass X[i] and X[j], or X[above] and X[below].",
        )
    found = features_of(_as_rows(A)), features_of(_as_rows(B))
    for X in found:
        check_width(model, X)
    return found


def _as_rows(X: ArrayLike) -> ArrayLike:
    return np.reshape(X, (1, -1)) if np.ndim(X) == 1 else X


def column_of(values: ArrayLike) -> FloatArray:
    """Return values of one feature, (s,) float64; `DataError` for an invalid array."""
    if np.ndim(values) != 1:
        raise DataError(
            f"values of shape {np.shape(values)}",
            expected="a list of values of one feature",
            remedy="Pass one-dimensional values.",
        )
    return features_of(np.reshape(values, (-1, 1)))[:, 0]


def one_pair(model: Ranker, A: ArrayLike, B: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two documents (d,); `DataError` for tables, and like `pairs_of`."""
    if np.ndim(A) != 1 or np.ndim(B) != 1:
        raise DataError(
            f"documents of shapes {np.shape(A)} and {np.shape(B)}",
            expected="two documents of d features each",
            remedy="Pass one pair at a time, X[i] and X[j].",
        )
    a, b = pairs_of(model, A, B)
    return a[0], b[0]


def check_feature(feature: int, d: int) -> None:
    """Raise `SettingError` for an invalid number of a feature."""
    Whole(0, d - 1).check("feature", feature)


def check_model_fitted(model: Ranker) -> None:
    """Raise `SettingError` unless `model` is a ranker, scikit-learn's `NotFittedError` before training."""
    instance("model", model, Ranker, "a ranker of rankviz, such as RankSVM")
    check_is_fitted(model, "n_features_in_")


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
    error : like values, or None
        Standard errors of sampled values; None for exact ones.
    orders : int
        Random orders of sampled values; 0 for exact ones.
    """

    values: FloatArray
    margin: FloatArray
    error: FloatArray | None = None
    orders: int = 0

    @property
    def rest(self) -> FloatArray:
        """The margin minus the values, () or (p,): rounding."""
        left: FloatArray = self.margin - self.values.sum(axis=-1)
        return left


def explain_margin(
    model: Ranker,
    A: ArrayLike,
    B: ArrayLike,
    *,
    orders: int = ORDERS,
    seed: int = 0,
    callback: Callback | None = None,
) -> MarginExplanation:
    """Compute Shapley values of the features in f(A) − f(B), for documents (d,) or pairs (p, d).

    They are exact for scores that are sums, or sums of products, of functions of single features: trees, and
    any feature map with the RBF, Laplacian or linear kernel. For others they are means over `orders` random
    orders of the features, with standard errors. `DataError` for
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
    check_model_fitted(model)
    Whole(2).check("orders", orders)
    form = form_of(model)
    a, b = pairs_of(model, A, B)
    report, values, error = reporter(callback), np.empty(a.shape), np.zeros(a.shape)
    with single_blas():  # its products are small: threads would wait for each other
        for i in range(len(a)):
            if form is None:
                values[i], error[i] = sampled_shares(model, a[i], b[i], orders, seed)
            else:
                values[i] = shapley_values(form, a[i], b[i])
            report(Progress("explain", (i + 1) / len(a)))
    margin, one = model.scores(a, silent) - model.scores(b, silent), slice(None) if np.ndim(A) == 2 else 0
    if form is not None:
        return MarginExplanation(values[one], margin[one])
    return MarginExplanation(values[one], margin[one], error[one], orders)


def form_of(model: Ranker) -> Form | None:
    """Return the scores as functions of single features; None if the model has no such form."""
    try:
        return model.form()
    except SettingError:
        return None


def landmark_shares(model: Ranker, A: ArrayLike, B: ArrayLike, train: RankingData) -> pd.DataFrame:
    """Return each landmark's share of f(A) − f(B): its coefficient times κ(A, z) − κ(B, z), largest first.

    Rows have the `landmark` (its number), its `share`, `coefficient`, κ with both documents as `near_A` and
    `near_B`, and the equal training `document` (the first such row of `train`), with `query`, `grade` and the
    number of equal documents, `alike`: -1, None, -1 and 0 if `train` has none. With the exact kernel every
    training document is a landmark. Raises `SettingError` for a model whose scores are not sums of kernel
    values, `DataError` for documents that do not fit.

    Examples
    --------
    >>> from rankviz import RankSVM, load_demo
    >>> from rankviz.whatif.explanations import landmark_shares
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> table = landmark_shares(model, train.X[0], train.X[1], train)
    >>> len(table), bool((table["document"] >= 0).all())
    (50, True)
    """
    require_data(train, "Give the data that the model was trained on.")
    check_model_fitted(model)
    expansion = model.expansion()
    a, b = one_pair(model, A, B)
    near = expansion.kernel.matrix(np.stack((a, b)), expansion.documents)
    share = expansion.coefficients * (near[0] - near[1])
    document, alike = _equal_rows(expansion.documents, train.X)
    known = document >= 0
    table = pd.DataFrame(
        {
            "landmark": np.arange(len(share)),
            "share": share,
            "coefficient": expansion.coefficients,
            "near_A": near[0],
            "near_B": near[1],
            "document": document,
            "query": [train.query_of(i) if i >= 0 else None for i in document.tolist()],
            "grade": np.where(known, train.y[document] if train.n_documents else -1, -1),
            "alike": alike,
        }
    )
    order = np.argsort(-np.abs(share), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def alike_together(table: pd.DataFrame) -> pd.DataFrame:
    """Merge landmarks with the same features in a table of `landmark_shares`, largest share first.

    Their shares and coefficients are added, because scores cannot separate them. Landmarks outside `train`
    stay separate.
    """
    known, other = table[table["document"] >= 0], table[table["document"] < 0]
    sums = known.groupby("document", sort=False)[["share", "coefficient"]].sum()
    first = known.drop_duplicates("document").drop(columns=["share", "coefficient"])
    found = pd.concat((first.join(sums, on="document"), other))[table.columns]
    return found.sort_values("share", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def _equal_rows(landmarks: FloatArray, X: FloatArray) -> tuple[IntArray, IntArray]:
    """Return for each landmark the first equal row of X (-1 without one), and the number of equal rows."""
    rows: dict[bytes, list[int]] = {row.tobytes(): [] for row in landmarks + 0.0}  # −0.0 is 0.0
    for i, row in enumerate(X):
        found = rows.get((row + 0.0).tobytes())
        if found is not None:
            found.append(i)
    same = [rows[row.tobytes()] for row in landmarks + 0.0]
    first = np.array([found[0] if found else -1 for found in same], np.int64)
    return first, np.array([len(found) for found in same], np.int64)
