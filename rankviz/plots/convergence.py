"""How training went: the objective and the Newton decrement at each iteration."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.experiments.record import RunRecord
from rankviz.plots.style import finished, line_of, method_label

TITLES = ("Objective", "Newton decrement / objective")


def data(records: list[RunRecord]) -> pd.DataFrame:
    """The traces of runs one below the other, with columns method and label."""
    frames = [
        record.trace.assign(
            method=record.spec.feature_map, label=method_label(record.spec), tol=record.spec.tol
        )
        for record in records
    ]
    return pd.concat(frames, ignore_index=True)


def figure(table: pd.DataFrame) -> go.Figure:
    """Objective (left) and Newton decrement relative to it (right, log) with the tolerance as a line."""
    fig = make_subplots(
        cols=2, subplot_titles=("Objective", "Newton decrement / objective"), horizontal_spacing=0.12
    )
    for (method, label), rows in table.groupby(["method", "label"], sort=False):
        style = line_of(str(method))
        ratio = rows["decrement"] / rows["objective"].where(rows["objective"] > 0)
        for column, y in ((1, rows["objective"]), (2, ratio)):
            fig.add_scatter(
                x=rows["iteration"],
                y=y,
                name=label,
                legendgroup=label,
                showlegend=column == 1,
                mode="lines+markers",
                customdata=rows[["cg_iterations", "step", "active_share"]],
                hovertemplate=(
                    f"{label}, iteration %{{x}}: %{{y:.6g}}<br>CG iterations %{{customdata[0]}}, step "
                    "%{customdata[1]:.3g}, active pairs %{customdata[2]:.1%}<extra></extra>"
                ),
                row=1,
                col=column,
                **style,
            )
    if len(table):
        fig.add_hline(
            y=float(table["tol"].max()),
            row=1,
            col=2,
            line={"width": 1, "dash": "dash"},
            annotation_text="tolerance",
        )
    fig.update_xaxes(title_text="Newton iteration", dtick=1)
    fig.update_yaxes(title_text="½‖w‖² + C·loss", row=1, col=1)
    fig.update_yaxes(type="log", exponentformat="power", row=1, col=2)
    return finished(fig, legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0})
