"""The two values everything else works on: one part of a data set, and a fold of three parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankviz._typing import FloatArray, IntArray


class DataError(ValueError):
    """Data that cannot be used: which file and line, what was read, what was expected, what to do.

    Attributes
    ----------
    path : str or None
        The file (or folder) at fault, None for data that never was a file.
    line : int or None
        Its line, counted from 1; None where no single line is at fault.
    found, expected, remedy : str
        What was read, what should have been there, and what the user can do about it.
    """

    def __init__(
        self,
        found: str,
        *,
        expected: str,
        remedy: str,
        path: object | None = None,
        line: int | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        self.found, self.expected, self.remedy = found, expected, remedy
        where = "" if self.path is None else f"{self.path}, " if line is not None else f"{self.path}: "
        where += "" if line is None else f"line {line}: "
        super().__init__(f"{where}{found}. Expected: {expected}. {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes, which the keyword-only constructor would not."""
        return _rebuild_error, (self.found, self.expected, self.remedy, self.path, self.line)


def _rebuild_error(found: str, expected: str, remedy: str, path: str | None, line: int | None) -> DataError:
    return DataError(found, expected=expected, remedy=remedy, path=path, line=line)


class DataWarning(UserWarning):
    """Data that was used after a repair worth knowing about (regrouped queries, padded features)."""


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
        X_, y_, qid_ = _checked(X, y, qid, name)
        order, ptr, ids = group_queries(qid_)
        docs = None if document_ids is None else np.asarray(document_ids, dtype=np.str_)
        names = None if feature_names is None else tuple(feature_names)
        if docs is not None and docs.shape != y_.shape:
            raise _mismatch("document ids", len(docs), "documents", len(y_), name)
        if names is not None and len(names) != X_.shape[1]:
            raise _mismatch("feature names", len(names), "features", X_.shape[1], name)
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


def _mismatch(a: str, n_a: int, b: str, n_b: int, name: str) -> DataError:
    return DataError(
        f"{n_a} {a} for {n_b} {b}",
        expected=f"one of the {a} for each of the {b}",
        remedy="Check that the arrays belong together.",
        path=name or None,
    )


def _checked(X: ArrayLike, y: ArrayLike, qid: ArrayLike, name: str) -> tuple[FloatArray, IntArray, IntArray]:
    """Turn array-likes into float64 features and integer grades and query ids, or raise `DataError`."""
    try:
        X_ = np.ascontiguousarray(X, dtype=np.float64)
        y_, qid_ = np.asarray(y), np.asarray(qid)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"features that are not numbers ({error})",
            expected="a numeric matrix with one row per document",
            remedy="Convert the features to numbers first.",
            path=name or None,
        ) from error
    if X_.ndim != 2:
        raise DataError(
            f"features of shape {X_.shape}",
            expected="a matrix (documents, features)",
            remedy="Reshape the features to two dimensions.",
            path=name or None,
        )
    for what, array in (("grades", y_), ("query ids", qid_)):
        if array.shape != (len(X_),):
            raise _mismatch(what, array.size, "documents", len(X_), name)
    if not np.isfinite(X_).all():
        row, column = (int(v) for v in np.argwhere(~np.isfinite(X_))[0])
        raise DataError(
            f"feature {column + 1} of document {row + 1} is {X_[row, column]}",
            expected="finite features",
            remedy="Fill or drop missing values first.",
            path=name or None,
        )
    return X_, _integers(y_, "grade", name, minimum=0), _integers(qid_, "query id", name, minimum=None)


def _integers(values: NDArray[np.generic], what: str, name: str, minimum: int | None) -> IntArray:
    """Whole numbers as int64, whatever numeric type they came in."""
    bad: NDArray[np.bool_] | None = None
    if values.dtype.kind in "iub":
        out = values.astype(np.int64)
    elif values.dtype.kind == "f":
        bad = ~np.isfinite(values) | (values != np.trunc(values))
        out = np.where(bad, 0, values).astype(np.int64)
    else:
        raise DataError(
            f"a {what} of type {values.dtype}",
            expected=f"every {what} to be a whole number",
            remedy=f"Number the {what}s first.",
            path=name or None,
        )
    if minimum is not None:
        low = out < minimum
        bad = low if bad is None else bad | low
    if bad is not None and bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{what} {values[at]} for document {at + 1}",
            expected=f"a whole number{'' if minimum is None else f' ≥ {minimum}'}",
            remedy="Check the label column; relevance grades count 0, 1, 2, …",
            path=name or None,
        )
    return out
