"""Files beside a data file: group files and files of scores.

A group file has the number of documents of each query, one count per line, for rows without query ids.
LightGBM names such a file `train.txt.query`, XGBoost `train.txt.group`. Rows are `grade index:value …`.
Queries are numbered 1, 2, … in the order of the counts. A file of scores has one number per line, in the
order of its data file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.files import write_whole
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.textfile import (
    Chunk,
    StrPath,
    check_blank_lines,
    open_bytes,
    show,
    text_chunks,
)
from rankviz.datasets.types import RankingData, require_data

ENDINGS = (".query", ".group")
_TEXT = re.compile(r"\.(txt|dat|svm|svmlight|libsvm|letor)$", re.IGNORECASE)
_PACKED = re.compile(r"\.gz$", re.IGNORECASE)
_ROW = re.compile(rb"[ \t]*+([^ \t#]++)(.*+)", re.DOTALL)
_QUERY = re.compile(rb"[ \t]++qid:")
_COUNT = re.compile(rb"[ \t]*+([0-9]{1,9}+)[ \t]*+")
_REMEDY = "Check that the two files belong together: the counts add up to the number of documents."
_SCORE = re.compile(rb"[ \t]*+([-+.0-9eE]++)[ \t]*+")
_SCORE_REMEDY = "Write one finite number for each document, in the order of the data file."


def group_file(path: StrPath) -> Path | None:
    """Return the group file beside a data file, None if there is none.

    For train.txt.gz it is train.txt.gz.query, train.txt.query or train.query, or the same with .group. Links
    out of the folder are not followed.
    """
    name = os.fspath(path)
    plain = _PACKED.sub("", name)
    stems = dict.fromkeys((name, plain, _TEXT.sub("", plain)))
    beside = (Path(stem + ending) for stem in stems for ending in ENDINGS)
    for file in beside:
        if file.is_file() and os.path.dirname(os.path.realpath(file)) == os.path.realpath(file.parent):
            return file
    return None


def add_query_ids(
    chunks: Iterator[Chunk], path: StrPath, shown: str, group: StrPath | None
) -> Iterator[Chunk]:
    """Yield chunks of the file at `path`, with query ids by the counts in `group` if the rows have none.

    With `group` None, the group file beside the data applies if the first row has no query id. Raises
    `DataError`, with file and line, for counts that are not whole numbers from 1 or have a wrong sum, and for
    query ids together with a `group`.
    """
    counts = group_file(path) if group is None else group
    if counts is None:
        yield from chunks
        return
    seen, names_query = [], False
    for chunk in chunks:
        seen.append(chunk)
        rows = [row for line in chunk.lines if (row := _ROW.fullmatch(line))]
        if rows:
            names_query = bool(_QUERY.match(rows[0][2]))
            break
        check_blank_lines(chunk.first + len(chunk.lines) - 1, 0, shown)
    rest = chain(seen, chunks)
    if group is None and names_query:
        yield from rest
        return
    called = os.fspath(counts) if shown == os.fspath(path) else f"{shown} ({os.path.basename(counts)})"
    yield from _numbered(rest, shown, counts, called)


def lacks_query_ids(path: StrPath) -> bool:
    """Return True if a data file has a group file, and its first row has no query id."""
    if group_file(path) is None:
        return False
    with open_bytes(path) as stream:
        for chunk in text_chunks(stream, os.fspath(path)):
            for line in chunk.lines:
                if row := _ROW.fullmatch(line):
                    return not _QUERY.match(row[2])
            check_blank_lines(chunk.first + len(chunk.lines) - 1, 0, os.fspath(path))
    return False


def renumber_counted_queries(
    parts: Mapping[str, RankingData], files: Mapping[str, Path]
) -> dict[str, RankingData]:
    """Renumber counted queries from one part of a fold to the next, so that ids are unique."""
    out, counted = dict(parts), 0
    for part, data in parts.items():
        if lacks_query_ids(files[part]):
            out[part] = replace(data, query_ids=data.query_ids + counted)
            counted += data.n_queries
    return out


def _numbered(chunks: Iterator[Chunk], shown: str, group: StrPath, called: str) -> Iterator[Chunk]:
    """Rewrite rows in LETOR's format: `grade qid:query index:value …`, queries 1, 2, …."""
    lines, counts = _counts(group, called)
    ends, done, query = np.cumsum(counts).tolist(), 0, 0
    for chunk in chunks:
        out = []
        for number, line in enumerate(chunk.lines, chunk.first):
            if row := _ROW.fullmatch(line):
                if query < len(ends) and done == ends[query]:
                    query += 1
                if query == len(ends):
                    raise DataError(
                        f"document {done + 1:,}",
                        expected=f"{done:,} documents, as {called} counts",
                        remedy=_REMEDY,
                        path=shown,
                        line=number,
                    )
                line = _with_query(row, query + 1, shown, number)
                done += 1
            out.append(line)
        yield Chunk(chunk.first, out)
    if done < ends[-1]:
        short = int(np.searchsorted(ends, done, side="right"))
        raise DataError(
            f"counts of {ends[-1]:,} documents, {ends[short]:,} of them up to this line",
            expected=f"counts of the {done:,} documents in {shown}",
            remedy=_REMEDY,
            path=called,
            line=lines[short],
        )


