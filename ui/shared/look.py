"""Appearance beyond Streamlit's themes: a low head, readable figures, type for a projector."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st
from plotly.io import from_json

from rankviz.plots.style import DIVERGING, GRADE_COLOURS, NO_VALUE, second_tone

WAYS = "ways"
"""Key prefix of containers that a page without results needs, even when only its figure is shown."""
LARGE, ALONE = "large", "alone"
"""Keys of the switches for large type, and for the first figure alone."""
SIZE, LARGE_SIZE = 13, 19
"""Font sizes in figures, in pixels; the page's own are 15 and 20."""
HEIGHT_ALONE = 490
"""Height of a single figure in pixels: with its answer it fits on a projector of 720 lines."""
INK = {"light": "#1c1c1a", "dark": "#f2f2ef"}
"""Text colours in figures: contrast at least 7:1 on either background."""

# colours of methods and guides, lightened for a dark background (as in .streamlit/config.toml)
ON_DARK = {"#0072B2": "#3d9bd9", "#D55E00": "#e8742a", "#7f7f7f": "#a6a6a6", "#CC79A7": "#d891b8"}
ON_DARK |= {"#009E73": "#2bb58c", "#000000": "#ffffff", "#882255": "#c75a88"}
ON_DARK |= {second_tone(light): second_tone(dark, "#10201e", 0.7) for light, dark in ON_DARK.items()}
ON_DARK |= {"#fefefe": "#10201e"}  # text on areas that are dark in the light theme, and light in the dark one
# zero has the background's colour in either theme; missing values differ from both
ON_DARK |= dict(zip(DIVERGING, ("#fdb863", "#a85c12", "#191918", "#6a5aa8", "#b8aee6"), strict=True))
ON_DARK |= {NO_VALUE: "#3e3e3b"}
# grades run dark to light there, so that higher ones stand out on either background
ON_DARK |= dict(zip(GRADE_COLOURS, ("#2c4a6b", "#3f77a6", "#64a4d4", "#a5cdef", "#e6f2fc"), strict=True))

