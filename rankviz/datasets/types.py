"""The two values everything else works on: one part of a data set, and a fold of three parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.array_checks import checked, mismatch

__all__ = ["DataError", "DataWarning", "Fold", "RankingData", "group_queries"]


@dataclass(frozen=True, eq=False)
class RankingData:
    """Documents of queries with relevance grades; documents of one query are contiguous.

    Build it with :meth:`from_arrays`, which checks, regroups and freezes.

    Attributes
    ----------
    X : (n, d) float64
        Features, one row per document.
    y : (n,) int64
        Relevance grades, ≥ 0; larger is more relevant.
    ptr : (Q + 1,) int64
        Query offsets: query q owns documents ptr[q]:ptr[q + 1]; no query is empty.
    query_ids : (Q,) int64
        The identifiers of the queries, in the order of `ptr`.
    document_ids : (n,) str or None
        Document identifiers where the file has them ('' for a line without one).
    feature_names : tuple of d str, or None
        Names of the features where they are known.
    rows : (n,) int64
        Position of each document among those of its file, so that scores can be written in file order.
    name : str
        What to call this part in messages and captions.

    Examples
    --------
    >>> from rankviz import RankingData
    >>> data = RankingData.from_arrays([[0.2], [0.5], [0.9]], y=[0, 1, 2], qid=[7, 8, 7])
    >>> data.n_queries, data.qid.tolist(), data.y.tolist()
    (2, [7, 7, 8], [0, 2, 1])
    >>> data.X[data.query_slice(1)].tolist()
    [[0.5]]
    """

    X: FloatArray
    y: IntArray
    ptr: IntArray
    query_ids: IntArray
    document_ids: NDArray[np.str_] | None = None
    feature_names: tuple[str, ...] | None = None
    rows: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    name: str = ""

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        document_ids: Sequence[str] | NDArray[np.str_] | None = None,
        feature_names: Sequence[str] | None = None,
        name: str = "",
    ) -> RankingData:
        """Build from arrays with one entry per document, regrouping documents of a query that stand apart.

        Queries keep the order in which they first appear, documents their order within the query.
        Raises `DataError` for shapes that do not match, non-finite features, or grades that are negative or
        fractional.
        """
        X_, y_, qid_ = checked(X, y, qid, name)
        order, ptr, ids = group_queries(qid_)
        docs = None if document_ids is None else np.asarray(document_ids, dtype=np.str_)
        names = None if feature_names is None else tuple(feature_names)
        if docs is not None and docs.shape != y_.shape:
            raise mismatch("document ids", len(docs), "documents", len(y_), name)
        if names is not None and len(names) != X_.shape[1]:
            raise mismatch("feature names", len(names), "features", X_.shape[1], name)
        if not np.array_equal(order, np.arange(len(order))):
            X_, y_ = X_[order], y_[order]
            docs = None if docs is None else docs[order]
        elif X_ is X:
            X_ = X_.copy()  # it is frozen below, and the caller's array must stay writable
        return cls(X_, y_, ptr, ids, docs, names, order, name)

    def __post_init__(self) -> None:
        """Make the arrays read-only: views of a frozen value must not be a way to change it."""
        if len(self.rows) != len(self.y):
            object.__setattr__(self, "rows", np.arange(len(self.y), dtype=np.int64))
        for array in (self.X, self.y, self.ptr, self.query_ids, self.document_ids, self.rows):
            if array is not None:
                array.setflags(write=False)

    @property
    def n_documents(self) -> int:
        """Number of documents n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    @property
    def n_queries(self) -> int:
        """Number of queries Q."""
        return len(self.ptr) - 1

    @cached_property
    def qid(self) -> IntArray:
        """Query identifier of each document, (n,) int64."""
        out = np.repeat(self.query_ids, np.diff(self.ptr))
        out.setflags(write=False)
        return out

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digest of features, grades and queries: equal exactly when the values are."""
        h = hashlib.blake2b(digest_size=16)
        for array in (self.X, self.y, self.ptr, self.query_ids):
            h.update(repr((array.dtype.str, array.shape)).encode())
            h.update(np.ascontiguousarray(array).data)
        return h.hexdigest()

    def renamed(
        self, name: str | None = None, *, feature_names: tuple[str, ...] | None = None
    ) -> RankingData:
        """Return the same data under another name or with other feature names; None keeps what there is.

        A digest already known is kept too, for names are not part of it.
        """
        other = replace(
            self,
            name=self.name if name is None else name,
            feature_names=self.feature_names if feature_names is None else feature_names,
        )
        if "digest" in vars(self):
            vars(other)["digest"] = self.digest
        return other

    def query_slice(self, index: int) -> slice:
        """Documents of the query at position `index`, as a slice of `X` and `y`."""
        return slice(int(self.ptr[index]), int(self.ptr[index + 1]))


@dataclass(frozen=True)
class Fold:
    """One fold of a data set: a part to train on, one to choose settings on, one to judge by.

    `vali` and `test` may be None only where a data set has fewer parts (a single uploaded file split in two).

    Examples
    --------
    >>> from rankviz import Fold
    >>> from rankviz.datasets import make_fold
    >>> fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    >>> [(name, part.n_queries) for name, part in fold.parts.items()]
    [('train', 12), ('vali', 4), ('test', 4)]
    >>> Fold(fold.train, fold.vali, fold.test, name="the same").digest == fold.digest
    True
    """

    train: RankingData
    vali: RankingData
    test: RankingData
    name: str = ""

    @property
    def parts(self) -> dict[str, RankingData]:
        """The parts by the names LETOR's files carry."""
        return {"train": self.train, "vali": self.vali, "test": self.test}

    @cached_property
    def digest(self) -> str:
        """Digest of the three parts together."""
        joined = "".join(part.digest for part in self.parts.values())
        return hashlib.blake2b(joined.encode(), digest_size=16).hexdigest()


def group_queries(qid: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Order that brings the documents of each query together, with offsets and query ids.

    Returns `order` (n,), `ptr` (Q + 1,) and `ids` (Q,); queries in order of first appearance, documents in
    their own order.
    """
    if len(qid) == 0:
        return np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    ids, first, inverse = np.unique(qid[starts], return_index=True, return_inverse=True)
    rank_of = np.empty(len(ids), np.int64)
    rank_of[np.argsort(first)] = np.arange(len(ids))
    runs = np.diff(np.append(starts, len(qid)))
    position = np.repeat(rank_of[inverse], runs)
    order = np.argsort(position, kind="stable").astype(np.int64)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(position, minlength=len(ids))))).astype(np.int64)
    return order, ptr, ids[np.argsort(first)].astype(np.int64)
