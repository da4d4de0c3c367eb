"""The list of changes, in the session and in the address, with undo.

Changes belong to a data set and fold: on other data they are put aside, and restored on return.

See docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from rankviz.common.errors import DataError
from rankviz.common.numbers import counted
from rankviz.datasets import Fold
from rankviz.whatif.changes import Change, DocumentAdded, FeatureSet, GradeSet, QueryWeighed
from rankviz.whatif.lookup import index_of_document, place_of_query
from ui.controls.link import VERSION
from ui.shell.texts import escaped
from ui.what_if.applied import possible
from ui.what_if.encoding import LONGEST, Line, decoded, divided, encoded
from ui.what_if.words import REFUSED

KEY = "changes"
"""Keys of the list in the session, and of its text in the address."""
_OF, _ASIDE, _PAST, _VERSION = "changes-of", "changes-aside", "changes-past", "changes-version"
MOST_PAST = 100


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
    for text in divided(st.query_params.get(KEY, "")):
        try:
            found.append(decoded(text, fold))
        except DataError as error:
            refused.append(error)
    found, impossible = possible(found, fold)
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


def add(changes: Sequence[Change], fold: Fold) -> None:
    """Append changes to the list; each replaces an earlier change of the same item.

    A change back to the original grade, feature or weight leaves no line.
    """
    found = list(st.session_state[KEY])
    for change in changes:
        found = [line for line in found if not _same_thing(line.change, change)]
        if not _as_in_the_data(change, fold):
            found.append(Line(change))
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
    if isinstance(one, QueryWeighed):
        return one.query == getattr(other, "query", None)
    return one == other or (isinstance(one, GradeSet) and _document(one) == _document(other))


def _as_in_the_data(change: Change, fold: Fold) -> bool:
    """Return True if a change sets a grade or a feature to its original value."""
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