STYLE = """
/* Streamlit keeps 6rem free for its own head, of which one button is left */
[data-testid="stMainBlockContainer"] { padding: 0.55rem 2rem 3rem; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.6rem; }
[data-testid="stHeader"] { background: transparent; height: 2.4rem; min-height: 2.4rem; }
[data-testid="stHeader"], [data-testid="stHeader"] * { pointer-events: none; }
[data-testid="stHeader"] :is(button, button *) { pointer-events: auto; }
[data-testid="stMain"] [data-testid="stHeading"] [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
[data-testid="stMain"] h1 { font-size: 1.45rem; padding: 0; }
/* at one height on every page, however high what stands beside it is */
[data-testid="stElementContainer"]:has(> * h1) {
  align-self: flex-start; min-height: 2.5rem; display: flex; align-items: center;
}
[data-testid="stMain"] h2 { font-size: 1.2rem; line-height: 1.3; padding: 0.1rem 0 0; }
[data-testid="stMain"] h3 { font-size: 1.05rem; line-height: 1.3; padding: 0.1rem 0 0; }
.st-key-terms button { min-height: 0; padding: 0 0.2rem; }
/* where no size of letters, and no page, moves them */
.st-key-look { position: absolute; top: 0; left: 1rem; width: auto; z-index: 1; }
.st-key-look button { min-height: 0; padding: 0 0.4rem; }
/* as tall as menus, so that the labels above both stand in one line */
[data-testid="stMain"] [data-variant="segmented_control"] { min-height: 2.5rem; }
/* m, C and gamma in view on a laptop: pages and controls stand closer together */
[data-testid="stSidebarHeader"] {
  height: 1.6rem; min-height: 1.6rem; padding-top: 0.3rem; margin-bottom: 0;
}
.st-key-look button:focus-visible { outline-offset: -2px; }  /* not over the first page */
[data-testid="stSidebarNavLink"] { padding: 0 0.5rem; min-height: 1.35rem; line-height: 1.35rem; }
[data-testid="stSidebarNavItems"] :is(li, a) { margin: 0 !important; }
[data-testid="stSidebarNavItems"] { padding-top: 0; }
[data-testid="stSidebarNavSeparator"] { margin: 0 0 0.2rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0; padding-bottom: 2rem; }
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: 0.35rem; }
[data-testid="stSidebarUserContent"] [data-testid="stSlider"] { margin-bottom: -0.6rem; }
:is(.st-key-data, .st-key-fold) [data-baseweb="select"] { font-size: 0.87rem; }  /* "synthetic-demo" whole */
/* between the slider and the next label */
[data-testid="stSidebar"] [data-testid="stSliderTickBar"] { top: 2.15rem; padding: 0; }
[data-testid="stSidebar"] [data-testid="stSliderTickBar"] p {
  font-size: 0.65rem; line-height: 1; height: 0.65rem;
}
[data-testid="stSidebar"] [data-testid="stSliderTickBar"] .katex { font-size: 1em; line-height: 1; }
/* the button of the full screen: below the axes, where nothing is drawn */
[data-testid="stPlotlyChart"] .modebar-container { top: auto !important; bottom: 1.8rem; }
[data-testid="stTooltipIcon"] svg { width: 1rem; height: 1rem; }  /* else of the size of letters when drawn */
/* what a button opens is not covered by its own explanation */
body:has([data-testid="stPopover"] button[aria-expanded="true"]:hover) [data-testid="stTooltipContent"] {
  display: none;
}
/* white on the light accent of the dark theme, and on nothing where a button is disabled, cannot be read */
[data-testid="stBaseButton-primary"]:not(:disabled) * { color: light-dark(#fff, #10201e) !important; }
[data-testid="stMultiSelect"] :is(span[title], span[title] + *, span[title] + * *) {
  color: light-dark(#fff, #10201e) !important;
}
[data-testid="stBaseButton-primary"]:disabled * { color: inherit !important; }
/* what is greyed out is read all the same */
:is([data-testid="stSelectbox"], [data-testid="stTextInput"]):has(input:disabled) label *,
[data-testid="stSlider"]:has(input:disabled) [data-testid="stWidgetLabel"] * {
  color: light-dark(#696865, #a3a19c) !important;
}
:is(a, button, input, [role="tab"], [role="slider"], [role="option"], summary):focus-visible {
  outline: 2px solid var(--st-primary-color, #00695c) !important; outline-offset: 2px;
}
/* the whole answer and the figure stay in view while a control of the sidebar moves */
@media (max-width: 760px) {
  [data-testid="stMainBlockContainer"] { padding: 2.6rem 0.8rem 3rem; }
  [data-testid="stSidebar"][data-collapsed="false"] {
    position: fixed !important; inset: auto 0 0 0 !important; top: auto !important; height: 42dvh !important;
    width: 100vw !important; max-width: 100vw !important; min-width: 100vw !important;
    border-top: 2px solid var(--st-primary-color, #00695c); box-shadow: 0 -4px 16px #0004;
  }
  [data-testid="stSidebarContent"] { display: flex; flex-direction: column; }
  /* all pages at once, in rows for a finger, and the controls below them */
  [data-testid="stSidebarNavItems"] { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  [data-testid="stSidebarNavLink"] { min-height: 1.75rem; padding: 0 0.2rem; }
  [data-testid="stMain"] { padding-bottom: 42dvh; }
  /* while the settings are open, a page's own controls make room for the answer below them */
  body:has([data-testid="stSidebar"][data-collapsed="false"]) [data-testid="stMainBlockContainer"]
    > [data-testid="stVerticalBlock"] > [data-testid="stLayoutWrapper"]:not(:has(h1, h2)):has(~ * h2) {
    display: none;
  }
}
"""

