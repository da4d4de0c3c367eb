"""Figures as pictures for papers and slides: laid out here, drawn and saved by the browser (picture.js).

Every size is a canvas with the page's font size in pixels, which is then scaled as a whole. So lines, marks
and text keep their proportions, and text has the right size in its place.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import json
import re
import textwrap
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route

from ui.shared.foreign import plain
from ui.shared.look import INK, SIZE, inked
from ui.shared.runs import errors_as_sentences

MEASURED = "Arial, Liberation Sans, sans-serif"
"""Font for measuring text: wider than the font in pictures, and as wide as its substitute."""
LETTER, AROUND = 7.5, 90
"""Pixels of an average letter, and of the margins around the axes."""
ADDRESS = "pictures"
SCRIPT = Path(__file__).with_name("picture.js")
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


def routes() -> list[Route]:
    """Return the server's route to `SCRIPT`, below its base path."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    below = f"/{base}/{ADDRESS}" if base else f"/{ADDRESS}"
    return [Route(f"{below}/{SCRIPT.name}", _script)]


async def _script(_: Request) -> FileResponse:
    return FileResponse(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@st.fragment
@errors_as_sentences()
def offer(figure: go.Figure, key: str, caption: str) -> None:
    """Draw a menu of sizes, and buttons; data for the picture are sent to the browser only then."""
    size = st.selectbox(
        "Picture",
        list(SIZES),
        key=f"{key}-size",
        help="SVG carries its font; PNG has 300 dots per inch.",
    )
    row = st.container(horizontal=True, gap="small")
    for kind in ("svg", "png"):
        if row.button(kind.upper(), key=f"{key}-{kind}", width="stretch"):
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
    copy = inked(go.Figure(_enlarged(json.loads(small))), INK["light"], SIZE)
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
