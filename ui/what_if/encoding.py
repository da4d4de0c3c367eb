"""A list of changes as a short text of characters that an address leaves unchanged.

"__" separates changes, "_" the fields of one: "g_t3_12_2__-f_t3_5_6_0.25" gives document 12 of the fourth
query of the training part grade 2, and sets a feature, switched off by "-". A query is named by its part and
its position there, counted from 0, in the fold as read.
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
from ui.controls.link import shortened

LONGEST = 1800
"""Most letters of changes in an address: servers and mail programs cut those beyond 2,000."""
MOST_DIGITS = 15
"""Most digits of a document's number or a grade."""
_BETWEEN = "__"
_PARTS = {"t": "train", "v": "vali", "e": "test"}


@dataclass(frozen=True)
class Line:
    """A change in the list, with its switch."""

    change: Change
    on: bool = True


def encoded(lines: Sequence[Line], fold: Fold) -> str:
    """Return the list as a text."""
    return _BETWEEN.join(("" if line.on else "-") + _encoded(line.change, fold) for line in lines)


def divided(text: str) -> list[str]:
    """Return the texts of the single changes in the text of a list."""
    return text.split(_BETWEEN) if text else []


def decoded(text: str, fold: Fold) -> Line:
    """Return the line from a text of one change; `DataError` if it does not fit this fold."""
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
    """Return the whole number ≥ 0 in a text; ValueError for others."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ValueError(text)
    return int(text)


def _finite(text: str) -> float:
    """Return the finite number in a text; ValueError for others."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _query(query: object, fold: Fold) -> str:
    """Return the part of a query and its position there."""
    for letter, part in _PARTS.items():
        place = place_of_query(fold.parts[part], query)
        if place is not None:
            return f"{letter}{place}"
    raise KeyError(query)


def _named(text: str, fold: Fold) -> Any:
    """Return the label of the query at a part and position."""
    return plain_label(fold.parts[_PARTS[text[:1]]].query_labels[_whole(text[1:])])


def plain_label(label: Any) -> Any:
    """Return a query's label as a plain number or text, for a script."""
    return label.item() if isinstance(label, np.generic) else label


def _short(value: float) -> str:
    """Format a number with the fewest letters."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
