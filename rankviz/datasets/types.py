"""`RankingData`, one part of a data set, and `Fold`, three parts; both frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.array_checks import (
    Names,
    check_contiguous,
    dense_features,
    document_texts,
    grade_array,
    group_queries,
    mismatch,
    number_queries,
)

DIGEST_BYTES = 16
"""Length of a query's digest."""


@dataclass(frozen=True, eq=False)
class RankingData:
    """Documents of queries with relevance grades; documents of one query are contiguous.

    Build it with :meth:`from_arrays`, which checks and freezes.

    Attributes
    ----------
    X : (n, d) float64
        Features, one row per document.
    y : (n,) int64
        Relevance grades, ≥ 0; larger is more relevant.
    ptr : (Q + 1,) int64
        Query offsets: query q owns documents ptr[q]:ptr[q + 1]; no query is empty.
    query_ids : (Q,) int64
        Identifiers of the queries, in the order of `ptr`.
    document_ids : (n,) str or None
        Identifiers of the documents, '' for a line without one; None if the file has none.
    feature_names : tuple of d str, or None
        Names of the features, if known.
    rows : (n,) int64
        Position of each document in its file or arrays. It is `np.arange(n)` unless separated documents of a
        query were regrouped.
    name : str
        Name of this part in messages and captions.
    query_names : tuple of Q, or None
        Original ids of queries that are not whole numbers; `query_ids` then number them 0, 1, ….

    Examples
    --------
    >>> from rankviz import RankingData
    >>> data = RankingData.from_arrays([[0.2], [0.9], [0.5]], y=[0, 2, 1], qid=[7, 7, 8])
    >>> data
    <RankingData 3 documents, 2 queries, 1 feature>
    >>> data.n_queries, data.X[data.query_slice(0)].tolist()
    (2, [[0.2], [0.9]])
    >>> apart = RankingData.from_arrays([[0.2], [0.5], [0.9]], [0, 1, 2], ["a", "b", "a"], regroup=True)
    >>> apart.query_names, apart.y.tolist(), apart.rows.tolist()
    (('a', 'b'), [0, 2, 1], [0, 2, 1])
    """

    X: FloatArray
    y: IntArray
    ptr: IntArray
    query_ids: IntArray
    document_ids: NDArray[np.str_] | None = None
    feature_names: tuple[str, ...] | None = None
    rows: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    name: str = ""
    query_names: Names | None = None

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        regroup: bool = False,
        copy: bool = True,
        document_ids: Sequence[str] | NDArray[np.str_] | None = None,
        feature_names: Sequence[str] | None = None,
        name: str = "",
    ) -> RankingData:
        """Build from arrays with one entry per document; a sparse X becomes dense.

        Query ids are whole numbers, or texts or other objects of one type, which are numbered. `regroup=True`
        brings separated documents of a query together: queries keep the order of their first documents,
        documents their order within the query, and `rows` states the original positions. `copy=False` may
        refer to the memory of X, which must then not change.
        Raises `DataError` for separated documents without `regroup`, shapes that do not match, features that
        are not finite real numbers, negative or fractional grades, missing ids, and ids that a float type may
        have rounded.
        """
        X_ = dense_features(X, name)
        y_ = grade_array(y, len(X_), name)
        qid_, query_names = number_queries(qid, len(X_), name)
        order, ptr, ids = group_queries(qid_)
        docs = None if document_ids is None else document_texts(document_ids, name)
        names = None if feature_names is None else tuple(feature_names)
        if docs is not None and docs.shape != y_.shape:
            raise mismatch("document ids", len(docs), "documents", len(y_), name)
        if names is not None and len(names) != X_.shape[1]:
            raise mismatch("feature names", len(names), "features", X_.shape[1], name)
        if not np.array_equal(order, np.arange(len(order))):
            if not regroup:
                check_contiguous(qid_, query_names, name)
            X_, y_ = X_[order], y_[order]
            docs = None if docs is None else docs[order]
        elif X_ is X or not X_.flags.owndata:
            X_ = X_.copy() if copy else X_.view()  # frozen below; the caller's array stays writable
        return cls(X_, y_, ptr, ids, docs, names, order, name, query_names)

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        if len(self.rows) != len(self.y):
            object.__setattr__(self, "rows", np.arange(len(self.y), dtype=np.int64))
        for array in (self.X, self.y, self.ptr, self.query_ids, self.document_ids, self.rows):
            if array is not None:
                array.setflags(write=False)

    def __repr__(self) -> str:
        """Return name and counts instead of long arrays."""
        name = f"{self.name!r}: " if self.name else ""
        sizes = (self.n_documents, self.n_queries, self.n_features)
        one, more = ("document", "query", "feature"), ("documents", "queries", "features")
        counts = [f"{n:,} {a if n == 1 else b}" for n, a, b in zip(sizes, one, more, strict=True)]
        return f"<RankingData {name}{', '.join(counts)}>"

    @property
    def n_documents(self) -> int:
        """Return the number of documents n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Return the number of features d."""
        return int(self.X.shape[1])

    @property
    def n_queries(self) -> int:
        """Return the number of queries Q."""
        return len(self.ptr) - 1

    @cached_property
    def qid(self) -> IntArray:
        """Return the query identifier of each document, (n,) int64."""
        out = np.repeat(self.query_ids, np.diff(self.ptr))
        out.setflags(write=False)
        return out

    @cached_property
    def query_labels(self) -> NDArray[np.int64] | NDArray[np.object_]:
        """Return `query_names`, or `query_ids` without them: (Q,)."""
        if self.query_names is None:
            return self.query_ids
        labels = np.empty(self.n_queries, dtype=object)
        labels[:] = self.query_names
        labels.setflags(write=False)
        return labels

    def query_of(self, document: int) -> object:
        """Return the label of a document's query."""
        return self.query_labels[np.searchsorted(self.ptr, document, side="right") - 1]

    @cached_property
    def digest(self) -> str:
        """Return a hexadecimal digest of features, grades and queries; equal exactly for equal values."""
        return digest_of(self, [np.ascontiguousarray(self.X).data])

    @cached_property
    def query_digests(self) -> NDArray[np.uint8]:
        """Return digests of each query's grades, of its features, and of both by document; (Q, 3, 16).

        Each depends on the query's label, but not on the order of its documents, on document ids, or on
        trailing features that are zero in every row.
        """
        return query_digests_of(self)

    def renamed(
        self, name: str | None = None, *, feature_names: tuple[str, ...] | None = None
    ) -> RankingData:
        """Return the same data with another name or other feature names; None keeps the present ones.

        Known digests are kept: they do not depend on names.
        """
        other = replace(
            self,
            name=self.name if name is None else name,
            feature_names=self.feature_names if feature_names is None else feature_names,
        )
        vars(other).update({name: vars(self)[name] for name in _DIGESTS if name in vars(self)})
        return other

    def query_slice(self, index: int) -> slice:
        """Return the documents of the query at position `index`, as a slice of `X` and `y`."""
        return slice(int(self.ptr[index]), int(self.ptr[index + 1]))


