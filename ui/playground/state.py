"""The scene of a visitor: what the controls and the hand have made of it, with a way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ui.playground.scene import LONGEST, Scene
from ui.shared.components import each, record, text, whole

KEY, LINE = "plane", "docs"
"""Of the component, and of the changes by hand in the address."""
_HELD = "plane-held"
CHANGES = each(record(rev=whole, kind=text))
"""The shape of what the browser tells; what else a change has `Scene.after` checks."""
FURTHEST = 200
"""Changes that can be undone."""


@dataclass
class Held:
    """What a session keeps of the plane.

    Attributes
    ----------
    scene : Scene
    before : list of Scene
        What undoing leads back to, the latest last.
    seen : int
        The number of the last change that the browser told and that is in the scene.
    unread : bool
        Whether the address had changes that could not be read.
    """

    scene: Scene
    before: list[Scene] = field(default_factory=list)
    seen: int = 0
    unread: bool = False

    def take(self, change: Mapping[str, Any]) -> None:
        """Put a change into the scene, or take the last one back."""
        if change.get("kind") == "undo":
            if self.before:
                self.scene = self.before.pop()
            return
        after = self.scene.after(change)
        if after != self.scene:
            self.before = [*self.before, self.scene][-FURTHEST:]
            self.scene = after


def held(plane: str, each: int, seed: int) -> Held:
    """What the session keeps; another set, size or seed begins anew, at first with what the address says."""
    found: Held | None = st.session_state.get(_HELD)
    scene = Scene(plane, each, seed)
    if found is None:
        found = Held(scene)
        try:
            found.scene = scene.read(st.query_params.get(LINE, ""))
        except ValueError:
            found.unread = True
        st.session_state[_HELD] = found
    elif replace(found.scene, changed={}, moved={}) != scene:
        found.scene, found.before, found.unread = scene, [], False
    return found


def take_changes(changes: list[dict[str, Any]]) -> None:
    """Put what the browser has told into the scene (a callback); it repeats changes until they are seen."""
    found: Held = st.session_state[_HELD]
    for change in changes:
        if change["rev"] > found.seen:
            found.seen = change["rev"]
            found.take(change)


def to_address(scene: Scene) -> bool:
    """Put the changes by hand into the address; returns whether they are short enough for one."""
    line = scene.line
    short = len(line) <= LONGEST
    st.session_state[LINE] = line
    if line and short:
        st.query_params[LINE] = line
    elif LINE in st.query_params:
        del st.query_params[LINE]
    return short
