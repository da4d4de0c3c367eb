"""Sets with labels +1 and −1 in SVMlight text, as one query with two grades.

The preference pairs are then all pairs of a positive and a negative example. The share of correctly ordered
pairs is the area under the ROC curve. A line is `label index:value … # comment`; the label is +1, 1 or −1,
and features follow LETOR's strict rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from rankviz.datasets.letor import parse_chunks
from rankviz.datasets.letor_faults import show
from rankviz.datasets.letor_workers import worthwhile
from rankviz.datasets.textfile import Chunk, Progress, StrPath, open_bytes, text_chunks
from rankviz.datasets.types import DataError, RankingData

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
