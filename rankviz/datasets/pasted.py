"""Read a list that a person types or pastes: a grade and a score on each line."""

from __future__ import annotations

import math
import re

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.datasets.types import RankingData

MOST = 200
"""Largest number of documents of a pasted list: its text has to fit into an address."""
LARGEST_GRADE = 100
_NAME = "pasted list"


def parse_list(text: str) -> tuple[FloatArray, RankingData]:
    """Return scores (n,) and the documents of one query, from lines "grade score" in any order.

    Tabs, semicolons, commas or spaces separate the numbers, as sheets copy them. Empty lines are skipped, and
    so is a first line without digits, which names the columns. Raises `DataError` with the line.

    Examples
    --------
    >>> from rankviz.datasets.pasted import parse_list
    >>> scores, data = parse_list("2 0.7, 0 0.9".replace(", ", chr(10)))
    >>> scores.tolist(), data.y.tolist()
    ([0.7, 0.9], [2, 0])
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and not re.search(r"\d", lines[0][1]):
        lines = lines[1:]
    if not lines or len(lines) > MOST:
        raise _refused(f"{len(lines)} lines with numbers", f"1 to {MOST} lines", "Write one document a line.")
    grades, scores = zip(*(_numbers(line, number) for number, line in lines), strict=True)
    y: IntArray = np.array(grades, dtype=np.int64)
    data = RankingData.from_arrays(np.zeros((len(y), 0)), y, np.ones(len(y), np.int64))
    return np.array(scores, dtype=np.float64), data


def _numbers(line: str, number: int) -> tuple[int, float]:
    """Return the grade and the score of a line."""
    separator = next((sign for sign in "\t;" if sign in line), None)
    cells = line.split(separator) if separator else re.split(r"\s*,\s*|\s+", line)
    if len(cells) != 2:
        raise _refused(
            f"{line[:40]!r}", "a grade and a score", "Write “2 0.75”, decimals with a point.", number
        )
    grade, score = (cell.strip() for cell in cells)
    if not (grade.isascii() and grade.isdigit()) or int(grade[:9]) > LARGEST_GRADE:
        expected = f"a whole number from 0 to {LARGEST_GRADE}"
        raise _refused(
            f"the grade {grade[:40]!r}", expected, "Write the grade first, then the score.", number
        )
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refused(f"the score {score[:40]!r}", "a number", "Write decimals with a point: 0.75.", number)
    return int(grade), value


def _refused(found: str, expected: str, remedy: str, line: int | None = None) -> DataError:
    return DataError(found, expected=expected, remedy=remedy, path=_NAME, line=line)
