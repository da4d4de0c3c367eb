"""Figures that stay on the page when their content changes.

Streamlit removes a figure whose content changes, and draws the new one twice. Here it keeps what it got
first; a script (steady.js) gives the rest to Plotly, which then draws once, and only what changed.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly

from ui.shell.components import SCRIPTS, mount

RUN = "page-run"
"""Session key of the number of runs of the router."""
_FIRST = "first-figures"
"""Session key of the last run that drew each figure, and what Streamlit keeps of it: figure, look, text."""


def draw(figure: go.Figure, key: str, alt: str, look: tuple[object, ...], **how: object) -> None:
    """Draw a figure in place of the last run's, if that had the same key and look."""
    first, now = st.session_state.setdefault(_FIRST, {}), st.session_state.get(RUN, 0)
    last, kept = first.get(key, (-2, ()))
    look = (*look, figure.to_dict()["layout"].get("height"))
    stays = now - last == 1 and kept[1] == look
    kept = kept if stays else (figure, look, alt)
    first[key] = now, kept
    st.plotly_chart(kept[0], key=key, alt=kept[2], **how)  # type: ignore[arg-type]
    sent = to_json_plotly(figure.to_dict()) if stays else None
    mount(SCRIPTS / "shell" / "steady.js", f"{key}-now", {"key": key, "alt": alt, "figure": sent})
