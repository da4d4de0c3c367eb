"""The strict reader of LETOR / SVMlight text.

A line is `grade qid:query index:value … # comment` (`letor_lines`). Grades are whole numbers without a point
(`2`, not `2.0`), queries are integers. Indices start at 1, in any order, at most once per line. Values are
finite decimal numbers; missing features are 0. The document id is the token after `docid =` in the comment.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import IntArray
from rankviz.datasets.group_files import with_queries
from rankviz.datasets.letor_faults import no_features
from rankviz.datasets.letor_lines import Block
from rankviz.datasets.letor_rows import InMemory, Keep, Rows
from rankviz.datasets.letor_workers import parsed, worthwhile
from rankviz.datasets.sizes import check_cells
from rankviz.datasets.textfile import Chunk, Progress, StrPath, open_bytes, refuse_empty, text_chunks
from rankviz.datasets.types import DataError, DataWarning, RankingData, group_queries

CheckSize = Callable[[int, int, int | None], None]
"""Called with documents, features and the widest line before allocating a matrix; raises `DataError`."""


def read_letor(
    path: StrPath, *, group: StrPath | None = None, progress: Progress | None = None
) -> RankingData:
    """Read a file in LETOR / SVMlight format, gzip or plain; `progress` receives fractions from 0 to 1.

    Separated documents of a query are regrouped, with a `DataWarning`. Lines without a qid need a `group`
    file with each query's number of documents, one per line. Its default is a file beside the data with
    LightGBM's or XGBoost's name (train.txt.query, train.txt.group). Raises `DataError`, with path and line,
    for any other content.

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
    """Read LETOR / SVMlight text from bytes or a binary stream (an upload), from its current position.

    `name` replaces the path in messages; otherwise as `read_letor`.
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
    workers: int | None = None,
    keep: Keep | None = None,
) -> tuple[RankingData, str | None]:
    """Read as `read_letor`, but return the warning's text (None if there is none) instead of warning.

    `called` replaces the path in messages and in the data's name. `workers` is the number of parsing
    processes (None: as many as help), and `keep` the storage of X (None: memory).
    """
    with open_bytes(path) as stream:
        name = os.path.basename(os.fspath(path)) if called is None else called
        shown = called or os.fspath(path)
        chunks = with_queries(text_chunks(stream, shown, progress), path, shown, group)
        number = worthwhile(stream) if workers is None else workers
        return parse_chunks(chunks, shown, name, check=check, workers=number, keep=keep)


def warn_regrouped(note: str | None, stacklevel: int = 3) -> None:
    """Warn with the text of `read_noting` and its meaning for scores; do nothing for None."""
    if note is not None:
        text = f"{note}, so rows of X are not in file order: data.rows says where each stood"
        warnings.warn(text, DataWarning, stacklevel=stacklevel)


class _Labels:
    """Columns of documents without features, collected block by block."""

    def __init__(self) -> None:
        self._numbers: list[tuple[IntArray, ...]] = []
        self._documents: list[bytes] = []

    def add(self, block: Block) -> None:
        """Add the labels of a block's documents."""
        self._numbers.append((block.lines, block.y, block.qid))
        self._documents += block.documents

    def columns(self) -> list[IntArray]:
        """Return lines, grades and queries of all documents."""
        return [np.concatenate(each) for each in zip(*self._numbers, strict=True)]

    def documents(self) -> NDArray[np.str_] | None:
        """Return their ids, None if no document has one."""
        if not any(self._documents):
            return None
        return np.array(b"\n".join(self._documents).decode().split("\n"), np.str_)


def parse_chunks(
    chunks: Iterable[Chunk],
    path: str,
    name: str,
    *,
    form: str = "grade qid:query index:value …",
    check: CheckSize | None = None,
    workers: int = 1,
    keep: Keep | None = None,
) -> tuple[RankingData, str | None]:
    """Build data from chunks of LETOR text; return it and a warning's text, if any.

    `form` describes the expected lines in the error for no documents; `workers` and `keep` as in
    `read_noting`.
    """
    where = keep or InMemory()
    labels, rows = _Labels(), Rows(where)
    with parsed(chunks, path, workers) as blocks:
        for chunk, block in blocks:
            if len(block.y):
                labels.add(block)
                rows.add(block)
            refuse_empty(chunk.first + len(chunk.lines) - 1, rows.n, path)  # blank lines cost time too
    if rows.n == 0:
        raise DataError(
            "no documents",
            expected=f"lines '{form}'",
            remedy="Check that this is the right file and that it was copied whole.",
            path=path,
        )
    if rows.width == 0:
        raise no_features(path)
    if check is not None:
        check(rows.n, rows.width, rows.widest)
    check_cells(rows.n, rows.width, rows.listed, path=path, line=rows.widest)
    where.check(rows.n, rows.width, path, rows.widest)
    return _assembled(labels, rows, path, name)


def _assembled(labels: _Labels, rows: Rows, path: str, name: str) -> tuple[RankingData, str | None]:
    lines, y, qid = labels.columns()
    documents = labels.documents()
    order, ptr, ids = group_queries(qid)
    if np.array_equal(order, np.arange(len(order))):
        return RankingData(rows.matrix(None), y, ptr, ids, documents, None, order, name), None
    documents = None if documents is None else documents[order]
    data = RankingData(rows.matrix(order), y[order], ptr, ids, documents, None, order, name)
    return data, _note_apart(qid, lines, path)


def _note_apart(qid: IntArray, lines: IntArray, path: str) -> str:
    """Describe the first query that returns after another, its line, and the number of others."""
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    first = np.unique(qid[starts], return_index=True)[1]
    again = np.delete(starts, first)
    others = len(np.unique(qid[again])) - 1
    return (
        f"{path}, line {lines[again[0]]}: query {qid[again[0]]} comes back after other queries"
        f"{f' (and so do {others} more)' if others else ''}; the documents of a query were put together"
    )
