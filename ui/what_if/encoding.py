"""A list of changes as a short text of letters, digits and signs that an address leaves as they are.

Changes are divided by "__", what belongs to one by "_": "g_t3_12_2__-f_t3_5_6_0.25" gives document 12 of the
third query of the training part the grade 2, and has a feature set that is switched off (the "-"). A query is
named by its part and its place there, counted from 0, in the fold as it is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankviz.common.errors import DataError
from rankviz.datasets import Fold
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    QueryOut,
    QueryWeighed,
)
from rankviz.whatif.lookup import place_of_query
from ui.shared.in_vain import shortened

LONGEST = 1800
"""Letters of changes that an address takes: servers and mail programs cut those beyond 2,000."""
MOST_DIGITS = 15
"""Digits of a number of a document or of a grade."""
_BETWEEN = "__"
_PARTS = {"t": "train", "v": "vali", "e": "test"}


@dataclass(frozen=True)
class Line:
    """A change in the list, and whether it is switched on."""

    change: Change
    on: bool = True


def encoded(lines: Sequence[Line], fold: Fold) -> str:
    """The list as a text."""
    return _BETWEEN.join(("" if line.on else "-") + _encoded(line.change, fold) for line in lines)


def divided(text: str) -> list[str]:
    """Return the texts of the single changes in the text of a list."""
    return text.split(_BETWEEN) if text else []


def decoded(text: str, fold: Fold) -> Line:
    """Return the line that a text of one change stands for; `DataError` where it is none of this fold."""
    return Line(_decoded(text.removeprefix("-"), fold), not text.startswith("-"))


def _encoded(change: Change, fold: Fold) -> str:
    match change:
        case GradeSet():
            fields: tuple[Any, ...] = ("g", _query(change.query, fold), change.document, change.grade)
        case DocumentOut():
            fields = ("o", _query(change.query, fold), change.document)
        case FeatureSet():
            fields = ("f", _query(change.query, fold), change.document, change.feature, _short(change.value))
        case QueryOut():
            fields = ("q", _query(change.query, fold))
        case QueryWeighed():
            fields = ("w", _query(change.query, fold), _short(change.weight))
        case FeatureOff():
            fields = ("x", change.feature)
        case DocumentAdded():
            place = _query(change.query, fold)
            fields = ("a", place, change.document, change.grade, *map(_short, change.features))
        case _:
            raise TypeError(f"no text for {change!r}")
    return "_".join(map(str, fields))


def _decoded(text: str, fold: Fold) -> Change:
    kind, *fields = text.split("_")
    try:
        match kind, fields:
            case "g", [query, document, grade]:
                return GradeSet(_named(query, fold), _whole(document), _whole(grade))
            case "o", [query, document]:
                return DocumentOut(_named(query, fold), _whole(document))
            case "f", [query, document, feature, value]:
                return FeatureSet(_named(query, fold), _whole(document), _whole(feature), _finite(value))
            case "q", [query]:
                return QueryOut(_named(query, fold))
            case "w", [query, weight]:
                return QueryWeighed(_named(query, fold), _finite(weight))
            case "x", [feature]:
                return FeatureOff(_whole(feature))
            case "a", [query, document, grade, *values]:
                features = tuple(map(_finite, values))
                return DocumentAdded(_named(query, fold), _whole(document), features, _whole(grade))
    except (ValueError, KeyError, IndexError):
        pass
    raise DataError(
        f"“{shortened(text)}”, which is no change of these data",
        expected="a change from this page's address",
        remedy="Get the link again.",
    )


def _whole(text: str) -> int:
    """Return a whole number from 0 on of a text; ValueError for any other one."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ValueError(text)
    return int(text)


def _finite(text: str) -> float:
    """Return the finite number that a text stands for; ValueError where it stands for none."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _query(query: object, fold: Fold) -> str:
    """The part of a query and its place there."""
    for letter, part in _PARTS.items():
        place = place_of_query(fold.parts[part], query)
        if place is not None:
            return f"{letter}{place}"
    raise KeyError(query)


def _named(text: str, fold: Fold) -> Any:
    """What the query of a part and place is called."""
    return plain_label(fold.parts[_PARTS[text[:1]]].query_labels[_whole(text[1:])])


def plain_label(label: Any) -> Any:
    """What a query is called as a plain number or text, which a script can hold."""
    return label.item() if isinstance(label, np.generic) else label


def _short(value: float) -> str:
    """A number in the fewest letters that stand for it."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
