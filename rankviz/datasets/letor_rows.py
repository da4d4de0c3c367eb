"""Builds the feature matrix X from a stream of values, in memory or in a file.

Values are appended to a stream; rows with few missing features are filled with zeros. If all rows are filled
to one width, as in most files, the stream already is X. For separated queries its rows then move within
memory, a few features at a time. In all other cases X is written a second time, row by row. So memory holds
two copies only while sparse rows are rewritten; a file takes no memory.

See docs/decisions/0026-reading-data.md.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.array_checks import check_memory
from rankviz.datasets.letor_lines import Block

CELLS_PER_VALUE = 1.5
"""Rows are filled with zeros up to this many entries per value; column numbers would take as much."""
CELLS_AT_ONCE = 1 << 20
"""Entries of X in memory during a rewrite: 8 MiB."""
PARTS = 16
"""Parts of the features in a permutation of rows; one part at a time is copied."""


class Storage(Protocol):
    """Storage of values and X, during and after reading.

    Attributes
    ----------
    in_place : bool
        True if rows of X are permuted in place; else they are rewritten.
    """

    in_place: bool

    def stream(self) -> IO[bytes]:
        """Return a new, empty stream for writing and reading."""

    def reserve(self, bytes_: int) -> None:
        """Reserve bytes before writing. Raises OSError if there is no room."""

    def check(self, n: int, d: int, path: str, line: int | None) -> None:
        """Raise `DataError` if X would be too large; `line` holds the widest feature."""

    def matrix(self, stream: IO[bytes], n: int, d: int) -> FloatArray:
        """Return the (n, d) written to a stream."""

    def discard(self, stream: IO[bytes]) -> None:
        """Discard a stream."""


class MemoryStorage:
    """Stores values in memory."""

    in_place = True

    def stream(self) -> IO[bytes]:
        """Return a stream that grows in place if the system can (Linux)."""
        return io.BytesIO()

    def reserve(self, bytes_: int) -> None:
        """Do nothing; a lack of memory raises MemoryError."""

    def check(self, n: int, d: int, path: str, line: int | None) -> None:
        """Raise `DataError` if X takes more than its share of the free memory."""
        check_memory(n, d, path=path, line=line)

    def matrix(self, stream: IO[bytes], n: int, d: int) -> FloatArray:
        """Return X without a copy."""
        assert isinstance(stream, io.BytesIO)
        return np.frombuffer(stream.getbuffer(), np.float64).reshape(n, d)

    def discard(self, stream: IO[bytes]) -> None:
        """Free the memory."""
        stream.close()


class _Layout(NamedTuple):
    """Layout of a block in the stream; `lengths` is None if all rows are alike."""

    n: int
    lengths: IntArray | None
    columns: NDArray[np.int32]


class Rows:
    """Values of documents, block after block.

    Attributes
    ----------
    n, listed, width : int
        Documents and values so far, and the highest feature number.
    widest : int or None
        The first line with the highest feature.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage, self._layouts = storage, list[_Layout]()
        self._stream: IO[bytes] | None = None
        self.n = self.listed = self.width = 0
        self.widest: int | None = None
        self._whole = np.zeros(0, np.int32)

    def add(self, block: Block) -> None:
        """Add the values of a block's documents."""
        self._note_width(block)
        n, listed = len(block.y), len(block.values)
        layout, values = _Layout(n, None if block.alike else block.lengths, block.columns), block.values
        if n * self.width <= CELLS_PER_VALUE * listed:
            layout, values = _Layout(n, None, self._whole), _filled(layout, values, self.width)
        self._storage.reserve(values.nbytes)
        if self._stream is None:
            self._stream = self._storage.stream()
        self._stream.write(values.data)
        self._layouts.append(layout)
        self.n, self.listed = self.n + n, self.listed + listed

    def _note_width(self, block: Block) -> None:
        width = 1 + int(block.columns.max(initial=-1))
        if width > self.width:
            at = int(np.flatnonzero(block.columns == width - 1)[0])
            document = 0 if block.alike else int(np.searchsorted(np.cumsum(block.lengths), at, "right"))
            self.width, self.widest = width, int(block.lines[document])
            self._whole = np.arange(width, dtype=np.int32)

    def matrix(self, order: IntArray | None) -> FloatArray:
        """Return X, its rows in file order or by `order`: row i is document order[i]."""
        assert self._stream is not None
        stream, self._stream = self._stream, None
        whole = all(layout.columns is self._whole for layout in self._layouts)
        if whole and (order is None or self._storage.in_place):
            found = self._storage.matrix(stream, self.n, self.width)
            if order is not None:  # row i becomes the former row order[i]
                for part in np.array_split(found, PARTS, axis=1):
                    part[:] = part[order]
            return found
        self._storage.reserve(8 * self.n * self.width)
        out = self._storage.stream()
        places = np.arange(self.n)
        if order is not None:
            places[order] = np.arange(self.n)
        self._write_rows(stream, out, places)
        self._storage.discard(stream)
        return self._storage.matrix(out, self.n, self.width)

    def _write_rows(self, stream: IO[bytes], out: IO[bytes], places: IntArray) -> None:
        """Write each row of X to its place, consecutive rows together."""
        stream.seek(0)
        start, row = 0, 8 * self.width
        for rows in self._dense(stream):
            place = places[start : start + len(rows)]
            starts = np.flatnonzero(np.diff(place, prepend=-2) != 1)
            for first, last in zip(starts, [*starts[1:], len(rows)], strict=True):
                out.seek(int(place[first]) * row)
                out.write(rows[first:last].data)
            start += len(rows)

    def _dense(self, stream: IO[bytes]) -> Iterator[FloatArray]:
        """Yield rows of X from the stream, in file order and in small pieces."""
        step = max(1, CELLS_AT_ONCE // self.width)
        for layout in self._layouts:
            lengths = np.full(layout.n, len(layout.columns)) if layout.lengths is None else layout.lengths
            ends = np.concatenate(([0], np.cumsum(lengths)))
            for start in range(0, layout.n, step):
                of_piece = lengths[start : start + step]
                first, last = ends[start], ends[start + len(of_piece)]
                values = np.frombuffer(stream.read(8 * int(last - first)), np.float64)
                columns = layout.columns if layout.lengths is None else layout.columns[first:last]
                piece = _Layout(len(of_piece), None if layout.lengths is None else of_piece, columns)
                yield _filled(piece, values, self.width)


def _filled(layout: _Layout, values: FloatArray, width: int) -> FloatArray:
    """Return rows of `width` features, zero for missing ones."""
    rows = np.zeros((layout.n, width))
    if layout.lengths is None:
        rows[:, layout.columns] = values.reshape(layout.n, -1)
    else:
        rows[np.repeat(np.arange(layout.n), layout.lengths), layout.columns] = values
    return rows
