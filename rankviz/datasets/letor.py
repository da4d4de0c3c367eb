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
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankviz._typing import FloatArray, IntArray
from rankviz.datasets.letor_faults import DOCUMENT_ID_BYTES, INT64_MAX, MAX_FEATURES, explain, too_sparse
from rankviz.datasets.textfile import Chunk, Progress, StrPath, open_bytes, text_chunks
from rankviz.datasets.types import DataError, DataWarning, RankingData, group_queries

_LINE = re.compile(
    rb"[ \t]*+([0-9]{1,19}+)[ \t]++qid:(-?+[0-9]{1,19}+)"
    rb"((?:[ \t]++[0-9]{1,6}+:[-+.0-9eE]++)*+)"
    rb"[ \t]*+(?:\#(.*+))?+",
    re.DOTALL,
)
_NOT_A_DOCUMENT = re.compile(rb"[ \t]*+(?:\#.*+)?+", re.DOTALL)
_DOCUMENT_ID = re.compile(rb"(?:.*?[ \t])??docid[ \t]*=[ \t]*([^ \t]+)", re.DOTALL)

ROOMY_CELLS = 1 << 26
"""Matrices up to this size (512 MiB) may be as sparse as they like."""
MAX_CELLS = 1 << 30
"""No matrix is larger than this (8 GiB)."""


def read_letor(path: StrPath, *, progress: Progress | None = None) -> RankingData:
    """Read a file in LETOR / SVMlight format, gzip or plain; `progress` is given fractions from 0 to 1.

    Documents of a query that stand apart are brought together, with a `DataWarning`. Raises `DataError`, with
    path and line, for anything that is not such a file.
    """
    data, note = read_noting(path, progress)
    _warn(note)
    return data


def parse_letor(
    stream_or_bytes: IO[bytes] | bytes, *, name: str, progress: Progress | None = None
) -> RankingData:
    """Read LETOR / SVMlight text from bytes or a binary stream (an upload), from where the stream stands.

    `name` stands for the path in messages; otherwise as `read_letor`.
    """
    stream = io.BytesIO(stream_or_bytes) if isinstance(stream_or_bytes, bytes) else stream_or_bytes
    data, note = _parse(stream, name, name, progress)
    _warn(note)
    return data


def read_noting(path: StrPath, progress: Progress | None = None) -> tuple[RankingData, str | None]:
    """As `read_letor`, but return the text of the warning (None where there is none) instead of warning."""
    with open_bytes(path) as stream:
        return _parse(stream, os.fspath(path), os.path.basename(os.fspath(path)), progress)


def _warn(note: str | None) -> None:
    if note is not None:
        warnings.warn(note, DataWarning, stacklevel=3)


class _Block(NamedTuple):
    """The documents of one chunk: (n,) line numbers, grades, queries, ids and lengths; values row by row."""

    lines: IntArray
    y: IntArray
    qid: IntArray
    documents: list[bytes]
    lengths: IntArray
    columns: NDArray[np.int32]
    values: FloatArray


def _parse(
    stream: IO[bytes], path: str, name: str, progress: Progress | None
) -> tuple[RankingData, str | None]:
    blocks = [_parse_chunk(chunk, path) for chunk in text_chunks(stream, path, progress)]
    blocks = [block for block in blocks if len(block.y)]
    if not blocks:
        raise DataError(
            "no documents",
            expected="lines 'grade qid:query index:value …'",
            remedy="Check that this is the right file and that it was copied whole.",
            path=path,
        )
    return _assemble(blocks, path, name)


def _parse_chunk(chunk: Chunk, path: str) -> _Block:
    lines: list[int] = []
    y: list[int] = []
    qid: list[int] = []
    documents: list[bytes] = []
    columns: list[NDArray[np.int32]] = []
    values: list[float] = []
    indices: list[bytes] = []
    pattern: NDArray[np.int32] | None = np.zeros(0, np.int32)
    for number, line in enumerate(chunk.lines, chunk.first):
        match = _LINE.fullmatch(line)
        if match is None:
            if _NOT_A_DOCUMENT.fullmatch(line):
                continue
            raise explain(line, path, number)
        grade, query, body, comment = match.groups()
        tokens = body.replace(b":", b" ").split()
        if tokens[::2] != indices:  # lines of a file mostly list the same features
            indices = tokens[::2]
            pattern = _columns(indices)
        row = _numbers(tokens[1::2])
        document = _document_id(comment)
        if pattern is None or row is None or document is None or not _int64(int(grade), int(query)):
            raise explain(line, path, number)
        lines.append(number)
        y.append(int(grade))
        qid.append(int(query))
        documents.append(document)
        columns.append(pattern)
        values += row
    return _Block(
        np.array(lines, np.int64),
        np.array(y, np.int64),
        np.array(qid, np.int64),
        documents,
        np.array([len(c) for c in columns], np.int64),
        np.concatenate([pattern[:0] if pattern is not None else np.zeros(0, np.int32), *columns]),
        np.array(values, np.float64),
    )


def _columns(indices: list[bytes]) -> NDArray[np.int32] | None:
    """Columns (from 0) of feature indices (from 1); None where one is out of range or repeated."""
    columns = np.array([int(index) for index in indices], np.int32) - np.int32(1)
    if len(columns) and not 0 <= columns.min() <= columns.max() < MAX_FEATURES:
        return None
    return columns if len(set(columns.tolist())) == len(columns) else None


def _numbers(tokens: list[bytes]) -> list[float] | None:
    """Values of tokens made of digits, signs, points and e; None where one is malformed or overflows."""
    try:
        row = [float(token) for token in tokens]
    except ValueError:
        return None
    return row if math.isfinite(sum(row)) or all(map(math.isfinite, row)) else None


def _int64(*numbers: int) -> bool:
    return all(-INT64_MAX - 1 <= number <= INT64_MAX for number in numbers)


def _document_id(comment: bytes | None) -> bytes | None:
    """Return the token after `docid =`, b'' where there is none, None where it is too long to be one."""
    match = _DOCUMENT_ID.match(comment) if comment else None
    document: bytes = match[1] if match else b""
    return document if len(document) <= DOCUMENT_ID_BYTES else None


def _assemble(blocks: list[_Block], path: str, name: str) -> tuple[RankingData, str | None]:
    lines, y, qid = (np.concatenate([block[i] for block in blocks]) for i in range(3))
    documents = _documents(blocks)
    X = _matrix(blocks, path, len(y))
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


def _matrix(blocks: list[_Block], path: str, n: int) -> FloatArray:
    """Dense (n, d) features; `blocks` is emptied on the way, so that the values are not held twice."""
    d = 1 + max((int(block.columns.max()) for block in blocks if len(block.columns)), default=-1)
    listed = sum(len(block.values) for block in blocks)
    if d == 0 or n * d > max(ROOMY_CELLS, min(MAX_CELLS, 100 * listed)):
        raise too_sparse(path, _line_of_column(blocks, d - 1), n, d)
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
        f"{f' (so do {others} more)' if others else ''}; its documents were brought together"
    )
