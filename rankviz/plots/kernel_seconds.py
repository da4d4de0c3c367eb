"""Error of the approximate kernel against the seconds of its features, a point per m."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_error import Variant
from rankviz.plots import kernel_variants
from rankviz.plots.kernel_error import LEAST, error_axis
from rankviz.plots.style import finished, style_of


def data(summary: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Join errors over seeds (see `over_seeds`) with a column seconds, for every map and m with both."""
    return summary.merge(seconds, on=["map", "choice", "m"], how="inner")


def figure(table: pd.DataFrame, norm: str, current: int, named: Variant | None = None) -> go.Figure:
    """Draw on log axes; points of one map are joined by m, the last one labelled."""
    fig = go.Figure()
    variants = kernel_variants.variants_in(table)
    for variant in variants:
        rows = kernel_variants.rows_of(table, variant).sort_values("m")
        name = kernel_variants.name(variant)
        fig.add_scatter(
            x=rows["seconds"],
            y=rows["mean"],
            name=name,
            mode="lines+markers+text",
            text=_labels(variant, rows["m"].tolist()),
            textposition="bottom left" if variant.map == variants[0].map else "top right",
            textfont={"color": style_of(variant.map).colour},
            cliponaxis=False,
            customdata=rows[["m", "low", "high"]],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": rows["high"] - rows["mean"],
                "arrayminus": rows["mean"] - rows["low"],
                "thickness": 1,
                "width": 0,
            },
            hovertemplate=(
                f"{name}, m = %{{customdata[0]}}<br>%{{x:.2g}} s, error %{{y:.3g}} "
                "(%{customdata[1]:.3g} to %{customdata[2]:.3g} over seeds)<extra></extra>"
            ),
            **kernel_variants.look(variant),
        )
    if named is not None:
        rows = kernel_variants.rows_of(table, named)
        for point in rows[(rows["m"] == current) & (rows["mean"] > LEAST)].to_dict("records"):
            kernel_variants.add_mark(fig, named, point["seconds"], point["mean"])
    return finished(
        fig,
        height=460,
        xaxis={
            "title": "seconds for all training documents (log scale)",
            "type": "log",
            "range": _decades(table["seconds"]),
            "dtick": 1,
            "exponentformat": "power",
        },
        yaxis=error_axis(table, norm),
        margin={"l": 70, "r": 20, "t": 50, "b": 55},
    )


def _labels(variant: Variant, ms: list[int]) -> list[str]:
    """Label the last point of the papers' maps; their variants lie too close for labels."""
    last = f"m = {ms[-1]:,}" if kernel_variants.is_as_printed(variant) else ""
    return [""] * (len(ms) - 1) + [last]


def _decades(seconds: pd.Series) -> list[float]:
    low, high = math.log10(seconds.min()), math.log10(seconds.max())
    return [math.floor(low), math.floor(high - 1e-9) + 1]
