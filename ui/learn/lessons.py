"""Lessons in the browser: their texts, and their state in the address.

The browser does the work (ui/browser/lessons/lesson.js). Python sends a lesson's texts. It keeps in the
address which lesson and step is shown, and the reader's prediction.
"""

from __future__ import annotations

import json
import re
from typing import Any

import streamlit as st

from ui.controls.widgets import Bound, write_address
from ui.learn import lessons_words as words
from ui.shell.components import SCRIPTS, Shape, mount, record, text, whole

FOLDER = SCRIPTS / "lessons"
KEY, LESSON, STEP, GUESS = "lesson-figure", "lesson", "step", "guess"
"""Key of the component; keys of the state in the session and in the address."""
STEPS = 5
LONGEST = 600
"""Most letters of a prediction."""
_PREDICTION = re.compile(r"shown|(-?\d{1,9}(\.\d{1,6})?(_-?\d{1,9}(\.\d{1,6})?)*)?")


def texts(name: str) -> dict[str, Any]:
    """Return a file of texts: "frame", or a lesson's."""
    found: dict[str, Any] = json.loads((FOLDER / "texts" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def order() -> list[str]:
    """Return the names of all lessons in their order."""
    return list(texts("frame")["lessons"])


def prediction(value: Any) -> bool:
    """Return True for a prediction: numbers joined by "_", "shown", or nothing yet."""
    return isinstance(value, str) and len(value) <= LONGEST and bool(_PREDICTION.fullmatch(value))


MOVED: Shape = record(lesson=text, step=whole, guess=prediction)
"""Shape of the browser's messages."""


def chosen() -> str:
    """Draw the menu of lessons; return the chosen one."""
    titles = {name: f"{k}. {texts(name)['title']}" for k, name in enumerate(order(), start=1)}
    name = Bound().menu(LESSON, "Lesson", titles, label_visibility="collapsed", width=280, help=words.HELP)
    return str(name)


def lesson(name: str) -> None:
    """Draw a lesson at the step of the address."""
    step, guess = _state(name)
    following = order()[order().index(name) + 1 :][:1]
    mount(
        FOLDER / "lesson.js",
        KEY,
        {
            "words": texts("frame"),
            "text": texts(name),
            "dark": st.context.theme.type == "dark",
            "state": {"lesson": name, "step": step, "guess": guess},
            "app": "",
            "next": {"lesson": following[0], "title": texts(following[0])["title"]} if following else None,
        },
        {"moved": (MOVED, _take)},
    )


_OF = "lesson-of-state"


def _state(name: str) -> tuple[int, str]:
    """Return step and prediction: at first from the address, then from the session; 0 for another lesson."""
    state, asked = st.session_state, st.query_params
    if _OF not in state:
        step, guess = asked.get(STEP, ""), asked.get(GUESS, "")
        state[STEP] = int(step) - 1 if step.isascii() and step.isdecimal() and 1 <= int(step) <= STEPS else 0
        state[GUESS] = guess if prediction(guess) else ""
    elif state[_OF] != name:
        state[STEP], state[GUESS] = 0, ""
    state[_OF] = name
    write_address(STEP, str(state[STEP] + 1) if state[STEP] else "")
    write_address(GUESS, state[GUESS])
    return state[STEP], state[GUESS]


def _take(message: dict[str, Any]) -> None:
    """Keep the browser's state (a callback); it may also ask for another lesson."""
    state = st.session_state
    if message["lesson"] in order() and 0 <= message["step"] < STEPS:
        if message["lesson"] != state.get(LESSON):
            state[LESSON] = state[_OF] = message["lesson"]
        state[STEP], state[GUESS] = message["step"], message["guess"]
