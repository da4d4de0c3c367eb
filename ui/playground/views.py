"""The playground: the answer, the plane with its controls, and downloads."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import streamlit as st

from rankviz.datasets import RankingData, write_letor
from rankviz.features import EXACT, FEATURE_MAPS
from rankviz.whatif.plane import PlaneFit, best_direction, fit_plane
from ui.playground import words
from ui.playground.packing import EXTENT, colours, packed
from ui.playground.scene import MOST, Scene
from ui.playground.state import CHANGES, KEY, Held, take_changes
from ui.shell.components import mount
from ui.shell.errors import end_page
from ui.shell.figures import TEXT_COLOURS, sentence, show_answer
from ui.shell.page import ALONE, is_on

SCRIPT = Path(__file__).with_name("plane.js")


def plane(held: Held, settings: Mapping[str, Any]) -> None:
    """Draw the answer and the plane; the page ends here if only the first figure is wanted."""
    scene, data = held.scene, held.scene.data
    fit = None if data is None else fit_plane(data, settings, scene.moved)
    show_answer(sentence(words.EMPTY if fit is None else _answer(fit, settings)))
    if held.unread:
        st.warning(words.UNREADABLE)
    mount(SCRIPT, KEY, _sent(held, fit, settings), {"changes": (CHANGES, take_changes)})
    if is_on(ALONE):
        end_page()


def below(held: Held, *, short: bool) -> None:
    """Draw the description, and a download of the documents."""
    data = held.scene.data
    if not short:
        st.caption(words.TOO_LONG)
    row = st.container(horizontal=True, wrap=False, gap="small", horizontal_alignment="right")
    with row.popover("About this figure", icon=":material/info:", help="What it shows."):
        st.caption(words.ABOUT)
    with row.popover("Save", icon=":material/download:", help="As LETOR text."):
        st.download_button(
            "Documents (LETOR text)",
            b"" if data is None else letor(data),
            "plane.txt",
            "text/plain",
            key="plane-letor",
            on_click="ignore",
            disabled=data is None,
        )


def letor(data: RankingData) -> bytes:
    """Return the documents as LETOR text."""
    stream = BytesIO()
    write_letor(data, stream)
    return stream.getvalue()


def _answer(fit: PlaneFit, settings: Mapping[str, Any]) -> str:
    if fit.model.n_pairs_ == 0:
        return words.no_pairs(fit)
    share, _ = best_direction(fit.data)
    approximates = FEATURE_MAPS[fit.model.feature_map].approximates
    kept = {name: value for name, value in settings.items() if name != "n_components"}
    exact = fit_plane(fit.data, kept | {"feature_map": EXACT}).n_ordered if approximates else None
    return words.answer(fit, exact, round(share * fit.model.n_pairs_))


def _sent(held: Held, fit: PlaneFit | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    scene, dark = held.scene, st.context.theme.type == "dark"
    ink = {"ink": TEXT_COLOURS["dark" if dark else "light"], "below": "#d55e00"}
    return packed(scene, fit) | {
        "rev": held.seen,
        "set": f"{scene.plane} {scene.each} {scene.seed}",
        "next": max([len(scene.drawn), *(number + 1 for number in scene.changed)]),
        "most": MOST,
        "extent": EXTENT,
        "undo": len(held.before),
        "byHand": scene.by_hand,
        "colours": colours(settings["feature_map"], dark=dark) | ink,
        "words": _words(scene, fit, dark=dark),
    }


def _words(scene: Scene, fit: PlaneFit | None, *, dark: bool) -> dict[str, Any]:
    side: dict[str, Any] = {"own": [], "labels": [], "note": ""}
    if fit is not None:
        side = {"own": words.own_marks(fit), "labels": words.of_kernels(fit), "note": words.note(fit)}
    return {
        "plane": f"The plane: {words.about(scene)}",
        "full": words.FULL.format(most=MOST),
        "side": side | {"goal": words.goal(dark=dark)},
    }
