"""Writes LETOR text that `letor` reads back exactly."""

from __future__ import annotations

import gzip
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from rankviz.datasets.letor_faults import show
from rankviz.datasets.letor_lines import DOCUMENT_ID_BYTES, MAX_FEATURES
from rankviz.datasets.textfile import StrPath, written_aside
from rankviz.datasets.types import DataError, DataWarning, RankingData, require_data

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
        with written_aside(path_or_stream) as stream, _compressed(stream, path_or_stream) as text:
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
