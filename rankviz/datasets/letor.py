"""The one strict reader of LETOR / SVMlight text.

A line is `grade qid:query index:value … # comment`, and `_LINE` is that format: what it refuses, and what
`float` or the checks on indices refuse after it, is explained by `letor_faults` and never used. Grades are
whole numbers written without a point (`2`, not `2.0`), queries integers, indices count from 1 in any order
and at most once a line, values are finite decimal numbers; features not listed are 0. The document id is the
token after `docid =` in the comment.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.group_files import with_queries
from rankviz.datasets.letor_faults import (
    DOCUMENT_ID_BYTES,
    INT64_MAX,
    MAX_FEATURES,
    explain,
    no_features,
)
from rankviz.datasets.sizes import check_cells
from rankviz.datasets.textfile import Chunk, Progress, StrPath, open_bytes, refuse_empty, text_chunks
from rankviz.datasets.types import DataError, DataWarning, RankingData, group_queries

_LINE = re.compile(
    rb"[ \t]*+([0-9]{1,19}+)[ \t]++qid:(-?+[0-9]{1,19}+)"
    rb"((?:[ \t]++[0-9]{1,6}+:[-+.0-9eE]++)*+)"
    rb"[ \t]*+(?:\#(.*+))?+",
    re.DOTALL,
)
_NOT_A_DOCUMENT = re.compile(rb"[ \t]*+(?:\#.*+)?+", re.DOTALL)
_DOCUMENT_ID = re.compile(rb"(?:.*?[ \t])??docid[ \t]*=[ \t]*([^ \t]+)", re.DOTALL)

CheckSize = Callable[[int, int, int | None], None]
"""Told documents, features and the line of the widest before a matrix is allocated; raises `DataError`."""


def read_letor(
    path: StrPath, *, group: StrPath | None = None, progress: Progress | None = None
) -> RankingData:
    """Read a file in LETOR / SVMlight format, gzip or plain; `progress` is given fractions from 0 to 1.

    Documents of a query that stand apart are brought together, with a `DataWarning`. Lines without a qid need
    a `group` file, which has the number of documents of each query, one a line; where none is given, one
    beside the file serves that is called as LightGBM and XGBoost do (train.txt.query, train.txt.group).
    Raises `DataError`, with path and line, for anything that is not such a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankviz import read_letor
    >>> _ = Path("train.txt").write_text("2 qid:7 1:0.5 2:1\\n0 qid:7 2:0.25 # docid = d2\\n")
    >>> data = read_letor("train.txt")
    >>> data.X.tolist(), data.y.tolist(), data.query_ids.tolist()
    ([[0.5, 1.0], [0.0, 0.25]], [2, 0], [7])
    >>> _ = Path("rows.txt").write_text("1 1:0.5\\n0 1:0.25\\n2 1:1\\n"), Path("sizes").write_text("2\\n1\\n")
    >>> read_letor("rows.txt", group="sizes").qid.tolist()
    [1, 1, 2]
    """
    data, note = read_noting(path, progress, group=group)
    warn_regrouped(note)
    return data


def parse_letor(
    stream_or_bytes: IO[bytes] | bytes, *, name: str, progress: Progress | None = None
) -> RankingData:
    """Read LETOR / SVMlight text from bytes or a binary stream (an upload), from where the stream stands.

    `name` stands for the path in messages; otherwise as `read_letor`.
    """
    stream = io.BytesIO(stream_or_bytes) if isinstance(stream_or_bytes, bytes) else stream_or_bytes
    data, note = parse_chunks(text_chunks(stream, name, progress), name, name)
    warn_regrouped(note)
    return data


def read_noting(
    path: StrPath,
    progress: Progress | None = None,
    *,
    called: str | None = None,
    group: StrPath | None = None,
    check: CheckSize | None = None,
) -> tuple[RankingData, str | None]:
    """As `read_letor`, but return the text of the warning (None where there is none) instead of warning.

    `called` stands for the path in messages and in the data's name.
    """
    with open_bytes(path) as stream:
        name = os.path.basename(os.fspath(path)) if called is None else called
        shown = called or os.fspath(path)
        chunks = with_queries(text_chunks(stream, shown, progress), path, shown, group)
        return parse_chunks(chunks, shown, name, check=check)


def warn_regrouped(note: str | None, stacklevel: int = 3) -> None:
    """Warn with the text that `read_noting` gave, and what it means for scores; nothing where it is None."""
    if note is not None:
        text = f"{note}, so rows of X are not in file order: data.rows says where each stood"
        warnings.warn(text, DataWarning, stacklevel=stacklevel)


class _Row(NamedTuple):
    """One document, read from one line."""

    line: int
    grade: int
    query: int
    document: bytes
    columns: NDArray[np.int32]
    values: list[float]


class _Block(NamedTuple):
    """Documents of one chunk: (n,) line numbers, grades, queries, ids and lengths; then all listed values."""

    lines: IntArray
    y: IntArray
    qid: IntArray
    documents: list[bytes]
    lengths: IntArray
    columns: NDArray[np.int32]
    values: FloatArray


def parse_chunks(
    chunks: Iterable[Chunk],
    path: str,
    name: str,
    *,
    form: str = "grade qid:query index:value …",
    check: CheckSize | None = None,
) -> tuple[RankingData, str | None]:
    """The documents of chunks of LETOR text, and the text of a warning where there is one.

    `form` is what lines look like where there are none.
    """
    blocks = _blocks(chunks, path)
    if not blocks:
        raise DataError(
            "no documents",
            expected=f"lines '{form}'",
            remedy="Check that this is the right file and that it was copied whole.",
            path=path,
        )
    return _assemble(blocks, path, name, check)


def _blocks(chunks: Iterable[Chunk], path: str) -> list[_Block]:
    """The documents of all chunks; `DataError` where too many lines hold none: those cost time too."""
    blocks, documents = [], 0
    for chunk in chunks:
        block = _parse_chunk(chunk, path)
        if block is not None:
            blocks.append(block)
            documents += len(block.y)
        refuse_empty(chunk.first + len(chunk.lines) - 1, documents, path)
    return blocks


def _parse_chunk(chunk: Chunk, path: str) -> _Block | None:
    """Columns of a chunk's documents, None where it has none; raises `DataError` at the first bad line."""
    read_line = _LineReader()
    rows = []
    for number, line in enumerate(chunk.lines, chunk.first):
        if line and not _NOT_A_DOCUMENT.fullmatch(line):
            row = read_line(line, number)
            if row is None:
                raise explain(line, path, number)
            rows.append(row)
    if not rows:
        return None
    lines, y, qid, documents, columns, values = zip(*rows, strict=True)
    return _Block(
        np.array(lines, np.int64),
        np.array(y, np.int64),
        np.array(qid, np.int64),
        list(documents),
        np.array([len(c) for c in columns], np.int64),
        np.concatenate(columns),
        np.fromiter(chain.from_iterable(values), np.float64),
    )


