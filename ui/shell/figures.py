"""Figures and tables below their answers, in the page's theme, with downloads of numbers and pictures.

Pictures for papers and slides are laid out here; the browser draws and saves them (picture.js). Every size is
a canvas with the page's font size in pixels, which is then scaled as a whole. So lines, marks and text keep
their proportions.

See docs/decisions/0032-how-a-page-is-built.md and docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import json
import re
import textwrap
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler
from plotly.io.json import to_json_plotly
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import as_csv, unbroken, with_minus
from rankviz.datasets import RankingData
from rankviz.metrics import Evaluation, evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import moved_in_words, ties_in_words
from rankviz.metrics.formulas import NAMES
from rankviz.plots.style import DIVERGING, GRADE_COLOURS, NO_VALUE, second_tone
from rankviz.runs.description import PART_NAMES, fold_words, short_labels
from rankviz.runs.record import RunRecord
from ui.shell import steady, words
from ui.shell.components import SCRIPTS
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.locks import unlocked
from ui.shell.page import ALONE, AT, LARGE, TITLE, go_to, is_on, switch_if_requested
from ui.shell.terms import papers_in, terms_in
from ui.shell.texts import escaped, plain

MOST_STYLED = 5_000
"""Largest number of cells of a table whose numbers are formatted here; the browser formats larger ones."""
TILE_WIDTH = 165  # pixels: two fit on the narrowest screen
SIZE, LARGE_SIZE = 13, 19
"""Font sizes in figures, in pixels; the page's own are 15 and 20."""
HEIGHT_ALONE, HEIGHT_IN_VIEW = 490, 390
"""Height of a single figure in pixels, and below the bar of a lecture: it fits on a projector of 720 lines.

A figure may have its own as `layout.meta["alone"]`, which leaves room for the bar.
"""
TEXT_COLOURS = {"light": "#1c1c1a", "dark": "#f2f2ef"}
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
Selecting = Literal["ignore", "rerun"] | Callable[[], None]
"""Effect of a selection in a figure: none, a rerun of the page, or a function call before the rerun."""
STATIC = {"staticPlot": True}
"""Settings of Plotly for a figure that nobody points at."""
CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": [
        "toImage",
        "zoom2d",
        "pan2d",
        "select2d",
        "lasso2d",
        "zoomIn2d",
        "zoomOut2d",
        "autoScale2d",
        "resetScale2d",
    ],
}
"""Plotly's toolbar keeps only Streamlit's full screen. A double click resets the axes, and "Save" makes
pictures that contain their font (the camera's do not)."""


@dataclass(frozen=True)
class Figures:
    """Shows the figures of a page, whose captions are templates by the figure's key.

    Attributes
    ----------
    captions, alts : mapping of str to str
        Texts with names in braces, as in `str.format`. A figure without an alt is described by its titles.
    """

    alts: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)

    def show(
        self,
        key: str,
        figure: go.Figure,
        table: pd.DataFrame,
        answer: str = "",
        *,
        texts: str = "",
        on_select: Selecting = "ignore",
        is_steady: bool = False,
        slider: str = "",
        **values: object,
    ) -> Any:
        """Draw a figure with its texts; return its selection, as `show_figure` does.

        `values` fills the names in the templates. `texts` is their key if it differs from the figure's.
        """
        alt, caption = (found.get(texts or key, "").format(**values) for found in (self.alts, self.captions))
        how: dict[str, Any] = {"on_select": on_select, "is_steady": is_steady, "slider": slider}
        return show_figure(figure, table, key=key, alt=alt, caption=caption, answer=answer, **how)


