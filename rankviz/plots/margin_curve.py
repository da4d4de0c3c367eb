"""The margin of two documents against one feature of A, with the crossings."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.plots.labels import harmless
from rankviz.plots.margin_waterfall import ABOVE_COLOUR, BELOW_COLOUR
from rankviz.plots.style import finished, line_of


def data(values: FloatArray, margin: FloatArray) -> pd.DataFrame:
    """Return columns value, margin: f(A with that value of the feature) − f(B)."""
    return pd.DataFrame({"value": values, "margin": margin})


def figure(
    table: pd.DataFrame, look: str, name: str, now: tuple[float, float], other: float, crossings: FloatArray
) -> go.Figure:
    """Draw the curve, A now (`now`: value and margin), B's value as a dotted line, and ticks at crossings."""
    fig = go.Figure()
    fig.add_hline(y=0.0, line={"width": 1.5, "color": "#7f7f7f"})
    fig.add_vline(x=other, line={"width": 1.5, "dash": "dot", "color": BELOW_COLOUR})
    place = {"x": other, "y": 1, "yref": "y domain", "xanchor": "left", "yanchor": "top", "xshift": 4}
    fig.add_annotation(text="B's value", showarrow=False, **place)
    fig.add_scatter(
        x=table["value"],
        y=table["margin"],
        mode="lines",
        line=line_of(look)["line"] | {"dash": "solid"},
        name="margin",
        hovertemplate="%{x:.4g}: margin %{y:.4g}<extra></extra>",
    )
    fig.add_scatter(
        x=crossings,
        y=[0.0] * len(crossings),
        mode="markers",
        name="they swap",
        marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": "#000000"}},
        hovertemplate="they swap at %{x:.6g}<extra></extra>",
    )
    fig.add_scatter(
        x=[now[0]],
        y=[now[1]],
        mode="markers",
        name="A as it is",
        marker={"symbol": "triangle-up", "size": 14, "color": ABOVE_COLOUR},
        hovertemplate="A has %{x:.4g}: margin %{y:.4g}<extra></extra>",
    )
    return finished(
        fig,
        height=380,
        xaxis={"title": f"{harmless(name)} of A", "zeroline": False},
        yaxis={"title": "f(A) − f(B)", "zeroline": False},
    )
