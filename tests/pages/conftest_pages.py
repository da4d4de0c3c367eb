"""What the tests of pages read off an app under test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


def figures(app: AppTest) -> list[dict[str, Any]]:
    """The plotly figures on the page."""
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def words(app: AppTest) -> str:
    """All texts on the page, one after the other."""
    kinds = (app.markdown, app.caption, app.info, app.error, app.warning, app.title)
    return "\n".join(element.value for kind in kinds for element in kind)