def show_figure(
    figure: go.Figure,
    table: pd.DataFrame,
    *,
    key: str,
    caption: str,
    alt: str = "",
    answer: str = "",
    on_select: Selecting = "ignore",
    is_steady: bool = False,
    slider: str = "",
) -> Any:
    """Draw a figure below its answer; its description, picture and numbers below, closed.

    A steady figure stays, and only its changes are drawn, which is faster; it has no selection. It may follow
    the slider with this key: `hold_ahead` sends its figures for other values.
    `alt` is a text for screen readers; the default lists the figure's titles. Return the selection in the
    figure if `on_select` is "rerun" or a callback. If only the first figure is wanted, the page ends here.
    """
    if answer:
        show_answer(answer)
    drawn, alt = themed(figure), alt or alt_of(figure)
    how: dict[str, Any] = {"width": "stretch", "config": CONFIG}
    if is_steady:
        event = steady.draw(drawn, key, alt, _look(), slider, **how)
    else:
        event = st.plotly_chart(drawn, key=key, alt=alt, on_select=on_select, **how)
    row = st.container(key=f"{key}-tools", horizontal=True, wrap=False, gap=None)  # icons: page.css
    with row.expander("About this figure", icon=":material/info:", type="compact"):
        st.caption(caption)
        if more := [told for told in (terms_in(caption), papers_in(caption)) if told]:
            st.caption("\n\n".join(["---", *more]))
    with row:  # nine elements, so they are made only while they are open
        save = partial(_save, figure, table, key, caption)
        folded("Save", f"{key}-save", save, icon=":material/download:", type="compact")
    if _METRIC.search(" ".join((answer, caption))):
        link_to_definitions(row, key)
    if is_on(ALONE):
        end_page()
    return event


def hold_ahead(
    slider: str, of: Hashable, values: Sequence[int], make: Callable[[int], Mapping[str, go.Figure]]
) -> None:
    """Send steady figures of other values of a slider ahead, in the page's theme; see `steady.hold`."""

    def drawn(value: int) -> dict[str, go.Figure]:
        return {key: themed(figure) for key, figure in make(value).items()}

    steady.hold(slider, (of, _look()), values, drawn)


def _save(figure: go.Figure, table: pd.DataFrame, key: str, caption: str) -> None:
    """Draw the buttons that save a figure."""
    for label, made, kind in (
        ("Figure (HTML)", lambda: _page(figure, caption), "html"),
        ("Numbers (CSV)", lambda: as_csv(table), "csv"),
    ):
        file, widget = f"{key}.{kind}", {"key": f"{key}-{kind}", "on_click": "ignore", "width": "stretch"}
        st.download_button(label, made, file, f"text/{kind}", **widget)
    picture_menu(figure, key, caption)


_METRIC = re.compile(
    "|".join(rf"\b{name}" + {"k": r"@\d", "p": r"\("}.get(one.takes, r"\b") for name, one in NAMES.items())
    + rf"|\b(?:nDCG|AP|P|R|ERR)\(|{COMPARED.label} definition"
)
"""A metric in a text, also with own gains, or their definition."""
DEFINITIONS, CUT = "Definitions", "cut"


def link_to_definitions(place: DeltaGenerator, key: str) -> None:
    """Draw a button to the page that explains why definitions of metrics disagree; it keeps what is shown."""
    switch_if_requested()
    if st.session_state.get(TITLE) == DEFINITIONS:
        return
    key, icon = f"{key}-why-different", ":material/balance:"
    place.button(words.WHY_DIFFERENT, key=key, icon=icon, type="tertiary", on_click=_go_to_definitions)


def _go_to_definitions() -> None:
    """Open the page with the query, the part and the cut-off of this one (a callback)."""
    state = st.session_state
    for name in ("query", "test"):
        if state.get(name) is not None:
            state[name] = state[name]  # else it would end with this page
    if cut := re.search(r"@\s*(\d{1,2})\b", f"{state.get('metric', '')} {state.get('own', '')}"):
        state[CUT] = int(cut[1])
    go_to("definitions")


def alt_of(figure: go.Figure) -> str:
    """Describe a figure for screen readers: "NDCG@10 against m: Nyström, random Fourier"."""
    layout = figure.layout
    across = _different(axis.title.text for axis in figure.select_xaxes())
    up = _different(axis.title.text for axis in figure.select_yaxes())
    notes = (note.text for note in layout.annotations if note.yref == "paper")
    panels = _different([layout.title.text, *notes])
    drawn = _different(trace.name for trace in figure.data if trace.showlegend is not False)
    subject = " against ".join(filter(None, (up, across)))
    return ": ".join(filter(None, (panels, subject, drawn)))


