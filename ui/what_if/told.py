"""Messages of the list component as changes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.datasets import Fold
from rankviz.whatif.changes import Change, DocumentOut, GradeSet, grades_to_prefer
from rankviz.whatif.lookup import index_of_document
from ui.shell.components import digits, either, one_of, record, whole
from ui.shell.texts import escaped
from ui.what_if import state, words
from ui.what_if.lists import names_of

MENU = 20
"""Highest grade up to which a menu lists all grades; above it, only those in the data."""
SHAPE = either(
    record(do=one_of("grade"), key=digits, grade=whole),
    record(do=one_of("out"), key=digits),
    record(do=one_of("above", "below"), key=digits, other=digits),
)
"""Shape of the component's messages; documents are named by number, as text."""
_NOTE, _DRAGGED = "what-if-note", "what-if-dragged"


def grades(fold: Fold) -> list[int]:
    """Return the grades that a document may get."""
    top = highest(fold)
    if top <= MENU:
        return list(range(top + 1))
    return sorted({int(grade) for part in fold.parts.values() for grade in set(part.y.tolist())})


def highest(fold: Fold) -> int:
    """Return the highest grade of the fold, at least 1."""
    return max(1, *(int(part.y.max(initial=0)) for part in fold.parts.values()))


def note() -> str:
    """Return once why the last message changed nothing; "" if it did."""
    return str(st.session_state.pop(_NOTE, ""))


def dragged(query: Any) -> int | None:
    """Return the last dragged document, until the list changes otherwise or another query is shown."""
    own, number, version = st.session_state.get(_DRAGGED, (None, None, -1))
    return number if (own, version) == (query, state.version()) else None


def take(told: dict[str, Any], changed: Fold, fold: Fold, part: str, query: Any) -> None:
    """Add a message's changes to the list; explain a drop without any."""
    found = changes_of(told, changed, fold, part, query)
    state.add(found, fold)
    st.session_state[_DRAGGED] = (query, int(told["key"]), state.version())
    if not found:
        st.session_state[_NOTE] = _already(told, changed, part, query)


def changes_of(told: dict[str, Any], changed: Fold, fold: Fold, part: str, query: Any) -> list[Change]:
    """Return the changes of a gesture, given the changed data; `DataError` for unknown documents."""
    own = int(told["key"])
    data = changed.parts[part]
    index_of_document(data, query, own)
    match told["do"]:
        case "grade":
            return [GradeSet(query, own, int(told["grade"]))]
        case "out":
            return [DocumentOut(query, own)]
        case "above":
            return list(grades_to_prefer(data, query, own, int(told["other"]), own, highest(fold)))
        case _:
            return list(grades_to_prefer(data, query, int(told["other"]), own, own, highest(fold)))


def _already(told: dict[str, Any], changed: Fold, part: str, query: Any) -> str:
    """Explain that the grades already imply this order."""
    data, names = changed.parts[part], names_of(changed.parts[part], query)
    pair = (int(told["key"]), int(told["other"]))
    above, below = pair if told["do"] == "above" else pair[::-1]
    first, second = (int(data.y[index_of_document(data, query, one)]) for one in (above, below))
    return words.ALREADY.format(
        above=escaped(names[above]), first=first, below=escaped(names[below]), second=second
    )
