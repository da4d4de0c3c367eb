"""Contribution of each landmark to f(A) − f(B)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData, require_data
from rankviz.models.ranker import Ranker
from rankviz.whatif.documents import fitted, one_pair


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
    >>> from rankviz.whatif.landmarks import landmark_shares
    >>> train = load_demo().train
    >>> model = RankSVM("nystroem", n_components=50).fit_data(train)
    >>> table = landmark_shares(model, train.X[0], train.X[1], train)
    >>> len(table), bool((table["document"] >= 0).all())
    (50, True)
    """
    require_data(train, "Give the data that the model was trained on.")
    fitted(model)
    expansion = model.expansion()
    a, b = one_pair(model, A, B)
    near = expansion.kernel.matrix(np.stack((a, b)), expansion.documents)
    share = expansion.coefficients * (near[0] - near[1])
    document, alike = _places(expansion.documents, train.X)
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


def _places(landmarks: FloatArray, X: FloatArray) -> tuple[IntArray, IntArray]:
    """Return for each landmark the first equal row of X (-1 without one), and the number of equal rows."""
    rows: dict[bytes, list[int]] = {row.tobytes(): [] for row in landmarks + 0.0}  # −0.0 is 0.0
    for i, row in enumerate(X):
        found = rows.get((row + 0.0).tobytes())
        if found is not None:
            found.append(i)
    same = [rows[row.tobytes()] for row in landmarks + 0.0]
    first = np.array([found[0] if found else -1 for found in same], np.int64)
    return first, np.array([len(found) for found in same], np.int64)