_LARGE = """
html { font-size: 20px !important; }
:root { --beside-plane: 18rem; }  /* the plane's buttons take two rows */
[data-testid="stSidebar"][data-collapsed="false"] { min-width: 18rem !important; width: 18rem !important; }
[data-testid="stCaptionContainer"] { color: inherit !important; }
:is(.st-key-data, .st-key-fold) [data-baseweb="select"] { font-size: 0.82rem; }
[data-testid="stSidebarUserContent"] { margin: 0 -0.6rem; }
"""
_ALONE = """
/* pages in two columns, so that both they and the controls are in view; lists of 15 documents are whole */
@media (min-width: 761px) {
  [data-testid="stSidebarNavItems"] {
    display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 0.2rem;
  }
  [data-testid="stSidebarNavLink"] {
    padding: 0 0.2rem; min-height: 1.2rem; font-size: 0.75rem; line-height: 1.1;
  }
  [data-testid="stSidebarNavLink"] > span:first-child { display: none; }  /* names are whole, without icons */
  [data-testid="stSidebarNavLink"] :is(span, div, p) { white-space: normal !important; }
  :root { --row-alone: 1.45rem; --above-alone: 14.2rem; }
}
[data-testid="stMain"] h1 { font-size: 1.1rem; }
[data-testid="stElementContainer"]:has(> * h1) { min-height: 0; }
[data-testid="stMain"] [data-testid="stAlert"]:not([class*="st-key-ways"] *),
[data-testid="stLayoutWrapper"]:has(h1):not(:has(h2)) [data-testid="stElementContainer"]:not(:has(h1)) {
  display: none;
}
[data-testid="stMain"] [data-testid="stLayoutWrapper"]:not(:has(
  [data-testid="stPlotlyChart"], [data-testid^="stBidiComponent"], h1, h2, [class*="st-key-ways"]
)):not([class*="st-key-ways"] *) {
  display: none;
}
"""


def is_on(key: str) -> bool:
    """Return True if a switch is on; in the first run its widget has not read the address yet."""
    asked = st.query_params.get(key, "").lower() == "true"
    return bool(st.session_state.get(key, asked))


def dress() -> None:
    """Put the app's styles on the page, including those of active switches."""
    st.html(f"<style>{STYLE}{_LARGE * is_on(LARGE)}{_ALONE * is_on(ALONE)}</style>")


def switches() -> None:
    """Draw the switches of the appearance in the head of the sidebar."""
    for key in (LARGE, ALONE):  # keeps them in the address of the next page
        st.session_state[key] = is_on(key)
    place = st.sidebar.container(key="look").popover("Large type, one figure", type="tertiary")
    place.toggle(
        "Large type",
        key=LARGE,
        bind="query-params",
        help="For projectors: large letters, thick lines, black on white.",
    )
    place.toggle(
        "First figure alone",
        key=ALONE,
        bind="query-params",
        help="Hides everything else but the controls beside it.",
    )


def dressed(figure: go.Figure) -> go.Figure:
    """Return the figure with readable text in the current theme's colours; large if chosen."""
    dark, large = st.context.theme.type == "dark", is_on(LARGE)
    figure = _on_dark(figure) if dark else figure
    if large or is_on(ALONE):
        figure = go.Figure(figure)  # pictures use the original figure
    if large:
        _thicken(figure)
    figure = inked(figure, INK["dark" if dark else "light"], LARGE_SIZE if large else SIZE)
    if is_on(ALONE):
        figure.update_layout(height=HEIGHT_ALONE)
    return figure


def inked(figure: go.Figure, colour: str, size: int) -> go.Figure:
    """Set the figure's text colour and size in pixels, and return the figure."""
    ink = {"color": colour, "size": size}
    axis = {"tickfont": ink, "title_font": ink, "automargin": True}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    # Plotly writes powers of ten 25 % larger than other ticks
    powers = {"type": "log", "exponentformat": "power", "tickvals": None}
    figure.update_xaxes(tickfont_size=0.8 * size, selector=powers)
    figure.update_yaxes(tickfont_size=0.8 * size, selector=powers)
    return figure.update_layout(font=ink, title_font=ink, legend_font=ink, hoverlabel_font_size=size)


def _on_dark(figure: go.Figure) -> go.Figure:
    text = figure.to_json()
    for light, dark in ON_DARK.items():
        text = text.replace(light, dark)
    return from_json(text)


def _thicken(figure: go.Figure) -> None:
    """Enlarge lines and markers for the last row of an audience."""
    for trace in figure.data:
        line, marker = (getattr(trace, name, None) for name in ("line", "marker"))
        if getattr(line, "width", None):
            line.width *= 1.6
        if isinstance(getattr(marker, "size", None), int | float):
            marker.size *= 1.4
    for note in figure.layout.annotations:
        note.font.size = LARGE_SIZE
