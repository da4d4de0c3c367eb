"""Strict reader and exact writer of LETOR / SVMlight text, and reader of sets with labels +1 and −1.

A line is `grade qid:query index:value … # comment` (`letor_lines`). Grades are whole numbers without a point
(`2`, not `2.0`), queries are integers. Indices start at 1, in any order, at most once per line. Values are
finite decimal numbers; missing features are 0. The document id is the token after `docid =` in the comment.

A set with labels has lines `label index:value … # comment` with label +1, 1 or −1. It becomes one query with
two grades. Its preference pairs are then all pairs of a positive and a negative example, and the share of
correctly ordered pairs is the area under the ROC curve.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import IntArray
from rankviz.common.errors import DataError, DataWarning
from rankviz.common.files import write_whole
from rankviz.datasets.array_checks import check_cells, group_queries, repeated_runs
from rankviz.datasets.group_files import add_query_ids
from rankviz.datasets.letor_lines import DOCUMENT_ID_BYTES, MAX_FEATURES
from rankviz.datasets.letor_rows import MemoryStorage, Rows, Storage
from rankviz.datasets.letor_workers import parsed, useful_workers
from rankviz.datasets.textfile import (
    Chunk,
    Progress,
    StrPath,
    check_blank_lines,
    open_bytes,
    show,
    text_chunks,
)
from rankviz.datasets.types import RankingData, require_data

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
    data, note = read_with_note(path, progress, group=group)
    warn_regrouped(note)
    return data


def parse_letor(
    stream_or_bytes: IO[bytes] | bytes, *, name: str, progress: Progress | None = None
) -> RankingData:
    """Read LETOR / SVMlight text from bytes or a binary stream (an upload), from its current position.

    `name` replaces the path in messages; otherwise as `read_letor`.
    """
    stream = io.BytesIO(stream_or_bytes) if isinstance(stream_or_bytes, bytes) else stream_or_bytes
    data, note = parse_chunks(text_chunks(stream, name, progress, letor=True), name, name)
    warn_regrouped(note)
    return data


def read_with_note(
    path: StrPath,
    progress: Progress | None = None,
    *,
    called: str | None = None,
    group: StrPath | None = None,
    check: CheckSize | None = None,
    workers: int | None = None,
    storage: Storage | None = None,
) -> tuple[RankingData, str | None]:
    """Read as `read_letor`, but return the warning's text (None if there is none) instead of warning.

    `called` replaces the path in messages and in the data's name. `workers` is the number of parsing
    processes (None: as many as help), and `storage` the place of X (None: memory).
    """
    with open_bytes(path) as stream:
        name = os.path.basename(os.fspath(path)) if called is None else called
        shown = called or os.fspath(path)
        chunks = add_query_ids(text_chunks(stream, shown, progress, letor=True), path, shown, group)
        number = useful_workers(stream) if workers is None else workers
        return parse_chunks(chunks, shown, name, check=check, workers=number, storage=storage)


def warn_regrouped(note: str | None, stacklevel: int = 3) -> None:
    """Warn with the text of `read_with_note` and its meaning for scores; do nothing for None."""
    if note is not None:
        text = f"{note}, so rows of X are not in file order: data.rows says where each stood"
        warnings.warn(text, DataWarning, stacklevel=stacklevel)


def parse_chunks(
    chunks: Iterable[Chunk],
    path: str,
    name: str,
    *,
    form: str = "grade qid:query index:value …",
    check: CheckSize | None = None,
    workers: int = 1,
    storage: Storage | None = None,
) -> tuple[RankingData, str | None]:
    """Build data from chunks of LETOR text; return it and a warning's text, if any.

    `form` describes the expected lines in the error for no documents; `workers` and `storage` as in
    `read_with_note`.
    """
    storage = storage or MemoryStorage()
    rows, numbers, document_ids = Rows(storage), list[tuple[IntArray, ...]](), list[bytes]()
    with parsed(chunks, path, workers) as blocks:
        for chunk, block in blocks:
            if len(block.y):
                rows.add(block)
                numbers.append((block.lines, block.y, block.qid))
                document_ids += block.documents
            check_blank_lines(chunk.first + len(chunk.lines) - 1, rows.n, path)  # blank lines cost time too
    if rows.n == 0:
        raise DataError(
            "no documents",
            expected=f"lines '{form}'",
            remedy="Check that this is the right file and that it was copied whole.",
            path=path,
        )
    if rows.width == 0:
        raise DataError(
            "no features on any line",
            expected="index:value after the qid",
            remedy="Check that the features were exported too.",
            path=path,
        )
    if check is not None:
        check(rows.n, rows.width, rows.widest)
    check_cells(rows.n, rows.width, rows.listed, path=path, line=rows.widest)
    storage.check(rows.n, rows.width, path, rows.widest)
    lines, y, qid = (np.concatenate(each) for each in zip(*numbers, strict=True))
    documents: NDArray[np.str_] | None = None
    if any(document_ids):
        documents = np.array(b"\n".join(document_ids).decode().split("\n"), np.str_)
    order, ptr, ids = group_queries(qid)
    if np.array_equal(order, np.arange(len(order))):
        return RankingData(rows.matrix(None), y, ptr, ids, documents, None, order, name), None
    documents = None if documents is None else documents[order]
    data = RankingData(rows.matrix(order), y[order], ptr, ids, documents, None, order, name)
    return data, _regrouped_note(qid, lines, path)


def _regrouped_note(qid: IntArray, lines: IntArray, path: str) -> str:
    """Describe the first query that returns after another, its line, and the number of others."""
    again = repeated_runs(qid)
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
        workers = useful_workers(stream)
        chunks = (
            Chunk(first, [_as_letor(line, name, number) for number, line in enumerate(lines, first)])
            for first, lines in text_chunks(stream, name, progress)
        )
        return parse_chunks(chunks, name, os.path.basename(name), form=_FORM, workers=workers)[0]


def _as_letor(line: bytes, path: str, number: int) -> bytes:
    """Rewrite a line as `grade qid:1 index:value …`."""
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

    A file appears when it is complete; a name that ends in .gz compresses it (equal data give equal bytes). A
    binary stream is written directly. Feature names are omitted. Named queries are numbered, with a
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
        with write_whole(path_or_stream) as stream:
            if os.fspath(path_or_stream).endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
                    packed.writelines(_lines(data))
            else:
                stream.writelines(_lines(data))
    else:
        path_or_stream.writelines(_lines(data))


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