def _different(texts: Iterable[str | None]) -> str:
    """List different texts without HTML tags."""
    return ", ".join(dict.fromkeys(_TAG.sub(" ", text).strip() for text in texts if text))


_TAG = re.compile(r"<[^>]*>")


def show_answer(answer: str) -> None:
    """Draw an answer as a heading that explains its terms."""
    st.header(unbroken(sentence(answer)), anchor=False, help=terms_in(answer))


def show_table(table: pd.DataFrame | Styler, **how: Any) -> Any:
    """Draw a table, with a dash for missing values; negative numbers have a minus sign, not a hyphen."""
    small = isinstance(table, pd.DataFrame) and table.columns.is_unique and table.size <= MOST_STYLED
    config, columns, forms, signed = how.get("column_config", {}), {}, {}, False
    for name in table.select_dtypes("number") if small else ():
        given = config.get(name) or {}
        own = {"label": given} if isinstance(given, str) else given
        kind = own.get("type_config", {"type": "number"})
        printed = kind.get("format") or "%"
        negative = bool((table[name] < 0).any()) and printed.startswith("%")
        signed |= negative
        # beside signed columns, pandas would write others with six decimals
        if negative or (printed == "%" and pd.api.types.is_float_dtype(table[name])):
            columns[name] = dict(own) | {"type_config": kind | {"format": None}}
            forms[name] = partial(_signed, form=_form(table[name], printed.removeprefix("%")))
    if not signed:
        return st.dataframe(table, placeholder="–", **how)
    options = how | {"column_config": {**config, **columns}}
    return st.dataframe(table.style.format(forms, na_rep="–"), placeholder="–", **options)


def _form(values: pd.Series, own: str) -> str:
    """Return the Python format of a column of numbers with a printf format; "" for up to four decimals."""
    whole = pd.api.types.is_integer_dtype(values)
    return (own if whole else own.replace("d", ".0f")) or ("d" if whole else "")


def _signed(value: float, form: str) -> str:
    return with_minus(value, form) if form else with_minus(round(value, 4), ".10g")


@st.fragment
@errors_as_sentences()
def folded(label: str, key: str, draw: Callable[[], object], **look: Any) -> None:
    """Draw what a visitor can open; it is computed and sent only while it is open.

    With the first table the browser loads scripts of 1.2 MB, which would hold up the figures. `look` has
    more arguments of `st.expander`.
    """
    if key in st.session_state:
        st.session_state[key] = st.session_state[key]  # else another label would close it
    box = st.expander(label, key=key, on_change="rerun", **look)
    if box.open:
        with box:
            draw()


def _page(figure: go.Figure, caption: str) -> str:
    """Return the figure with its caption as an HTML page that needs no network; it contains Plotly."""
    drawn = figure.to_dict()
    set_text_style(drawn, TEXT_COLOURS["light"], SIZE)
    body = go.Figure(drawn).to_html(include_plotlyjs=True, full_html=False)
    return f'<!doctype html><meta charset="utf-8"><title>rankviz</title>{body}<p>{escape(plain(caption))}</p>'


def tiles(n: int) -> list[DeltaGenerator]:
    """Return places for n metric tiles in a row that wraps on narrow screens."""
    row = st.container(horizontal=True, gap="medium")
    return [row.container(width=TILE_WIDTH) for _ in range(n)]


def two_columns() -> list[DeltaGenerator]:
    """Return two places next to each other for figures; the full width if only the first is wanted."""
    return [st.container()] * 2 if is_on(ALONE) else st.columns(2, gap="medium")


def sentence(text: str) -> str:
    """Return an answer as a sentence, with a capital and a full stop."""
    return f"{capital(text).rstrip('.')}."


def capital(text: str) -> str:
    """Return a text with a capital first letter; λ and other symbols stay unchanged."""
    return text[0].upper() + text[1:] if text[0].isascii() else text


def definition_caption(*parts: RankingData) -> str:
    """Describe the definition of metrics, and how it treats the empty and short queries of parts."""
    for data in parts:
        if data not in _COUNTED:
            _COUNTED[data] = evaluate(np.zeros(data.n_documents), data, COMPARED, at=[10])
    found = [_COUNTED[data] for data in parts]
    counts = ("n_queries", "n_empty", "n_gainless", "n_unknown", "n_short")
    return replace(found[0], **{name: sum(getattr(one, name) for one in found) for name in counts}).caption


