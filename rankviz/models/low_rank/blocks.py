"""Rectangular blocks of all queries, stacked by shape, with entries in one flat vector.

A row is a document that is preferred to another one; a column is a document that another one is preferred to.
With three or more grades, some entries of the rectangle are not pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.learning.pairs import grade_codes
from rankviz.models.dual_variables import sides


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
    counts = grade_codes(y, ptr).counts()
    if counts.size == 0:
        return 0
    there, size = counts > 0, counts.sum(axis=1)
    each = np.arange(len(counts))
    lowest = counts[each, there.argmax(axis=1)]
    highest = counts[each, counts.shape[1] - 1 - there[:, ::-1].argmax(axis=1)]
    return int(((size - lowest) * (size - highest)).sum())
