"""The strict reader of LETOR / SVMlight text.

A line is `grade qid:query index:value … # comment` (`letor_lines`). Grades are whole numbers without a point
(`2`, not `2.0`), queries are integers. Indices start at 1, in any order, at most once per line. Values are
finite decimal numbers; missing features are 0. The document id is the token after `docid =` in the comment.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import IntArray
from rankviz.common.files import write_whole
from rankviz.datasets.array_checks import check_cells
from rankviz.datasets.group_files import with_queries
from rankviz.datasets.letor_lines import DOCUMENT_ID_BYTES, MAX_FEATURES, Block
from rankviz.datasets.letor_rows import InMemory, Keep, Rows
from rankviz.datasets.letor_workers import no_features, parsed, worthwhile
from rankviz.datasets.textfile import (
    Chunk,
    Progress,
    StrPath,
    open_bytes,
    refuse_empty,
    show,
    text_chunks,
)
from rankviz.datasets.types import DataError, DataWarning, RankingData, group_queries, require_data

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


_FORM = "label index:value … # comment"
_LABEL = re.compile(rb"[ \t]*+(\S++)(.*+)", re.DOTALL)
_GRADES = {b"+1": b"1", b"1": b"1", b"-1": b"0"}


def load_binary(path: StrPath, *, progress: Progress | None = None) -> RankingData:
    """Read a set of positive and negative examples, gzip or plain, as one query with grades 1 and 0.

    `progress` receives fractions from 0 to 1. Raises `DataError`, with path and line, for anything else:
    other labels, query ids, values that are missing or not finite, indices that repeat or do not begin at 1.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankviz import load_binary
    >>> _ = Path("set.txt").write_text("+1 1:0.5 2:1\\n-1 2:0.25\\n")
    >>> data = load_binary("set.txt")
    >>> data.y.tolist(), data.n_queries
    ([1, 0], 1)
    """
    with open_bytes(path) as stream:
        name = os.fspath(path)
        workers = worthwhile(stream)
        chunks = _with_query(text_chunks(stream, name, progress), name)
        return parse_chunks(chunks, name, os.path.basename(name), form=_FORM, workers=workers)[0]


def _with_query(chunks: Iterator[Chunk], path: str) -> Iterator[Chunk]:
    """Rewrite lines in LETOR's format: `grade qid:1 index:value …`."""
    for chunk in chunks:
        lines = [_as_letor(line, path, number) for number, line in enumerate(chunk.lines, chunk.first)]
        yield Chunk(chunk.first, lines)


def _as_letor(line: bytes, path: str, number: int) -> bytes:
    match = _LABEL.fullmatch(line)
    if match is None or match[1].startswith(b"#"):
        return line
    label, rest = match.groups()
    if label not in _GRADES:
        raise DataError(
            f"label {show(label)}",
            expected="+1, 1 or −1, then index:value …",
            remedy="Write +1 for positive examples and -1 for negative ones, without a point.",
            path=path,
            line=number,
        )
    if rest.lstrip().startswith(b"qid:"):
        raise DataError(
            "a query id after the label",
            expected=f"'{_FORM}', all in one query",
            remedy="Read data with queries by load_fold or read_letor, or remove the query ids.",
            path=path,
            line=number,
        )
    return _GRADES[label] + b" qid:1" + rest


_UNWRITABLE = re.compile(r"[ \t\r\n\0\ud800-\udfff]")


def write_letor(data: RankingData, path_or_stream: StrPath | IO[bytes]) -> None:
    """Write data as LETOR text in file order, with every feature, and values that read back exactly.

    A file is written aside and renamed, and compressed if its name ends in .gz (equal data give equal bytes);
    a binary stream is written directly. Feature names are omitted. Named queries are numbered, with a
    `DataWarning`. Raises `DataError` for data that LETOR text cannot hold: no documents, no or too many
    features, values that are not finite, document ids that are long or contain white space.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankviz import RankingData, read_letor, write_letor
    >>> data = RankingData.from_arrays([[0.5], [0.1]], y=[1, 0], qid=[7, 7], document_ids=["a", "b"])
    >>> write_letor(data, "data.txt")
    >>> print(Path("data.txt").read_text(), end="")
    1 qid:7 1:0.5 #docid = a
    0 qid:7 1:0.1 #docid = b
    >>> read_letor("data.txt").digest == data.digest
    True
    """
    require_data(data, "Call write_letor(data, path).")
    _check_writable(data)
    if data.query_names is not None:
        numbers = f"query {data.query_names[0]!r} is written as qid:{data.query_ids[0]}, and so on"
        warnings.warn(f"LETOR text has no names of queries: {numbers}", DataWarning, stacklevel=2)
    if isinstance(path_or_stream, str | os.PathLike):
        with write_whole(path_or_stream) as stream, _compressed(stream, path_or_stream) as text:
            text.writelines(_lines(data))
    else:
        path_or_stream.writelines(_lines(data))


@contextmanager
def _compressed(stream: IO[bytes], path: StrPath) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if not os.fspath(path).endswith(".gz"):
        yield stream
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as text:
        yield text


def _lines(data: RankingData) -> Iterator[bytes]:
    order = np.argsort(data.rows, kind="stable")
    features = " ".join(f"{index}:%r" for index in range(1, data.n_features + 1))
    for i in order.tolist():
        document = "" if data.document_ids is None else data.document_ids[i]
        comment = f" #docid = {document}" if document else ""
        values = features % tuple(data.X[i].tolist())
        yield f"{data.y[i]} qid:{data.qid[i]} {values}{comment}\n".encode()


def _check_writable(data: RankingData) -> None:
    if data.n_documents == 0 or not 1 <= data.n_features <= MAX_FEATURES:
        raise DataError(
            f"{data.n_documents} documents with {data.n_features} features",
            expected=f"at least one document, and from 1 to {MAX_FEATURES} features",
            remedy="Write data that has both.",
            path=data.name or None,
        )
    if not np.isfinite(data.X).all():
        remedy = "Fill or drop missing values first."
        raise DataError("infinite or missing features", expected="finite features", remedy=remedy)
    for document in () if data.document_ids is None else data.document_ids.tolist():
        text = document.encode("utf-8", errors="replace")
        if _UNWRITABLE.search(document) or len(text) > DOCUMENT_ID_BYTES:
            raise DataError(
                f"document id {show(text)}",
                expected=f"at most {DOCUMENT_ID_BYTES} bytes without white space",
                remedy="Rename the documents, or leave their ids out.",
                path=data.name or None,
            )