_COUNTED = WeakKeyDictionary[RankingData, Evaluation]()


def zero_by_definition(metric: str, n: int) -> str:
    """Explain why NDCG@k of a query with n documents is always 0; "" if it is not."""
    name, _, k = metric.partition("@")
    short = name == "NDCG" and k.isdigit() and n < int(k)
    return words.SHORT_QUERY.format(metric=metric, k=k, n=n) if short else ""


def zeros_by_definition(data: RankingData, k: int) -> str:
    """Count the queries whose NDCG@k is 0 with any model, having fewer than k documents; "" for none."""
    short = int((np.diff(data.ptr) < k).sum())
    return words.SHORT_QUERIES.format(k=k, short=short, n=data.n_queries) if short else ""


def report_ties(by_part: Mapping[str, Iterable[RunRecord]], metrics: Iterable[str]) -> None:
    """Say in one note how the order of the file would change metrics of models, if it would."""
    found, moved = [], []
    for part, record in ((part, record) for part, own in by_part.items() for record in own):
        by_order = record.by_order.get(part, {})
        if part in record.metrics:
            table = record.metrics[part]
            means = {metric: float(table[metric].mean()) for metric in metrics if metric in by_order}
            found.append((record.spec, part))
            moved.append(moved_in_words(means, by_order))
    if not any(moved):
        return
    folds, parts = len({spec.fold for spec, _ in found}) > 1, len({part for _, part in found}) > 1
    labels = [
        f"{label}{f', {fold_words(spec.fold)}' if folds else ''}{f', {PART_NAMES[part]}' if parts else ''}"
        for label, (spec, part) in zip(short_labels([spec for spec, _ in found]), found, strict=True)
    ]
    if text := ties_in_words(dict(zip(labels, moved, strict=True))):
        st.caption(escaped(text))


def report_untrained(record: RunRecord) -> None:
    """Say that there was no preference pair to train on, if so."""
    if record.n_pairs == 0 and record.spec.offers.pair_objective:
        st.info(words.NOTHING_LEARNED, icon=":material/info:")


MOST_ROWS = 10_000
"""Rows of a table that Streamlit reads whole to tell it from another; of long ones it reads a sample."""


def once(make: Callable[..., go.Figure], *given: Any) -> go.Figure:
    """Return make(*given), made once for all visitors who ask for the same, as a class does.

    Do not change the figure.
    """
    if any(isinstance(one, pd.DataFrame) and len(one) > MOST_ROWS for one in given):
        return make(*given)
    return _made(f"{make.__module__}.{make.__qualname__}", given, make)


@st.cache_resource(max_entries=64, show_spinner=False)
def _made(name: str, given: tuple[Any, ...], _make: Callable[..., go.Figure]) -> go.Figure:
    return _make(*given)


class Drawn(go.Figure):
    """A figure's properties for Streamlit, which would check those of a mapping again."""

    def __init__(self, properties: dict[str, Any]) -> None:
        object.__setattr__(self, "_properties", properties)

    def to_dict(self) -> dict[str, Any]:
        """Return the properties."""
        return self._properties


def themed(figure: go.Figure) -> Drawn:
    """Return a copy of the figure with readable text in the current theme's colours; large if chosen.

    The figure keeps its copies, because pages show some figures again and again. Do not change it afterwards.
    """
    look = _look()
    copies: dict[tuple[bool, ...], Drawn] = vars(figure).setdefault("_copies", {})
    if look not in copies:
        copies[look] = _drawn(figure, *look)
    return copies[look]


def _look() -> tuple[bool, ...]:
    """Return what `_drawn` depends on: a dark theme, large type, the first figure alone, a lecture's bar."""
    return st.context.theme.type == "dark", is_on(LARGE), is_on(ALONE), AT in st.query_params


