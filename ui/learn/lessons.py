"""Lessons in the browser: their texts, and their state in the address.

The browser does the work (ui/browser/lessons/lesson.js). Python sends a lesson's texts. It keeps in the
address which lesson and step is shown, and the reader's prediction.
"""

from __future__ import annotations

import math
import re
from typing import Any

import streamlit as st

from ui.controls.lesson_texts import FOLDER, GUESS, LESSON, REVEAL, STEP, named, order, texts
from ui.controls.link import report_invalid, shortened
from ui.controls.sequence import report_gap
from ui.controls.widgets import write_address
from ui.shell.components import mount, record, text, whole

KEY = "lesson-figure"
"""Key of the component."""
STATE = (LESSON, STEP, GUESS)
"""Keys of the state in the session and in the address."""
_UNKNOWN = "There is no lesson “{name}”. Choose one from the menu of lessons."
_MENU, _WRITTEN, _TOLD = "lesson-menu", "lesson-written", "lesson-told"
_NUMBER = r"([+−]?[0-9]{1,6}(?:\.[0-9]{1,3})?)"
"""A number in the words of a gap."""
STEPS = ("1", "2", "3", "4", "5")
LONGEST = 600
"""Most letters of a prediction."""
_PREDICTION = re.compile(r"shown|(-?\d{1,9}(\.\d{1,6})?(_-?\d{1,9}(\.\d{1,6})?)*)?")


def prediction(value: Any) -> bool:
    """Return True for a prediction: numbers joined by "_", "shown", or nothing yet."""
    return isinstance(value, str) and len(value) <= LONGEST and bool(_PREDICTION.fullmatch(value))


MOVED = record(lesson=text, step=whole, guess=prediction)
"""Shape of the browser's messages: which lesson and step is shown, and the prediction."""


def chosen() -> str:
    """Draw the menu of lessons; return the chosen one's name.

    The menu is not bound to the address: there a lesson has its name, which no translation changes.
    """
    _from_address()
    titles = {name: f"{k}. {texts(name)['title']}" for k, name in enumerate(order(), start=1)}
    st.session_state[_MENU] = st.session_state[LESSON]
    st.selectbox(
        texts("frame")["menu"],
        list(titles),
        format_func=titles.__getitem__,
        key=_MENU,
        on_change=_choose,
        label_visibility="collapsed",
        width=280,
    )
    return str(st.session_state[LESSON])


def lesson(name: str) -> None:
    """Draw a lesson at the session's step, and put its state into the address."""
    state = st.session_state
    state[_WRITTEN] = (
        name if name != order()[0] else "",
        str(state[STEP] + 1) if state[STEP] else "",
        state[GUESS],
    )
    for key, value in zip(STATE, state[_WRITTEN], strict=True):
        write_address(key, value)
    following = order()[order().index(name) + 1 :][:1]
    data = {
        "words": texts("frame"),
        "text": texts(name),
        "state": {"lesson": name, "step": state[STEP], "guess": state[GUESS]},
        "app": "",
        "next": {"lesson": following[0], "title": texts(following[0])["title"]} if following else None,
    }
    mount(FOLDER / "lesson.js", KEY, data, {"moved": (MOVED, _take)})


def _from_address() -> None:
    """Take the state from the address if it is new; report what is unknown.

    It is new in a session's first run, and after a link to a lesson from another page. After a message it is
    not: the browser may still have an older address.
    """
    state = st.session_state
    if state.pop(_TOLD, False):
        return
    asked = tuple(st.query_params.get(key, "") for key in STATE)
    if LESSON in state and (asked == state.get(_WRITTEN) or not any(asked)):
        return
    name, (_, step, guess) = named(asked[0]), asked
    known = (bool(name or not asked[0]), not step or step in STEPS, prediction(guess))
    if not known[0]:  # beside the page: the menu, which has all lessons, stays in its place
        st.toast(_UNKNOWN.format(name=shortened(asked[0])), icon=":material/link_off:", duration="long")
    for key, value, accepted in zip(STATE[1:], asked[1:], known[1:], strict=True):
        if not accepted:
            report_invalid(key, value)
    state[LESSON] = name or order()[0]
    state[STEP] = STEPS.index(step) if known[1] and step else 0
    state[GUESS] = guess if known[2] else ""


def _choose() -> None:
    """Begin the lesson that the menu has (a callback)."""
    state = st.session_state
    state[LESSON], state[STEP], state[GUESS], state[_TOLD] = state[_MENU], 0, "", True


def _take(message: dict[str, Any]) -> None:
    """Keep the browser's state (a callback)."""
    if message["lesson"] in order() and 0 <= message["step"] < len(STEPS):
        st.session_state.update({key: message[key] for key in STATE} | {_TOLD: True})
        if (gap := gap_of(message["lesson"], message.get("gap"))) is not None:
            report_gap(message["lesson"], gap)


def gap_of(name: str, told: Any) -> float | None:
    """Return the gap of a lesson's prediction from the lesson's words for it.

    None for any other text, and for a number that no prediction can have: it would hide all others in the
    histogram of a class.
    """
    gap = texts(name)["steps"][REVEAL]["gap"]
    known = map(re.escape, re.split(r"\{\w+\}", gap["value"]))
    found = re.fullmatch(_NUMBER.join(known), told) if text(told) else None
    number = float(found[1].replace("−", "-")) if found else math.inf
    return number if gap["ends"][0] <= number <= gap["ends"][1] else None