class _LineReader:
    """Reads line after line; knows the columns of the last one, for most lines list the same features."""

    def __init__(self) -> None:
        self._indices: list[bytes] = []
        self._columns: NDArray[np.int32] | None = np.zeros(0, np.int32)

    def __call__(self, line: bytes, number: int) -> _Row | None:
        """Return the document on a line, None where the line is not one."""
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        grade, query, body, comment = match.groups()
        tokens = body.replace(b":", b" ").split()
        if tokens[::2] != self._indices:
            self._indices = tokens[::2]
            self._columns = _columns(self._indices)
        values, document = _numbers(tokens[1::2]), _document_id(comment)
        if self._columns is None or values is None or document is None:
            return None
        row = _Row(number, int(grade), int(query), document, self._columns, values)
        return row if row.grade <= INT64_MAX and -INT64_MAX - 1 <= row.query <= INT64_MAX else None


def _columns(indices: list[bytes]) -> NDArray[np.int32] | None:
    """Columns (from 0) of feature indices (from 1); None where one is out of range or repeated."""
    numbers = [int(index) for index in indices]
    distinct = set(numbers)
    if len(distinct) < len(numbers) or 0 in distinct or max(numbers, default=0) > MAX_FEATURES:
        return None
    return np.array(numbers, np.int32) - np.int32(1)


def _numbers(tokens: list[bytes]) -> list[float] | None:
    """Values of tokens made of digits, signs, points and e; None where one is malformed or overflows."""
    try:
        row = [float(token) for token in tokens]
    except ValueError:
        return None
    return row if math.isfinite(sum(row)) or all(map(math.isfinite, row)) else None


def _document_id(comment: bytes | None) -> bytes | None:
    """Return the token after `docid =`, b'' where there is none, None where it is too long to be one."""
    match = _DOCUMENT_ID.match(comment) if comment else None
    document: bytes = match[1] if match else b""
    return document if len(document) <= DOCUMENT_ID_BYTES else None


def _assemble(
    blocks: list[_Block], path: str, name: str, check: CheckSize | None
) -> tuple[RankingData, str | None]:
    lines, y, qid = (np.concatenate([block[i] for block in blocks]) for i in range(3))
    documents = _documents(blocks)
    X = _matrix(blocks, path, len(y), check)
    order, ptr, ids = group_queries(qid)
    note = None
    if not np.array_equal(order, np.arange(len(order))):
        note = _note_apart(qid, lines, path)
        X, y = X[order], y[order]
        documents = None if documents is None else documents[order]
    return RankingData(X, y, ptr, ids, documents, None, order, name), note


def _documents(blocks: list[_Block]) -> NDArray[np.str_] | None:
    documents = [document for block in blocks for document in block.documents]
    if not any(documents):
        return None
    return np.array(b"\n".join(documents).decode().split("\n"), np.str_)


def _matrix(blocks: list[_Block], path: str, n: int, check: CheckSize | None) -> FloatArray:
    """Dense (n, d) features; `blocks` is emptied on the way, so that the values are not held twice."""
    d = 1 + max((int(block.columns.max(initial=-1)) for block in blocks), default=-1)
    listed = sum(len(block.values) for block in blocks)
    if d == 0:
        raise no_features(path)
    widest = _line_of_column(blocks, d - 1)
    if check is not None:
        check(n, d, widest)
    check_cells(n, d, listed, path=path, line=widest)
    X = np.zeros((n, d))
    start = 0
    while blocks:
        block = blocks.pop(0)
        rows = np.repeat(np.arange(start, start + len(block.y)), block.lengths)
        X[rows, block.columns] = block.values
        start += len(block.y)
    return X


def _line_of_column(blocks: list[_Block], column: int) -> int | None:
    for block in blocks:
        hits = np.flatnonzero(block.columns == column)
        if len(hits):
            return int(np.repeat(block.lines, block.lengths)[hits[0]])
    return None


def _note_apart(qid: IntArray, lines: IntArray, path: str) -> str:
    """Say which query was the first to come back after another, where, and how many did."""
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    first = np.unique(qid[starts], return_index=True)[1]
    again = np.delete(starts, first)
    others = len(np.unique(qid[again])) - 1
    return (
        f"{path}, line {lines[again[0]]}: query {qid[again[0]]} comes back after other queries"
        f"{f' (and so do {others} more)' if others else ''}; the documents of a query were put together"
    )