def _drawn(figure: go.Figure, dark: bool, large: bool, alone: bool, in_view: bool) -> Drawn:
    """Work with plain mappings: to set the same in Plotly's objects takes longer than to make the figure."""
    drawn = figure.to_dict()
    drawn = _on_dark(drawn) if dark else drawn
    if large:
        _thicken(drawn)
    set_text_style(drawn, TEXT_COLOURS["dark" if dark else "light"], LARGE_SIZE if large else SIZE)
    if alone:
        layout = drawn["layout"]
        usual = HEIGHT_IN_VIEW if in_view else HEIGHT_ALONE
        layout["height"] = (layout.get("meta") or {}).get("alone", usual)
    return Drawn(drawn)


NUMBERS = {"exponentformat": "power", "minexponent": 5, "separatethousands": True}
"""Numbers at axes and colour bars: 20,000, 0.0001 and 2×10⁻⁷. Plotly's own are 20k, 100μ and 0.2μ."""


def set_text_style(drawn: dict[str, Any], colour: str, size: int) -> None:
    """Set the form of numbers, and the text colour and size in pixels, of a figure's properties."""
    layout, ink = drawn["layout"], {"color": colour, "size": size}
    for name in {"xaxis", "yaxis", *filter(_AXES.fullmatch, layout)}:
        axis = layout[name] = NUMBERS | layout.get(name, {})
        # Plotly writes powers of ten 25 % larger than other ticks
        powers = axis.get("type") == "log" and not {"tickvals", "tickformat"} & axis.keys()
        _inner(axis, "tickfont").update(ink | {"size": 0.8 * size} if powers else ink)
        _inner(axis, "title", "font").update(ink)
        axis["automargin"] = True
    for part in (*layout.values(), *drawn["data"], *(trace.get("marker") for trace in drawn["data"])):
        if isinstance(part, dict) and "colorbar" in part:
            bar = part["colorbar"] = NUMBERS | part["colorbar"]
            _inner(bar, "tickfont").update(ink)
            if "title" in bar:
                _inner(bar, "title", "font").update(ink)
    for place in (("font",), ("title", "font"), ("legend", "font")):
        _inner(layout, *place).update(ink)
    _inner(layout, "hoverlabel", "font")["size"] = size


_AXES = re.compile(r"[xy]axis\d*")


