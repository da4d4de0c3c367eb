"""Figures that stay on the page when their content changes.

Streamlit removes a figure whose content changes, and draws the new one twice. Here it keeps what it got
first; a script (steady.js) gives the rest to Plotly, which then draws once, and only what changed. The script
can also hold figures for other values of a slider. It draws them when the slider moves; the server's answer
comes later.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly

from ui.shell.components import SCRIPTS, mount

SCRIPT = SCRIPTS / "shell" / "steady.js"
RUN = "page-run"
"""Session key of the number of runs of the router."""
_FIRST = "first-figures"
"""Session key of the last run that drew each figure, and what Streamlit keeps of it: figure, look, text."""


_HELD = "held-figures"
"""Session key of figures in the browser: what they show, a name for it, their values."""
MOST_AHEAD = 2
"""Values of a slider whose figures are sent in one run: usually those on both sides."""


def draw(
    figure: go.Figure, key: str, alt: str, look: tuple[object, ...], slider: str = "", **how: object
) -> None:
    """Draw a figure in place of the last run's, if that had the same key and look.

    `slider` is the key of a slider that the figure follows: the browser ignores a figure of an older value.
    """
    first, now = st.session_state.setdefault(_FIRST, {}), st.session_state.get(RUN, 0)
    last, kept = first.get(key, (-2, ()))
    look = (*look, figure.to_dict()["layout"].get("height"))
    stays = now - last == 1 and kept[1] == look
    kept = kept if stays else (figure, look, alt)
    first[key] = now, kept
    st.plotly_chart(kept[0], key=key, alt=kept[2], **how)  # type: ignore[arg-type]
    sent = to_json_plotly(figure.to_dict()) if stays else None
    at = str(st.session_state[slider]) if slider else ""
    mount(SCRIPT, f"{key}-now", {"key": key, "alt": alt, "figure": sent, "slider": slider, "at": at})


def hold(
    slider: str, of: Hashable, values: Sequence[int], make: Callable[[int], Mapping[str, go.Figure]]
) -> None:
    """Send the figures of the nearest other values of a slider, which the browser then draws at once.

    `of` is all that the figures show besides the value. `make` returns a value's figures by their keys.
    """
    state = st.session_state
    known, name, sent = state.get(_HELD, (None, "", frozenset()))
    if known != of:
        name, sent = uuid.uuid4().hex, frozenset()
    at = values.index(state[slider])
    near = sorted(set(values) - sent - {state[slider]}, key=lambda value: abs(values.index(value) - at))
    figures = {
        value: {key: to_json_plotly(figure.to_dict()) for key, figure in make(value).items()}
        for value in near[:MOST_AHEAD]
    }
    state[_HELD] = of, name, sent | figures.keys()
    mount(SCRIPT, f"{slider}-ahead", {"slider": slider, "of": name, "figures": figures})