def digest_of(data: RankingData, X: Iterable[bytes | memoryview]) -> str:
    """Return the digest of data; `X` yields the bytes of its features piece by piece."""
    h = hashlib.blake2b(digest_size=16)
    for array in (data.X, data.y, data.ptr, data.query_ids):
        h.update(repr((array.dtype.str, array.shape)).encode())
        for piece in X if array is data.X else [np.ascontiguousarray(array).data]:
            h.update(piece)
    if data.query_names is not None:
        h.update(repr(data.query_names).encode())
    return h.hexdigest()


_DIGESTS = ("digest", "query_digests")


def query_digests_of(data: RankingData) -> NDArray[np.uint8]:
    """Return the digests of all queries, as `RankingData.query_digests` describes them."""
    found = np.empty((data.n_queries, 3, DIGEST_BYTES), np.uint8)
    grades = [b"%d " % grade for grade in data.y]
    X = (data.X + 0.0).astype("<f8", copy=False)  # −0 + 0 is 0
    features = [_blake(row.tobytes().rstrip(b"\0")) for row in X]
    for q, label in enumerate(data.query_labels):
        own = data.query_slice(q)
        both = [grade + row for grade, row in zip(grades[own], features[own], strict=True)]
        for kind, documents in enumerate((grades[own], features[own], both)):
            content = f"{label}\n".encode() + b"".join(sorted(documents))
            found[q, kind] = np.frombuffer(_blake(content), np.uint8)
    found.setflags(write=False)
    return found


def _blake(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True)
class Fold:
    """One fold of a data set: parts for training, for choosing settings, and for the final test.

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
        """Return the parts by LETOR's names."""
        return {"train": self.train, "vali": self.vali, "test": self.test}

    @cached_property
    def digest(self) -> str:
        """Return a digest of the three parts together."""
        joined = "".join(part.digest for part in self.parts.values())
        return hashlib.blake2b(joined.encode(), digest_size=16).hexdigest()


def require_data(data: object, instead: str) -> None:
    """Raise `DataError` for other objects than `RankingData`; the sentence `instead` is the remedy."""
    if isinstance(data, RankingData):
        return
    fold = isinstance(data, Fold)
    raise DataError(
        "a Fold" if fold else f"an object of type {type(data).__name__}",
        expected="a RankingData: features, grades and queries of one part",
        remedy="Pass one of its parts: fold.train, fold.vali or fold.test." if fold else instead,
    )
