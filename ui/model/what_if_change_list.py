"""The list of changes, in the session and in the address, with undo.

Changes belong to a data set and fold: on other data they are put aside, and restored on return.

See docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from rankviz.common.errors import DataError
from rankviz.common.numbers import counted
from rankviz.datasets import Fold
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
    next_document,
)
from rankviz.whatif.lookup import index_of_document, place_of_query
from ui.controls.link import VERSION, shortened
from ui.model.what_if_words import REFUSED
from ui.shell.texts import escaped

_ORDER = (DocumentAdded, Change, FeatureOff, DocumentOut, QueryOut, SomeQueries)
"""Kinds in the order of application; `Change` stands for all other kinds."""
LONGEST = 1800
"""Most letters of changes in an address: servers and mail programs cut those beyond 2,000."""
MOST_READ = 500
"""Most changes read from an address: each is tried on the data, and `LONGEST` letters hold 360."""
MOST_DIGITS = 15
"""Most digits of a document's number or a grade."""
_BETWEEN = "__"
_FIELDS_OF_A_DROP = 4
"""Number of separators in a grade's change with the rank at which its document was dropped."""
_PARTS = {"t": "train", "v": "vali", "e": "test"}
KEY = "changes"
"""Keys of the list in the session, and of its text in the address."""
_OF, _ASIDE, _PAST, _VERSION = "changes-of", "changes-aside", "changes-past", "changes-version"
MOST_PAST = 100


def applied(lines: Iterable[Line], fold: Fold) -> tuple[Change, ...]:
    """Return the active changes of existing items, in an order in which all can be applied."""
    on = [line.change for line in lines if line.on]
    there = {_key(change) for change in on if isinstance(change, DocumentAdded)}
    kept = [change for change in on if not _is_added(change, fold) or _key(change) in there]
    return tuple(sorted(kept, key=_place))


def possible(lines: Sequence[Line], fold: Fold) -> tuple[list[Line], list[DataError]]:
    """Return the lines that can be in the list, each once, and the errors of the others.

    Active changes are applied one after the other, like on the page. A change that is off is applied alone,
    to data with all added documents.
    """
    lines = list({line.change: line for line in lines}.values())
    on, refused = applied(lines, fold), dict[Change, DataError]()
    off = [line.change for line in lines if not line.on]
    now, alone = fold, fold
    for change in on:
        now = _tried(change, now, refused)
    for change in sorted([*on, *off], key=_place):
        if isinstance(change, DocumentAdded) and change not in refused:
            alone = _tried(change, alone, refused)
    for change in off:
        if not isinstance(change, DocumentAdded) and not _is_added(change, fold):
            _tried(change, alone, refused)
    return [line for line in lines if line.change not in refused], list(refused.values())


def _tried(change: Change, fold: Fold, refused: dict[Change, DataError]) -> Fold:
    """Return the fold after a change; if it fails, record the error and return the fold."""
    try:
        return changed(fold, [change])
    except DataError as error:
        refused[change] = error
        return fold


def has_no_effect(line: Line, lines: Sequence[Line], fold: Fold) -> bool:
    """Return True if an active change has no effect, because its document is not there."""
    return line.on and line.change not in applied(lines, fold)


def next_number(part: str, lines: Iterable[Line], fold: Fold) -> int:
    """Return a number for a document to be added to a part."""
    own = [line.change for line in lines if isinstance(line.change, DocumentAdded)]
    taken = [change.document for change in own if change.part(fold) == part]
    return max([next_document(fold.parts[part]) - 1, *taken]) + 1


def _place(change: Change) -> int:
    return next((i for i, kind in enumerate(_ORDER) if type(change) is kind), 1)


def _key(change: Change) -> tuple[object, object]:
    return getattr(change, "query", None), getattr(change, "document", None)


def _is_added(change: Change, fold: Fold) -> bool:
    """Return True if a change is about a document outside the data."""
    document = getattr(change, "document", None)
    if document is None:
        return False
    return document >= next_document(fold.parts[change.part(fold)])


