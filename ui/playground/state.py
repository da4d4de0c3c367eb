"""The scene of a visitor: the result of controls and changes by hand, with undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ui.playground.scene import LONGEST, Scene
from ui.shell.components import each, record, text, whole

KEY, LINE = "plane", "docs"
"""Keys of the component, and of the changes by hand in the address."""
_HELD = "plane-held"
CHANGES = each(record(rev=whole, kind=text))
"""Shape of the browser's messages; `Scene.after` checks the rest of a change."""
FURTHEST = 200
"""Number of changes that can be undone."""


@dataclass
class Held:
    """A session's state of the plane.

    Attributes
    ----------
    scene : Scene
    before : list of Scene
        Earlier scenes for undo, the latest last.
    seen : int
        Number of the browser's last change in the scene.
    unread : bool
        True if the address had changes that could not be read.
    """

    scene: Scene
    before: list[Scene] = field(default_factory=list)
    seen: int = 0
    unread: bool = False

    def take(self, change: Mapping[str, Any]) -> None:
        """Apply a change to the scene, or undo the last one."""
        if change.get("kind") == "undo":
            if self.before:
                self.scene = self.before.pop()
            return
        after = self.scene.after(change)
        if after != self.scene:
            self.before = [*self.before, self.scene][-FURTHEST:]
            self.scene = after


def held(plane: str, each: int, seed: int) -> Held:
    """Return the session's state; a new set, size or seed starts again, initially with the address."""
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
    """Apply the browser's changes to the scene (a callback); it repeats changes until they are seen."""
    found: Held = st.session_state[_HELD]
    for change in changes:
        if change["rev"] > found.seen:
            found.seen = change["rev"]
            found.take(change)


def to_address(scene: Scene) -> bool:
    """Put the changes by hand into the address; return True if they are short enough."""
    line = scene.line
    short = len(line) <= LONGEST
    st.session_state[LINE] = line
    if line and short:
        st.query_params[LINE] = line
    elif LINE in st.query_params:
        del st.query_params[LINE]
    return short
