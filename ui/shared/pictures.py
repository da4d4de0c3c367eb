"""Figures as pictures for papers and slides: laid out here, drawn and saved by the browser (picture.js).

Every size is a canvas on which letters have the pixels of figures on the page, drawn larger or smaller as a
whole: lines, marks and letters keep their proportions, and letters have the size that the place asks for.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st
from starlette.responses import FileResponse
from starlette.routing import Route

from ui.shared.foreign import plain
from ui.shared.look import INK, SIZE, inked

MEASURED = "Arial, Liberation Sans, sans-serif"
"""What letters are measured in: wider than the font that pictures carry, and as wide as what replaces it."""
ADDRESS = "pictures"
SCRIPTS = {
    "picture.js": Path(__file__).with_name("picture.js"),
    "plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js",
}
"""What a browser fetches when it makes its first picture; it makes the second one without."""
_GRID = {"gridcolor": "#e4e4e0", "linecolor": "#8a8a86", "zerolinecolor": "#c4c4c0", "automargin": True}
PAPER = {"layout": {"xaxis": _GRID, "yaxis": _GRID, "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff"}}
"""Light on every screen, for paper is."""


@dataclass(frozen=True)
class Size:
    """A canvas in pixels, `height` a share of the figure's own or a number, and how wide it is drawn."""

    canvas: int
    height: float
    width: float
    unit: str

    def canvas_of(self, own: float) -> list[int]:
        """Width and height of the canvas for a figure of that height."""
        return [self.canvas, round(self.height * own if self.height <= 1 else self.height)]


SIZES: dict[str, Size | None] = {
    "as shown": None,
    "slide 16:9, large type": Size(880, 495, 1280, "px"),
    "paper, one column, 85 mm": Size(385, 0.8, 85, "mm"),
    "paper, two columns, 174 mm": Size(780, 1, 174, "mm"),
}
"""Letters are 18.9 pixels on slides, 8.1 and 8.2 points on paper."""


def routes() -> list[Route]:
    """Where the server gives `SCRIPTS`, below the path that it is told to answer on."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return [
        Route(f"/{base}/{ADDRESS}/{name}".replace("//", "/"), _giving(path)) for name, path in SCRIPTS.items()
    ]


def _giving(path: Path) -> Any:
    async def give(_: object) -> FileResponse:
        return FileResponse(path, media_type="text/javascript", headers={"Cache-Control": "no-cache"})

    return give


@st.fragment
def offer(figure: go.Figure, key: str, caption: str) -> None:
    """A choice of sizes, and buttons; only then the browser is sent what it makes the picture of."""
    size = st.selectbox(
        "Picture",
        list(SIZES),
        key=f"{key}-size",
        help="SVG carries its font; PNG has 300 dots per inch on paper.",
    )
    row = st.container(horizontal=True, gap="small")
    for kind in ("svg", "png"):
        if row.button(kind.upper(), key=f"{key}-{kind}", width="stretch"):
            job = _job(figure, key, size, kind) | {"about": plain(caption)}
            st.html(_asking(job), unsafe_allow_javascript=True)


def _job(figure: go.Figure, key: str, size: str, kind: str) -> dict[str, Any]:
    printed = printable(figure)
    chosen = SIZES[size]
    drawn = {"canvas": None, "width": None, "unit": "px"}
    if chosen is not None:
        own = printed["layout"].get("height", 420)
        drawn = {"canvas": chosen.canvas_of(own), "width": chosen.width, "unit": chosen.unit}
    return drawn | {
        "id": f"picture-{uuid.uuid4().hex}",
        "key": key,
        "name": f"{key}.{kind}",
        "format": kind,
        "figure": printed,
        "font": f"static/media/{font().name}",
        "plotly": f"{ADDRESS}/plotly.min.js?v={plotly.__version__}",
    }


def printable(figure: go.Figure) -> dict[str, Any]:
    """The figure on white, without what only a screen can use, no letters smaller than the others."""
    copy = inked(go.Figure(figure), INK["light"], SIZE)
    copy.update_layout(template=PAPER, font_family=MEASURED)
    if copy.layout.sliders:
        copy.update_layout(height=copy.layout.height - 120, margin_b=copy.layout.margin.b - 120)
    text = re.sub(r"font-size: *\d+px", f"font-size:{SIZE}px", copy.to_json())
    found: dict[str, Any] = json.loads(text)
    _enlarge(found)
    return found


def _enlarge(part: Any) -> None:
    """Give all letters the usual size, but for ticks, which `inked` has seen to."""
    for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if str(name).endswith("font") and name != "tickfont" and isinstance(inner.get("size"), int | float):
            inner["size"] = max(inner["size"], SIZE)
        elif isinstance(inner, dict | list):
            _enlarge(inner)


def font() -> Path:
    """The font of the page, which comes with Streamlit and may be embedded (SIL Open Font License)."""
    return next(
        (Path(st.__file__).parent / "static" / "static" / "media").glob("SourceSansVF-Upright*.woff2")
    )


def _asking(job: dict[str, Any]) -> str:
    """What has the browser make a picture: a place for its words, and a script that names the job."""
    words = json.dumps(job).replace("<", "\\u003c")
    return (
        f'<p id="{job["id"]}" role="status">Making the picture …</p>'
        f'<script>import("./{ADDRESS}/picture.js").then(({{ save }}) => save({words}))</script>'
    )