@dataclass(frozen=True)
class Line:
    """A change in the list, with its switch.

    `asked` is the rank at which its document was dropped, counted from 1; 0 for other changes.
    """

    change: Change
    on: bool = True
    asked: int = 0


def encoded(lines: Sequence[Line], fold: Fold) -> str:
    """Return the list as a text."""
    return _BETWEEN.join(
        ("" if line.on else "-") + _encoded(line.change, fold) + (f"_{line.asked}" if line.asked else "")
        for line in lines
    )


def divided(text: str) -> list[str]:
    """Return the texts of the single changes in the text of a list."""
    return text.split(_BETWEEN) if text else []


def decoded(text: str, fold: Fold) -> Line:
    """Return the line from a text of one change; `DataError` if it does not fit this fold."""
    on, change, asked = not text.startswith("-"), text.removeprefix("-"), ""
    if change.startswith("g_") and change.count("_") == _FIELDS_OF_A_DROP:
        change, _, asked = change.rpartition("_")
    return Line(_decoded(change, fold), on, _rank(asked))


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
        case SomeQueries():
            fields = ("h", _short(change.share), change.draw)
        case WrongGrades():
            fields = ("n", _short(change.share), change.draw)
        case OtherDraw():
            fields = ("r", change.seed)
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
            case "h", [share, draw]:
                return SomeQueries(_finite(share), _whole(draw))
            case "n", [share, draw]:
                return WrongGrades(_finite(share), _whole(draw))
            case "r", [seed]:
                return OtherDraw(_whole(seed))
            case "a", [query, document, grade, *values]:
                features = tuple(map(_finite, values))
                return DocumentAdded(_named(query, fold), _whole(document), features, _whole(grade))
    except (ValueError, KeyError, IndexError):
        pass
    raise _no_change(text)


def _no_change(text: str) -> DataError:
    return DataError(
        f"“{shortened(text)}”, which is not a change of these data",
        expected="a change from this page's address",
        remedy="Get the link again.",
    )


def _beyond(text: str) -> DataError:
    return DataError(
        f"“{shortened(text)}”, which is beyond the first {MOST_READ}",
        expected=f"at most {MOST_READ} changes in a link",
        remedy="Remove changes.",
    )


