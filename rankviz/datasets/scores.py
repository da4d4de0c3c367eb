"""Files of scores: one number per line, in the order of their data file."""

from __future__ import annotations

import math
import os
import re

import numpy as np
from numpy.typing import ArrayLike

from rankviz.common.arrays import FloatArray
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.letor_faults import show
from rankviz.datasets.textfile import StrPath, open_bytes, refuse_empty, text_chunks, written_aside
from rankviz.datasets.types import DataError, RankingData, require_data

_SCORE = re.compile(rb"[ \t]*+([-+.0-9eE]++)[ \t]*+")
_REMEDY = "Write one finite number for each document, in the order of the data file."


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
                elif line.strip(b" \t"):  # blank lines at the end are no scores
                    raise _wrong_count(f"more than {len(scores)} scores", data, name, number)
            refuse_empty(number, len(scores), name, "scores")
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
    in_file_order = values[np.argsort(data.rows, kind="stable")]
    with written_aside(path) as stream:
        stream.writelines(b"%r\n" % score for score in in_file_order.tolist())


def _score(line: bytes, path: str, number: int) -> float:
    match = _SCORE.fullmatch(line)
    try:
        score = float(match[1]) if match else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(show(line), expected="one finite number", remedy=_REMEDY, path=path, line=number)
    return score


def _wrong_count(found: str, data: RankingData, path: str, line: int | None) -> DataError:
    expected = f"one score for each of the {data.n_documents} documents"
    return DataError(found, expected=expected, remedy=_REMEDY, path=path, line=line)
