"""Parts of a data set: pick queries, split by query, pad to a common width, weight queries."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.array_checks import check_memory, plain_array
from rankviz.datasets.types import Fold, RankingData

SUBSETS = 5  # LETOR's S1 … S5
DEFAULT_SPLIT_SEED = 0


def take_queries(data: RankingData, indices: ArrayLike, *, name: str | None = None) -> RankingData:
    """Copy the queries at positions `indices`, in that order, each with all of its documents.

    `indices` (k,) are positions 0 … Q − 1 in `data.ptr`, not query ids; `rows` keep the positions in the
    original file. Raises IndexError for a position out of range.
    """
    queries = np.asarray(indices, dtype=np.int64)
    sizes = np.diff(data.ptr)[queries]
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    documents = np.repeat(data.ptr[queries] - ptr[:-1], sizes) + np.arange(ptr[-1])
    taken = replace(
        data,
        X=data.X[documents],
        y=data.y[documents],
        ptr=ptr,
        query_ids=data.query_ids[queries],
        query_names=None if data.query_names is None else tuple(data.query_labels[queries]),
        document_ids=None if data.document_ids is None else data.document_ids[documents],
        rows=data.rows[documents],
        name=data.name if name is None else name,
    )
    if "query_digests" in vars(data):  # digests of single queries stay valid
        vars(taken)["query_digests"] = data.query_digests[queries]
    return taken


def cyclic_fold(data: RankingData, number: int, *, seed: int = DEFAULT_SPLIT_SEED, name: str = "") -> Fold:
    """Split one data set by query as LETOR does: 60 % train, 20 % vali, 20 % test.

    A seeded shuffle deals the queries into S1 … S5; fold K trains on S_K, S_K+1, S_K+2, validates on S_K+3
    and tests on S_K+4, cyclically, `number` = K in 1 … 5. Raises `DataError` for fewer than five queries or
    another K.
    """
    if data.n_queries < SUBSETS or not 1 <= number <= SUBSETS:
        raise DataError(
            f"{data.n_queries} {'query' if data.n_queries == 1 else 'queries'}, for fold {number}",
            expected=f"at least {SUBSETS} queries, and a fold from 1 to {SUBSETS}",
            remedy="Use a larger file, or give train, vali and test as files of their own.",
            path=data.name or None,
        )
    shuffled = np.random.default_rng(seed).permutation(data.n_queries)
    subsets = np.array_split(shuffled, SUBSETS)
    turn = [subsets[(number - 1 + i) % SUBSETS] for i in range(SUBSETS)]
    chosen = {"train": np.concatenate(turn[:3]), "vali": turn[3], "test": turn[4]}
    title = name or data.name
    train, vali, test = (
        take_queries(data, np.sort(queries), name=part_name(title, part)) for part, queries in chosen.items()
    )
    return Fold(train, vali, test, name=title)


def part_name(fold_name: str, part: str) -> str:
    """Return the name of a fold's part for messages and captions."""
    return f"{fold_name}, {part}" if fold_name else part


def pad_to_widest(parts: Mapping[str, RankingData]) -> dict[str, RankingData]:
    """Pad all parts with zero features to the width of the widest; warn for each with `DataWarning`.

    LETOR text may omit zero features, so a part whose last features are all zero may be narrower. Raises
    `DataError` if padding takes too much memory.
    """
    width = max(part.n_features for part in parts.values())
    widest = next(part for part in parts.values() if part.n_features == width)
    grown = sum(part.n_documents for part in parts.values() if part.n_features < width)
    check_memory(grown, width, path=widest.name or None)
    return {key: part if part.n_features == width else _padded(part, width) for key, part in parts.items()}


def _padded(part: RankingData, width: int) -> RankingData:
    warnings.warn(
        f"{part.name} has {part.n_features} features where the widest part has {width}: "
        f"those after feature {part.n_features} were filled with zeros",
        DataWarning,
        stacklevel=4,
    )
    X: FloatArray = np.zeros((part.n_documents, width))
    X[:, : part.n_features] = part.X
    return replace(part, X=X, feature_names=None)


def check_shared_queries(parts: Mapping[str, RankingData]) -> None:
    """Raise `DataError` if a query id occurs in two parts: the parts must be independent."""
    for first, second in combinations(parts.values(), 2):
        shared = np.intersect1d(first.query_ids, second.query_ids)
        if len(shared):
            more = f" and {len(shared) - 1} more are" if len(shared) > 1 else " is"
            raise DataError(
                f"query {shared[0]}{more} also in {first.name}",
                expected="every query in one part only",
                remedy="Move all documents of a query to one part, or renumber the queries.",
                path=second.name,
            )


def query_weights(sample_weight: ArrayLike, data: RankingData, rows: IntArray | None = None) -> FloatArray:
    """Return weights s_q ≥ 0 of queries, (Q,), from sample_weight (n,), one for each document of `data`.

    `rows` (n,) gives each document's position in sample_weight, if the orders differ.

    Raises `DataError` for weights that are not n finite numbers ≥ 0, that differ within a query, or that are
    all 0: a loss over pairs cannot weight a single document.
    """
    given = plain_array(sample_weight, "sample_weight", "one number for each document", "")
    if given.dtype.kind not in "fiub" or given.shape != (data.n_documents,):
        raise _refused(
            f"sample_weight of type {given.dtype} and shape {given.shape}",
            f"one number for each document, shape ({data.n_documents},)",
            "Repeat the weight of a query for all of its documents.",
        )
    weights = given.astype(np.float64)
    weights = weights if rows is None else weights[rows]
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise _refused(
            f"sample_weight {weights[bad[0]]} in query {data.query_of(int(bad[0]))}",
            "finite weights of at least 0",
            "Give a query weight 0 to leave it out.",
        )
    of_query = weights[data.ptr[:-1]]
    other = np.flatnonzero(weights != np.repeat(of_query, np.diff(data.ptr)))
    if len(other):
        document = int(other[0])
        usual = of_query[np.searchsorted(data.ptr, document, side="right") - 1]
        raise _refused(
            f"sample_weight {weights[document]:g} beside {usual:g} in query {data.query_of(document)}",
            "one weight for all documents of a query: it multiplies the query's pairs",
            "Give a query's documents one weight, such as their mean.",
        )
    if data.n_documents and not of_query.any():
        raise _refused(
            "sample_weight 0 for every query",
            "at least one positive weight",
            "Give a query a weight above 0.",
        )
    return of_query


def weighted_queries(
    data: RankingData, sample_weight: ArrayLike, rows: IntArray | None = None
) -> tuple[RankingData, FloatArray]:
    """Return the queries of positive weight, and their weights; see `query_weights`."""
    weights = query_weights(sample_weight, data, rows)
    counted = np.flatnonzero(weights)
    if len(counted) == len(weights):
        return data, weights
    return take_queries(data, counted), weights[counted]


def documents_digest(data: RankingData) -> str:
    """Return a hexadecimal digest of features, grades and query offsets, without names or ids."""
    h = hashlib.blake2b(digest_size=16)
    for array in (data.X, data.y, data.ptr):
        h.update(repr(array.shape).encode())
        h.update(np.ascontiguousarray(array).data)
    return h.hexdigest()


def _refused(found: str, expected: str, remedy: str) -> DataError:
    return DataError(found, expected=expected, remedy=remedy)
