"""Effect of each setting of a sweep: best and mean of the cells at each value, a panel per setting."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.plots.setting_words import setting_words, value_words
from rankviz.plots.style import DATA_COLOUR, finished
from rankviz.runs.designs import Design
from rankviz.runs.worth import shares, worth

COLUMNS = 2
ROW = 260
"""Height of a row of panels in pixels."""


def data(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the table of `rankviz.runs.worth.worth` with each setting's variance share: share, exact.

    Settings with the largest share come first. Raises `SettingError` for a metric that is not in the table.
    """
    told = shares(design, table, metric)
    joined = worth(design, table, metric).merge(told, on="setting", how="left")
    order = told.sort_values("share", ascending=False, kind="stable")["setting"].tolist()
    return joined.sort_values(
        "setting", key=lambda names: names.map(order.index), kind="stable", ignore_index=True
    )


def figure(table: pd.DataFrame, design: Design, metric: str) -> go.Figure:
    """Draw the best cell per value filled, the mean hollow, all panels on one scale."""
    names = list(dict.fromkeys(table["setting"]))
    columns = min(COLUMNS, max(len(names), 1))
    rows = max(math.ceil(len(names) / columns), 1)
    titles = [_title(table, design, name) for name in names]
    fig = make_subplots(
        rows,
        columns,
        shared_yaxes="all",
        subplot_titles=titles,
        vertical_spacing=0.45 / rows,
        horizontal_spacing=0.04,
    )
    for place, name in enumerate(names):
        own, at = (
            _apart(table[table["setting"] == name]),
            {"row": place // columns + 1, "col": place % columns + 1},
        )
        words = [value_words(design.settings[name], value) for value in own["value"]]
        for column, symbol in (("best", "circle"), ("mean", "circle-open")):
            fig.add_scatter(
                x=words,
                y=own[column],
                name=f"{column} of the cells with this value",
                legendgroup=column,
                showlegend=place == 0,
                mode="markers" if design.settings[name].options else "lines+markers",
                line={"color": DATA_COLOUR, "width": 1.5, "dash": "solid" if column == "best" else "dot"},
                marker={"symbol": symbol, "size": 9, "color": DATA_COLOUR},
                customdata=own["cells"],
                hovertemplate=f"{setting_words(design.settings[name])} = %{{x}}: {column} {metric} %{{y:.4f}}"
                " of %{customdata} cells<extra></extra>",
                **at,
            )
        fig.update_xaxes(type="category", nticks=10, **at)
    for row in range(1, rows + 1):
        fig.update_yaxes(title_text=f"mean {metric}", tickformat=".3f", row=row, col=1)
    fig.update_annotations(font_size=12)
    return finished(
        fig,
        height=110 + ROW * rows,
        margin={"l": 60, "r": 10, "t": 95, "b": 40},
        legend={"y": 1.0 + 0.18 / rows},
    )


def _apart(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the cells that do not read the setting after a gap, so that no line joins them."""
    unread = rows["value"].isna()
    gap = rows[unread].assign(best=math.nan, mean=math.nan)
    return pd.concat([rows[~unread], gap, rows[unread]]) if unread.any() else rows


def _title(table: pd.DataFrame, design: Design, name: str) -> str:
    """Title a panel with the setting and its share of the variance."""
    row = table[table["setting"] == name].iloc[0]
    symbol = setting_words(design.settings[name])
    if math.isnan(row["share"]):
        return symbol
    about = "" if row["exact"] else "about "
    return f"{symbol}<br>{about}{100 * row['share']:.0f} % of variance"
