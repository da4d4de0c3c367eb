"""Data of the list component: the documents of a query in the old and in the new order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets import Fold, RankingData
from rankviz.datasets.statistics import document_names
from rankviz.plots.style import GRADE_COLOURS
from rankviz.whatif.lookup import index_of_query
from rankviz.whatif.outcomes import Outcome
from ui.shell.figures import ON_DARK

EVEN = 0.179
"""Luminance at which black and white text have equal contrast, √(1.05 · 0.05) − 0.05."""


@dataclass(frozen=True)
class Shown:
    """A document of the shown query, with its number in `rows`.

    `was` and `before` are its grade and its rank, counted from 0, without the changes; None for an added
    document.
    """

    number: int
    name: str
    grade: int
    was: int | None
    score: float
    before: int | None


@dataclass(frozen=True)
class Lists:
    """A query's documents, best first: old numbers and names, and their present state."""

    query: Any
    part: str
    before: tuple[tuple[int, str], ...]
    now: tuple[Shown, ...]

    def rank(self, number: int) -> int | None:
        """Return the present rank of a document, counted from 0."""
        return next((rank for rank, one in enumerate(self.now) if one.number == number), None)

    def find(self, number: int) -> Shown | None:
        """Return a present document."""
        return next((one for one in self.now if one.number == number), None)


def lists(fold: Fold, before: FloatArray, outcome: Outcome, part: str, query: Any) -> Lists:
    """Return the documents of a query of a part, ranked by scores (n,) without and with changes."""
    own = _numbers(fold.parts[part], query)
    order = _ranked(before[own.rows])
    names = names_by_number(fold.parts[part], query)
    ranks = {own.numbers[place]: rank for rank, place in enumerate(order)}
    grades = dict(zip(own.numbers, own.grades, strict=True))
    data = outcome.fold.parts[part]
    there, scores = _numbers(data, query), outcome.new[part]
    added = [number for number in there.numbers if number not in ranks]
    names |= {number: f"new document {place}" for place, number in enumerate(added, start=1)}
    now = [
        Shown(number, names[number], there.grades[place], grades.get(number), score, ranks.get(number))
        for place in _ranked(scores[there.rows])
        for number, score in [(there.numbers[place], float(scores[there.rows][place]))]
    ]
    listed = tuple((own.numbers[place], names[own.numbers[place]]) for place in order)
    return Lists(query, part, listed, tuple(now))


def names_by_number(data: RankingData, query: Any) -> dict[int, str]:
    """Return the names of a query's documents, by number."""
    q = index_of_query(data, query)
    return dict(zip(data.rows[data.query_slice(q)].tolist(), document_names(data, q), strict=True))


def component_data(found: Lists, grades: Sequence[int], marked: int | None, dark: bool) -> dict[str, Any]:
    """Return the lists as plain values, with document keys as texts."""
    return {
        "grades": list(grades),
        "colours": _colours(dark),
        "marked": None if marked is None else str(marked),
        "before": [{"key": str(number), "name": name} for number, name in found.before],
        "now": [
            {
                "key": str(one.number),
                "name": one.name,
                "grade": one.grade,
                "was": one.was,
                "score": one.score,
                "before": one.before,
            }
            for one in found.now
        ],
    }


@dataclass(frozen=True)
class _Own:
    rows: slice
    numbers: list[int]
    grades: list[int]


def _numbers(data: RankingData, query: Any) -> _Own:
    rows = data.query_slice(index_of_query(data, query))
    return _Own(rows, data.rows[rows].tolist(), data.y[rows].tolist())


def _ranked(scores: FloatArray) -> list[int]:
    """Return positions by descending score; ties keep the order of the file."""
    return [int(place) for place in np.argsort(-scores, kind="stable")]


def _colours(dark: bool) -> list[tuple[str, str]]:
    """Return colours of the grades 0, 1, …, each with the more readable text colour, black or white."""
    backs = [ON_DARK.get(colour, colour) if dark else colour for colour in GRADE_COLOURS]
    return [(back, "#000000" if _luminance(back) > EVEN else "#ffffff") for back in backs]


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as "#08519c", by WCAG's definition."""
    shares = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