def _with_query(row: re.Match[bytes], query: int, shown: str, number: int) -> bytes:
    label, rest = row.groups()
    if _QUERY.match(rest):
        raise DataError(
            "a query id in a file whose queries a group file counts",
            expected="'grade index:value …' on every line, or a query id on every line",
            remedy="Read the file without the group file, or remove the query ids.",
            path=shown,
            line=number,
        )
    return b"%s qid:%d%s" % (label, query, rest)


def _counts(group: StrPath, name: str) -> tuple[list[int], list[int]]:
    """Read the counts of a group file, and their line numbers."""
    lines, counts = [], []
    with open_bytes(group) as stream:
        for chunk in text_chunks(stream, name):
            for number, line in enumerate(chunk.lines, chunk.first):
                if not line.strip(b" \t"):
                    continue
                match = _COUNT.fullmatch(line)
                if match is None or int(match[1]) == 0:
                    raise _no_count(show(line), name, number)
                lines.append(number)
                counts.append(int(match[1]))
            check_blank_lines(chunk.first + len(chunk.lines) - 1, len(counts), name, "counts")
    if not counts:
        raise _no_count("no counts", name, None)
    return lines, counts


def _no_count(found: str, name: str, number: int | None) -> DataError:
    return DataError(
        found,
        expected="the number of documents of one query, a whole number from 1",
        remedy="Write one number a line, for each query how many of the rows are its own.",
        path=name,
        line=number,
    )


def read_scores(path: StrPath, data: RankingData) -> FloatArray:
    """Read one score per line, in file order, and return them (n,) in the order of `data`'s documents.

    Raises `DataError`, with path and line, for lines that are not one finite number and for too few or many.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankviz import RankingData, evaluate, read_scores
    >>> data = RankingData.from_arrays([[0.5], [0.1], [0.7]], y=[1, 0, 2], qid=[7, 7, 8])
    >>> _ = Path("scores.txt").write_text("0.3\\n-1.5\\n2e-3\\n")
    >>> scores = read_scores("scores.txt", data)
    >>> evaluate(scores, data).mean["MAP"].item()
    1.0
    """
    require_data(data, "Call read_scores(path, data).")
    scores: list[float] = []
    number, name = 0, os.fspath(path)
    with open_bytes(path) as stream:
        for chunk in text_chunks(stream, name):
            for number, line in enumerate(chunk.lines, chunk.first):
                if len(scores) < data.n_documents:
                    scores.append(_score(line, name, number))
                elif line.strip(b" \t"):  # blank lines at the end are not scores
                    raise _wrong_count(f"more than {len(scores)} scores", data, name, number)
            check_blank_lines(number, len(scores), name, "scores")
    if len(scores) < data.n_documents:
        raise _wrong_count(f"the end after {len(scores)} scores", data, name, number or None)
    out = np.empty(data.n_documents)
    out[np.argsort(data.rows, kind="stable")] = scores
    return out


def write_scores(path: StrPath, data: RankingData, scores: ArrayLike) -> None:
    """Write scores (n,), given in the order of `data`'s documents, one per line in file order.

    This undoes the regrouping of separated queries. The file is written aside and renamed. Raises `DataError`
    unless there is one finite score per document.
    """
    require_data(data, "Call write_scores(path, data, scores).")
    values = score_array(scores, data.n_documents, os.fspath(path), data.query_of)
    with write_whole(path) as stream:
        stream.writelines(score_lines(values, data))


def score_lines(scores: FloatArray, data: RankingData) -> Iterator[bytes]:
    """Yield the lines of a file of scores."""
    return (b"%r\n" % score for score in scores[np.argsort(data.rows, kind="stable")].tolist())


def _score(line: bytes, path: str, number: int) -> float:
    match = _SCORE.fullmatch(line)
    try:
        score = float(match[1]) if match else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(
            show(line), expected="one finite number", remedy=_SCORE_REMEDY, path=path, line=number
        )
    return score


def _wrong_count(found: str, data: RankingData, path: str, line: int | None) -> DataError:
    expected = f"one score for each of the {data.n_documents} documents"
    return DataError(found, expected=expected, remedy=_SCORE_REMEDY, path=path, line=line)
