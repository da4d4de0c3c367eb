"""Texts of the lessons, which pages and the bar of a lecture read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ui.shell.components import SCRIPTS

FOLDER = SCRIPTS / "lessons"
PAGE, LESSON, STEP, GUESS = "lessons", "lesson", "step", "guess"
"""Script of the page of lessons, and its parameters: the name of one, the step, and the prediction."""
SHOWN = "shown"
"""The prediction of a reader who asked for the answer."""
REVEAL = 2
"""Step that shows the gap of a prediction, counted from 0. An address counts from 1."""


def texts(name: str) -> dict[str, Any]:
    """Return a file of texts: "frame", or a lesson's."""
    found: dict[str, Any] = json.loads((FOLDER / "texts" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def order() -> list[str]:
    """Return the names of all lessons in their order."""
    return list(texts("frame")["lessons"])


def named(asked: str) -> str:
    """Return the name of a lesson that an address names, or gives its number; "" for an unknown one."""
    names = order()
    numbers = {str(k): name for k, name in enumerate(names, start=1)}
    return asked if asked in names else numbers.get(asked, "")


def lesson_of(page: str, query: Mapping[str, str]) -> str:
    """Return the name of the lesson that a page in a state shows; "" for another page."""
    asked = query.get(LESSON, "")
    return "" if page != PAGE else named(asked) or order()[0]


def without_prediction(query: Mapping[str, str]) -> dict[str, str]:
    """Return a lesson's state without the reader's prediction; a step after it shows the answer instead."""
    kept = {key: value for key, value in query.items() if key != GUESS}
    before = [str(step) for step in range(1, REVEAL + 1)]
    shown = query.get(GUESS) and query.get(STEP, before[0]) not in before
    return kept | ({GUESS: SHOWN} if shown else {})


def gap_axis(name: str) -> str:
    """Say what the gap of a lesson's predictions is, with its unit."""
    return str(texts(name)["steps"][REVEAL]["gap"]["axis"])