def _whole(text: str) -> int:
    """Return the whole number ≥ 0 in a text; ValueError for others."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ValueError(text)
    return int(text)


def _rank(text: str) -> int:
    """Return the rank in a text, 0 for an empty one; `DataError` for others."""
    try:
        return _whole(text or "0")
    except ValueError:
        raise _no_change(text) from None


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


def lines(fold: Fold) -> list[Line]:
    """Return the changes of a fold, as read by the model; in the first run from the address."""
    state = st.session_state
    of = (state.get("data"), state.get("fold"))
    if state.setdefault(_OF, of) != of:
        state.setdefault(_ASIDE, {})[state[_OF]] = state.get(KEY, [])
        state[_OF], state[_PAST] = of, []
        state[KEY] = state[_ASIDE].get(of, [])
    elif KEY not in state:
        state[KEY] = _from_address(fold)
    found: list[Line] = state[KEY]
    _write_address(found, fold)
    return found


def _from_address(fold: Fold) -> list[Line]:
    """Return the changes of the address; report and drop invalid ones."""
    found, refused = list[Line](), list[DataError]()
    texts = divided(st.query_params.get(KEY, ""))
    for text in texts[:MOST_READ]:
        try:
            found.append(decoded(text, fold))
        except DataError as error:
            refused.append(error)
    found, impossible = possible(found, fold)
    refused += [_beyond(text) for text in texts[MOST_READ:]]
    if refused := [*refused, *impossible]:
        one = len(refused) == 1
        st.warning(
            REFUSED.format(
                changes=counted(len(refused), "change"),
                are="is" if one else "are",
                reason="Reason" if one else "First reason",
                first=escaped(refused[0].found),
            ),
            icon=":material/link_off:",
        )
    return found


def _write_address(found: Sequence[Line], fold: Fold) -> None:
    """Put a changed list into the address, with the version of the defaults.

    A fragment runs without the router, which otherwise adds the version.
    """
    text = encoded(found, fold)
    text = text if len(text) <= LONGEST else ""
    if st.query_params.get(KEY, "") == text:
        return
    if text:
        st.query_params["v"] = VERSION
        st.query_params[KEY] = text
    else:
        del st.query_params[KEY]


def too_long(found: Sequence[Line], fold: Fold) -> int:
    """Return the length of the changes in a link if it is too long; else 0."""
    n = len(encoded(found, fold))
    return n if n > LONGEST else 0


def version() -> int:
    """Return a number that grows with every change of the list, so that widgets of its lines restart."""
    return int(st.session_state.get(_VERSION, 0))


def add(changes: Sequence[Change], fold: Fold, dropped: tuple[int, int] = (-1, 0)) -> None:
    """Append changes to the list; each replaces an earlier change of the same item.

    A change back to the original grade, feature or weight leaves no line. `dropped` is a document, and the
    rank at which it was dropped.
    """
    found = list(st.session_state[KEY])
    for change in changes:
        found = [line for line in found if not _same_thing(line.change, change)]
        if not _as_in_the_data(change, fold):
            own = getattr(change, "document", None) == dropped[0]
            found.append(Line(change, asked=dropped[1] if own else 0))
    _put(found)


def switch(place: int) -> None:
    """Switch a change on or off (a callback)."""
    found = list(st.session_state[KEY])
    found[place] = replace(found[place], on=not found[place].on)
    _put(found)


def remove(place: int) -> None:
    """Remove a change from the list, and those of a document that it added (a callback)."""
    found = list(st.session_state[KEY])
    gone = found.pop(place).change
    if isinstance(gone, DocumentAdded):
        found = [line for line in found if _document(line.change) != (gone.query, gone.document)]
    _put(found)


def clear() -> None:
    """Remove all changes (a callback)."""
    _put([])


def undo() -> None:
    """Undo the last action (a callback); for a list from a link, remove its last line."""
    past, found = st.session_state.get(_PAST, []), st.session_state[KEY]
    if past or found:
        st.session_state[KEY] = past.pop() if past else found[:-1]
        st.session_state[_VERSION] = version() + 1


def can_undo() -> bool:
    """Return True if there is something to undo."""
    return bool(st.session_state.get(_PAST) or st.session_state.get(KEY))


def _put(found: list[Line]) -> None:
    state = st.session_state
    if found == state[KEY]:
        return
    state[_PAST] = [*state.get(_PAST, []), state[KEY]][-MOST_PAST:]
    state[KEY] = found
    state[_VERSION] = version() + 1


def _document(change: Change) -> tuple[object, int] | None:
    """Return the document of a change."""
    number = getattr(change, "document", None)
    return None if number is None else (getattr(change, "query", None), number)


def _same_thing(one: Change, other: Change) -> bool:
    """Return True if the later of two changes overrides the earlier one."""
    if type(one) is not type(other):
        return False
    if isinstance(one, FeatureSet):
        return _document(one) == _document(other) and one.feature == getattr(other, "feature", None)
    if isinstance(one, SomeQueries | WrongGrades | OtherDraw):
        return True
    if isinstance(one, QueryWeighed):
        return one.query == getattr(other, "query", None)
    return one == other or (isinstance(one, GradeSet) and _document(one) == _document(other))


def _as_in_the_data(change: Change, fold: Fold) -> bool:
    """Return True if a change sets something to its original value."""
    if isinstance(change, SomeQueries | WrongGrades):
        return not change.sample.drawn
    if isinstance(change, QueryWeighed):
        return change.weight == 1.0
    if not isinstance(change, GradeSet | FeatureSet):
        return False
    data = fold.parts[change.part(fold)]
    if place_of_query(data, change.query) is None or change.document not in data.rows:
        return False  # an added document
    i = index_of_document(data, change.query, change.document)
    if isinstance(change, GradeSet):
        return int(data.y[i]) == change.grade
    return float(data.X[i, change.feature]) == change.value
