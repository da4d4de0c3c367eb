"""Blocks of dual variables of all queries, sums over partners, and scores from them.

`Blocks` stacks the queries' rectangles by shape, with entries in one flat vector. A row is a document that is
preferred to another one; a column is a document that another one is preferred to. With three or more grades,
some entries of the rectangle are not pairs.

`Cells` has sums over each document's worse or better partners, without forming pairs. Documents of equal
query and grade form a cell. Two documents form a pair depending on their cells only. So sums over partners
are sums over a few cells, O(n) for all documents.

A `Gram` gives scores f = G c with the Gram matrix G of documents, which is never formed. Dual variables α
give each document c_i = Σ_j α_ij − Σ_j α_ji; then w = Σ c_i φ(x_i), f = G c and ‖w‖² = cᵀf.

See docs/decisions/0007-low-rank-models-solve-the-dual.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernel_matrix import KernelMatrix
from rankviz.features.operator import FeatureOperator
from rankviz.learning.pairs import grade_codes, grade_groups, preference_pairs
from rankviz.models.dual_variables import GivenDuals, entries_by_query, sides


@dataclass(frozen=True, eq=False)
class Stack:
    """Blocks of equal shape.

    Attributes
    ----------
    queries : (g,) int64
        Positions of the queries.
    rows, columns : (g, r) and (g, c) int64
        Documents of the training part.
    entries : slice
        Their range in the flat vector.
    """

    queries: IntArray
    rows: IntArray
    columns: IntArray
    entries: slice

    @property
    def shape(self) -> tuple[int, int, int]:
        """(g, r, c)."""
        return len(self.queries), self.rows.shape[1], self.columns.shape[1]

    def of(self, flat: FloatArray) -> FloatArray:
        """Return its part of a flat vector (E,), as a view (g, r, c)."""
        return flat[self.entries].reshape(self.shape)


class Blocks:
    """The rectangles of all queries with pairs.

    Attributes
    ----------
    stacks : list of Stack
    size : int
        E, entries of all rectangles.
    n : int
        Documents.
    n_pairs : int
    is_pair : (E,) bool
        True for entries that are preference pairs.
    """

    def __init__(self, y: IntArray, ptr: IntArray) -> None:
        self.n, self.stacks, self.size = len(y), list[Stack](), 0
        shapes: dict[tuple[int, int], list[tuple[int, IntArray, IntArray]]] = {}
        for query in range(len(ptr) - 1):
            grades = y[ptr[query] : ptr[query + 1]]
            rows, columns = sides(grades) if len(grades) else (grades, grades)
            if len(rows):
                found = query, rows + ptr[query], columns + ptr[query]
                shapes.setdefault((len(rows), len(columns)), []).append(found)
        for (r, c), blocks in shapes.items():
            entries = slice(self.size, self.size + len(blocks) * r * c)
            queries, rows, columns = (np.array(part) for part in zip(*blocks, strict=True))
            self.stacks.append(Stack(queries, rows, columns, entries))
            self.size = entries.stop
        self.is_pair: BoolArray = np.empty(self.size, bool)
        for stack in self.stacks:
            self.is_pair[stack.entries] = (y[stack.rows][:, :, None] > y[stack.columns][:, None, :]).ravel()
        self.n_pairs = int(self.is_pair.sum())

    def margins(self, f: FloatArray) -> FloatArray:
        """Return f_i − f_j of scores f (n,) at pairs, 0 elsewhere, (E,)."""
        out = np.empty(self.size)
        for stack in self.stacks:
            np.subtract(f[stack.rows][:, :, None], f[stack.columns][:, None, :], out=stack.of(out))
        out *= self.is_pair
        return out

    def given(self, alpha: FloatArray) -> FloatArray:
        """Return c_i = Σ_j α_ij − Σ_j α_ji of entries (E,) that are 0 outside pairs, (n,)."""
        c = np.zeros(self.n)
        for stack in self.stacks:
            block = stack.of(alpha)
            c[stack.rows] += block.sum(axis=2)
            c[stack.columns] -= block.sum(axis=1)
        return c

    def queries(self) -> Iterator[tuple[int, Stack, int]]:
        """Yield each query with pairs, its stack and its position there."""
        for stack in self.stacks:
            for place, query in enumerate(stack.queries):
                yield int(query), stack, place


def rectangle_entries(y: IntArray, ptr: IntArray) -> int:
    """Return E, the number of entries of all rectangles, without making them."""
    return int(entries_by_query(y, ptr).sum())


class Cells:
    """Documents by query and grade, for sums over partners.

    Attributes
    ----------
    n : int
        Documents.
    n_pairs : int
        Number of preference pairs p.
    degree : (n,) float64
        Number of pairs of each document.
    query : (n,) int64
        The query of each document, from 0.
    """

    def __init__(self, y: IntArray, ptr: IntArray) -> None:
        groups, self.n = grade_groups(y, ptr), len(y)
        self._y, self._ptr = y, ptr
        self.query: IntArray = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        ends = np.append(groups.start, self.n)
        self._members = sparse.csr_array((np.ones(self.n), groups.order, ends), (len(groups.start), self.n))
        self._cell = np.empty(self.n, np.int64)
        self._cell[groups.order] = groups.group
        level = grade_codes(y, ptr).code[groups.order[groups.start]]
        pairs = preference_pairs(level, np.searchsorted(groups.query, np.arange(len(ptr))))
        shape = len(level), len(level)
        self._worse = sparse.csr_array((np.ones(len(pairs)), (pairs.winner, pairs.loser)), shape)
        self._better = sparse.csr_array(self._worse.T)
        below, above = self.partners(np.ones((self.n, 1)))
        self.degree: FloatArray = (below + above)[:, 0]
        self.n_pairs = round(float(below.sum()))

    def partners(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ x_j over the worse and over the better partners of each document: (n, k) -> 2 × (n, k)."""
        sums = self._members @ X
        return (self._worse @ sums)[self._cell], (self._better @ sums)[self._cell]

    def queries(self) -> Iterator[tuple[slice, Cells]]:
        """Yield each query with pairs: its documents, and their own cells."""
        for start, end in itertools.pairwise(self._ptr.tolist()):
            cells = Cells(self._y[start:end], np.array([0, end - start]))
            if cells.n_pairs:
                yield slice(start, end), cells

    def laplacian(self, f: FloatArray) -> FloatArray:
        """Return L₀ f = Σ_P (f_i − f_j)(e_i − e_j), (n,) -> (n,)."""
        below, above = self.partners(f[:, None])
        image: FloatArray = self.degree * f - (below + above)[:, 0]
        return image