def _inner(part: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a part of a part, made if it is missing."""
    for name in names:
        part = part.setdefault(name, {})
    return part


def _on_dark(drawn: dict[str, Any]) -> Any:
    text = to_json_plotly(drawn)
    for light, dark in ON_DARK.items():
        text = text.replace(light, dark)
    return json.loads(text)


def _thicken(drawn: dict[str, Any]) -> None:
    """Enlarge lines and markers for the last row of an audience."""
    for trace in drawn["data"]:
        line, marker = trace.get("line", {}), trace.get("marker", {})
        if line.get("width"):
            line["width"] *= 1.6
        if isinstance(marker.get("size"), int | float):
            marker["size"] *= 1.4
    for note in drawn["layout"].get("annotations", ()):
        _inner(note, "font")["size"] = LARGE_SIZE


MEASURED = "Arial, Liberation Sans, sans-serif"
"""Font for measuring text: wider than the font in pictures, and as wide as its substitute."""
LETTER, AROUND = 7.5, 90
"""Pixels of an average letter, and of the margins around the axes."""
ADDRESS = "pictures"
SCRIPT = SCRIPTS / "shell" / "picture.js"
_AXIS = {"gridcolor": "#e4e4e0", "zerolinecolor": "#c4c4c0", "automargin": True, "title": {"standoff": 10}}
PAPER = {
    "layout": {
        "xaxis": _AXIS | {"showgrid": False, "linecolor": "#8a8a86", "showline": True},
        "yaxis": _AXIS,
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
    }
}
"""Always light, like paper."""


@dataclass(frozen=True)
class Size:
    """A canvas in pixels: its width, its height (or its share of the figure's), and the drawn width."""

    canvas: int
    height: float
    width: float
    unit: str

    def canvas_of(self, own: float) -> list[int]:
        """Return width and height of the canvas for a figure of that height."""
        return [self.canvas, round(self.height * own if self.height <= 1 else self.height)]


SIZES: dict[str, Size | None] = {
    "as shown": None,
    "slide 16:9, large type": Size(880, 495, 1280, "px"),
    "paper, one column, 85 mm": Size(385, 0.8, 85, "mm"),
    "paper, two columns, 174 mm": Size(780, 1, 174, "mm"),
}
"""Text has 18.9 pixels on slides, 8.1 and 8.2 points on paper."""
KINDS = {"svg": "SVG", "png": "PNG", "pdf": "PDF (picture)", "print": "Print"}
"""Formats of pictures, and their buttons."""


def routes() -> list[Route]:
    """Return the server's route to `SCRIPT`, below its base path."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    below = f"/{base}/{ADDRESS}" if base else f"/{ADDRESS}"
    return [Route(f"{below}/{SCRIPT.name}", _script)]


async def _script(_: Request) -> FileResponse:
    return FileResponse(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@st.fragment
@unlocked()
@errors_as_sentences()
def picture_menu(figure: go.Figure, key: str, caption: str) -> None:
    """Draw a menu of sizes, and buttons; data for the picture are sent to the browser only then."""
    size = st.selectbox(
        "Picture",
        list(SIZES),
        key=f"{key}-size",
        help=words.PICTURES,
    )
    row = st.container(horizontal=True, gap="small")
    for kind, label in KINDS.items():
        if row.button(label, key=f"{key}-{kind}"):
            job = _job(figure, key, SIZES[size], kind) | {"about": plain(caption)}
            st.html(_asking(job), unsafe_allow_javascript=True)


def _job(figure: go.Figure, key: str, size: Size | None, kind: str) -> dict[str, Any]:
    printed = printable(figure)
    drawn = {"canvas": None, "width": None, "unit": "px"}
    if size is not None:
        canvas = size.canvas_of(printed.layout.height)
        drawn = {"canvas": canvas, "width": size.width, "unit": size.unit}
        break_titles(printed, *canvas)
    return drawn | {
        "id": f"picture-{uuid.uuid4().hex}",
        "key": key,
        "name": f"{key}.{kind}",
        "format": kind,
        "figure": json.loads(printed.to_json()),
        "font": f"static/media/{font().name}",
    }


def printable(figure: go.Figure) -> go.Figure:
    """Return a copy on white, without interactive parts and without small text."""
    small = re.sub(r"font-size: *\d+px", f"font-size:{SIZE}px", figure.to_json())
    large = _enlarged(json.loads(small))
    set_text_style(large, TEXT_COLOURS["light"], SIZE)
    copy = go.Figure(large)
    copy.update_layout(template=PAPER, font_family=MEASURED)
    if copy.layout.sliders:
        copy.update_layout(height=copy.layout.height - 120, margin_b=copy.layout.margin.b - 120)
    return copy


def _enlarged(part: Any) -> Any:
    """Return parts of a figure with text of at least the usual size."""
    if isinstance(part, list):
        return [_enlarged(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    larger = {name: _enlarged(inner) for name, inner in part.items()}
    for name, inner in larger.items():
        if name.endswith("font") and isinstance(inner.get("size"), int | float):
            inner["size"] = max(inner["size"], SIZE)
    return larger


def break_titles(figure: go.Figure, width: int, height: int) -> None:
    """Break axis titles that are longer than their axis on a canvas of that size."""
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        low, high = axis.domain or (0, 1)
        room = (high - low) * ((width if axis.plotly_name.startswith("x") else height) - AROUND)
        if axis.title.text:
            lines = textwrap.wrap(axis.title.text, max(12, round(room / LETTER)), break_long_words=False)
            axis.title.text = "<br>".join(lines)


def font() -> Path:
    """Return the page's font, which comes with Streamlit and may be embedded (SIL Open Font License)."""
    return next(
        (Path(st.__file__).parent / "static" / "static" / "media").glob("SourceSansVF-Upright*.woff2")
    )


def _asking(job: dict[str, Any]) -> str:
    """Return HTML that makes the browser create a picture: a status line, and a script with the job."""
    words = json.dumps(job).replace("<", "\\u003c")
    return (
        f'<p id="{job["id"]}" role="status">Making the picture …</p>'
        f'<script>import("./{ADDRESS}/{SCRIPT.name}").then(({{ save }}) => save({words}))</script>'
    )
