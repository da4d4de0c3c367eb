"""Active changes of the list, in an order in which items are left out last.

So switching a line off or on never makes another one invalid: a grade has no effect if its document is left
out, or if the line that adds its document is off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankviz.common.errors import DataError
from rankviz.datasets import Fold
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    QueryOut,
    changed,
    next_document,
)
from ui.what_if.encoding import Line

_ORDER = (DocumentAdded, Change, FeatureOff, DocumentOut, QueryOut)
"""Kinds in the order of application; others take the place of `Change`."""


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


def sleeps(line: Line, lines: Sequence[Line], fold: Fold) -> bool:
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