class Gram(Protocol):
    """The Gram matrix of documents, for products."""

    def scores(self, c: FloatArray) -> FloatArray:
        """Return f = G c: (n,) -> (n,)."""
        ...

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return the weights of the feature map that have scores G c."""
        ...


@dataclass(frozen=True, eq=False)
class FeatureGram:
    """G = ΦΦᵀ."""

    features: FeatureOperator

    def scores(self, c: FloatArray) -> FloatArray:
        """Return Φ Φᵀ c."""
        return self.features.product(self.features.adjoint(c))

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return w = Φᵀ c, (m,)."""
        return self.features.adjoint(c)


@dataclass(frozen=True, eq=False)
class KernelGram:
    """G = K, the matrix of documents under a kernel."""

    K: KernelMatrix
    kernel: Kernel

    def scores(self, c: FloatArray) -> FloatArray:
        """Return K c."""
        return self.K.product(c)

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return β = c itself, (n,)."""
        return c


POWER_STEPS, MARGIN = 40, 1.05
"""Number of power iterations, which estimate from below (solvers check the curvature they rely on), and
safety factor."""


def pair_curvature(gram: Gram, cells: Cells) -> float:
    """Estimate ‖A Φ‖² = λ_max(M), M_(ij),(kl) = ⟨φ_i − φ_j, φ_k − φ_l⟩ (xu2019 eq. 5), times 1.05.

    M = A G Aᵀ with the pair matrix A has the nonzero eigenvalues of L₀ G, which takes O(n) and one product
    with G.
    """
    f = np.random.default_rng(0).standard_normal(cells.n)
    largest = 0.0
    for _ in range(POWER_STEPS):
        c = cells.laplacian(f)
        length = float(f @ c)  # ‖A f‖²
        if length <= 0.0:
            break
        f = gram.scores(c)
        found = float(c @ f) / length
        settled, largest = abs(found - largest) <= 1e-3 * found, max(found, largest)
        if settled or found == 0.0:
            break
        f /= np.abs(f).max()
    return MARGIN * largest


def factor_duals(
    data: RankingData, scores: FloatArray, C: float, V: FloatArray, gap: float = float("nan")
) -> GivenDuals:
    """Return the blocks of α_ij = ⟨v_i, v_j⟩, from scores (n,) and factors V (n, K).

    Raises `DataError` for data of another size, like `entry_duals`.
    """
    _refuse_other_sizes(data, "factors", len(V), data.n_documents)

    def rectangle(query: int) -> FloatArray:
        rows = data.query_slice(query)
        y, factors = data.y[rows], V[rows]
        winners, losers = sides(y)
        alpha: FloatArray = factors[winners] @ factors[losers].T
        return alpha * (y[winners][:, None] > y[losers])

    return GivenDuals(data, scores, C, rectangle, gap)


def entry_duals(
    data: RankingData, scores: FloatArray, C: float, entries: FloatArray, gap: float = float("nan")
) -> GivenDuals:
    """Return the blocks of entries (E,) in the layout of `Blocks`."""
    blocks = Blocks(data.y, data.ptr)
    _refuse_other_sizes(data, "entries", len(entries), blocks.size)
    places = {query: (stack, place) for query, stack, place in blocks.queries()}

    def rectangle(query: int) -> FloatArray:
        if query not in places:
            winners, losers = sides(data.y[data.query_slice(query)])
            return np.zeros((len(winners), len(losers)))
        stack, place = places[query]
        block: FloatArray = stack.of(entries)[place]
        return block

    return GivenDuals(data, scores, C, rectangle, gap)


def _refuse_other_sizes(data: RankingData, what: str, found: int, expected: int) -> None:
    if found != expected:
        raise DataError(
            f"documents that need {expected:,} {what}",
            expected=f"the training documents, for which the model has {found:,} {what}",
            remedy="Give the documents that `fit` received.",
            path=data.name or None,
        )
