"""Nyström beside random Fourier features: kernel matrices, landmarks and waves, curves of draws, rankings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features import EXACT, FittedMap
from rankviz.features.fourier import FittedFourier
from rankviz.features.nystroem import FittedNystroem
from rankviz.learning.pairs import preference_pairs
from rankviz.plots import kernel_error, ranked_list
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    DIVERGING,
    EVEN_COLOUR,
    GUIDE,
    add_line,
    add_ring,
    add_strokes,
    finished,
    line_of,
    metric_range,
    ranks_of,
    style_of,
)

HEIGHT = 350
BAR = 112
"""Height in pixels of a colour bar: no more than the matrices beside it have on a phone."""
TITLE_SIZE = 13  # titles of panels side by side on a phone
ERROR = "error"
"""The measure of `draws_data` besides metrics."""
STRONG = 0.25
"""Share of K's range that has the strongest colour in maps of K̃ − K."""


def order_of(maps: Sequence[str]) -> list[str]:
    """Return the places of models: the first map left of the exact kernel, the others right of it."""
    return [*maps[:1], EXACT, *maps[1:]]


def matrices_data(K: FloatArray, approximate: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Return columns map (`EXACT` for K), row, column (from 1), value; K (N, N) and K̃ (N, N) of each map."""
    row, column = np.indices(K.shape).reshape(2, -1) + 1
    found = {EXACT: K, **approximate}
    frames = [
        pd.DataFrame({"map": name, "row": row, "column": column, "value": found[name].ravel()})
        for name in order_of(list(approximate))
    ]
    return pd.concat(frames, ignore_index=True)


def matrices_figure(
    table: pd.DataFrame, titles: Mapping[str, str], *, differences: bool = False
) -> go.Figure:
    """Draw K between its approximations, all on K's range of colours; with `differences` K̃ − K.

    `titles` are second lines for the panels, by map.
    """
    n = int(table["row"].max())
    names = [str(name) for name in table["map"].iloc[:: n * n]]
    found = dict(zip(names, table["value"].to_numpy().reshape(-1, n, n), strict=True))
    K, ticks = found[EXACT], np.arange(1, n + 1)
    fig = make_subplots(
        cols=len(names),
        horizontal_spacing=0.03,
        subplot_titles=[_panel_title(name, titles.get(name, "")) for name in names],
    )
    for place, name in enumerate(names, start=1):
        differs = differences and name != EXACT
        value = "K̃ − K" if differs else "κ" if name == EXACT else "κ̃"
        heat = go.Heatmap(
            x=ticks,
            y=ticks,
            z=(found[name] - K if differs else found[name]).astype(np.float32),
            coloraxis="coloraxis2" if differs else "coloraxis",
            hovertemplate=f"documents %{{y}} and %{{x}}<br>{value} = %{{z:.4f}}<extra></extra>",
        )
        fig.add_trace(heat, row=1, col=place)
    low, high = _range_of(K)
    strong = STRONG * (high - low)
    bar = {"thickness": 10, "nticks": 4, "lenmode": "pixels", "len": BAR, "y": 1, "yanchor": "top"}
    right = bar | {"title": {"text": "κ", "side": "top"}, "xref": "container", "x": 1, "xanchor": "right"}
    left = bar | {"title": {"text": "K̃ − K", "side": "top"}, "xref": "container", "x": 0, "xanchor": "left"}
    fig.update_xaxes(showticklabels=False, ticks="", constrain="domain", showgrid=False)
    fig.update_yaxes(
        autorange="reversed",
        showticklabels=False,
        ticks="",
        constrain="domain",
        constraintoward="top",  # below their titles on a phone
        showgrid=False,
    )
    for place in range(2, len(names) + 1):
        fig.layout[f"yaxis{place}"].scaleanchor = f"x{place}"
    fig.layout.yaxis.scaleanchor = "x"
    return finished(
        fig,
        height=HEIGHT - 16,
        meta={"alone": 360},  # three squares in a row need no more height, and two rows of controls are above
        coloraxis={"colorscale": "Cividis", "cmin": low, "cmax": high, "colorbar": right},
        coloraxis2={"colorscale": DIVERGING, "cmin": -strong, "cmax": strong, "colorbar": left},
        margin={"l": 52 if differences else 10, "r": 44, "t": 50, "b": 34},
    ).update_annotations(font_size=TITLE_SIZE)


def _panel_title(name: str, below: str) -> str:
    style = style_of(name)
    return f"<span style='color:{style.colour}'>{style.name}</span><br>{below}"


def _range_of(K: FloatArray) -> tuple[float, float]:
    """Return the range of K with 0, rounded outwards to a tenth of its power of ten, for a stable scale."""
    low, high = min(0.0, float(K.min())), max(0.0, float(K.max()))
    step = 10.0 ** math.floor(math.log10(max(high, -low) or 1.0)) / 10
    ends = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    return ends if ends[1] > ends[0] else (0.0, 1.0)


def principal_plane(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean (d,) and the first two principal directions (d, 2) of documents X (n, d).

    The largest entry of each direction is positive; a missing second direction is 0.
    """
    centre = X.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1))
    axes = np.zeros((X.shape[1], 2))
    first = vectors[:, ::-1][:, :2]
    axes[:, : first.shape[1]] = first * np.sign(first[np.abs(first).argmax(axis=0), range(first.shape[1])])
    return centre, axes


def plane_data(
    Z: FloatArray, maps: Mapping[str, FittedMap], centre: FloatArray, axes: FloatArray
) -> pd.DataFrame:
    """Return documents Z (N, d), landmarks and frequencies in a plane: columns map, number, x, y, phase.

    map is "" for documents. A document or landmark has its coordinates. A frequency ω has its component in
    the plane, and the phase of cos(ωᵀx + b) in the plane's centre; other rows have no phase.
    """
    frames = [_in_plane("", (Z - centre) @ axes)]
    for name, fitted in maps.items():
        if isinstance(fitted, FittedNystroem):
            frames.append(_in_plane(name, (fitted.landmarks - centre) @ axes))
        elif isinstance(fitted, FittedFourier):
            waves = _in_plane(name, fitted.frequencies.T @ axes)
            frames.append(waves.assign(phase=fitted.phases + centre @ fitted.frequencies))
    return pd.concat(frames, ignore_index=True)


def _in_plane(name: str, places: FloatArray) -> pd.DataFrame:
    number = np.arange(1, len(places) + 1)
    return pd.DataFrame(
        {"map": name, "number": number, "x": places[:, 0], "y": places[:, 1], "phase": np.nan}
    )


WHOLE, MOST_CRESTS = 3, 41
"""Waves drawn with all their crests, and the most crests of one wave."""


def plane_figure(table: pd.DataFrame) -> go.Figure:
    """Draw one panel per map over the documents: landmarks as points, waves by their crests.

    The axes hold nearly all documents. The first waves have all crests, the others the one nearest the
    centre.
    """
    documents = table[table["map"] == ""]
    names = [str(name) for name in table["map"].unique() if name]
    counts = table["map"].value_counts()
    waves = {name: bool(table.loc[table["map"] == name, "phase"].notna().any()) for name in names}
    kinds = {name: "waves" if waves[name] else "landmarks" for name in names}
    fig = make_subplots(
        cols=max(1, len(names)),
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=[f"{counts[name]:,} {kinds[name]}" for name in names],
    )
    box = np.array([_ends(documents[axis]) for axis in ("x", "y")])
    for column, name in enumerate(names, start=1):
        place: dict[str, Any] = {"row": 1, "col": column}
        _add_documents(fig, documents, box, place)
        own = table[table["map"] == name]
        (_add_waves if waves[name] else _add_landmarks)(fig, name, own, box, place)
    fig.update_xaxes(range=box[0], zeroline=False, title_text="first component")
    fig.update_yaxes(range=box[1], zeroline=False)
    fig.update_yaxes(title_text="second component", row=1, col=1)
    return finished(fig, height=HEIGHT, margin={"l": 50, "r": 20, "t": 35, "b": 50}).update_annotations(
        font_size=TITLE_SIZE
    )


def _ends(values: pd.Series) -> list[float]:
    low, high = values.quantile([0.005, 0.995])
    room = 0.08 * (high - low) or 1.0
    return [float(low - room), float(high + room)]


def _add_documents(fig: go.Figure, documents: pd.DataFrame, box: FloatArray, place: dict[str, Any]) -> None:
    """Draw documents as small squares in one shape: a trace makes an element of each, which takes longer."""
    # most of a square is its line, whose width is in pixels: so it keeps its form in a narrow figure
    across, up = 0.002 * (box[:, 1] - box[:, 0])
    path = "".join(
        f"M{x - across:.5g},{y - up:.5g}H{x + across:.5g}V{y + up:.5g}H{x - across:.5g}Z"
        for x, y in zip(documents["x"], documents["y"], strict=True)
    )
    line = {"width": 2.5, "color": EVEN_COLOUR}
    fig.add_shape(type="path", path=path, line=line, opacity=0.5, layer="below", **place)


def _add_landmarks(
    fig: go.Figure, name: str, own: pd.DataFrame, box: FloatArray, place: dict[str, Any]
) -> None:
    style = style_of(name)
    fig.add_scatter(
        x=own["x"],
        y=own["y"],
        mode="markers",
        marker={"size": 8, "symbol": "diamond-open", "color": style.colour, "line": {"width": 1.5}},
        customdata=own["number"],
        hovertemplate="landmark %{customdata}<extra></extra>",
        showlegend=False,
        **place,
    )


def _add_waves(fig: go.Figure, name: str, own: pd.DataFrame, box: FloatArray, place: dict[str, Any]) -> None:
    colour, thin = style_of(name).colour, min(0.9, max(0.25, 12 / len(own)))
    add_strokes(
        fig, *crests(own[WHOLE:], box, every=False), {"width": 1, "color": colour}, opacity=thin, **place
    )
    add_line(fig, *crests(own[:WHOLE], box, every=True), colour, width=2, **place)


def crests(waves: pd.DataFrame, box: FloatArray, *, every: bool) -> tuple[list[Any], list[Any]]:
    """Return x and y of lines where cos(ω·u + phase) is 1 within a box (2, 2), with gaps between them.

    The one nearest the box's centre, or with `every` all of them.
    """
    centre, diagonal = box.mean(axis=1), float(np.linalg.norm(box[:, 1] - box[:, 0]))
    x, y = [], []
    for omega, phase in zip(waves[["x", "y"]].to_numpy(), waves["phase"], strict=True):
        length = float(np.linalg.norm(omega))
        if length * diagonal < 1e-9:
            continue
        turns = (omega @ centre + phase) / (2 * math.pi)
        reach = min(MOST_CRESTS // 2, math.ceil(length * diagonal / (4 * math.pi))) if every else 0
        along = np.array([-omega[1], omega[0]]) / length * diagonal
        for k in range(round(turns) - reach, round(turns) + reach + 1):
            point = centre + omega * (2 * math.pi * (k - turns)) / length**2
            x += [point[0] - along[0], point[0] + along[0], None]
            y += [point[1] - along[1], point[1] + along[1], None]
    return x, y


def draws_data(errors: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return errors and metrics of each draw at each m: columns measure, map, seed, m, value.

    `errors` has columns map, seed, m and frobenius; `metrics` is a table of `metric_vs_m.metric_data`. m is 0
    for the level of the exact kernel.
    """
    own = errors.rename(columns={"frobenius": "value"}).assign(measure=ERROR)
    named = metrics.rename(columns={"metric": "measure", "method": "map"})
    columns = ["measure", "map", "seed", "m", "value"]
    found = pd.concat([own[columns], named[columns]], ignore_index=True)
    return found.astype({"seed": int, "m": int, "value": float})  # a table without models has no types


def draws_figure(table: pd.DataFrame, metric: str, m: int, seed: int, grid: Sequence[int]) -> go.Figure:
    """Draw error and metric against m: the draw of `seed` with marks, earlier draws thin; m is marked."""
    fig = make_subplots(cols=2, horizontal_spacing=0.06)
    for column, measure in enumerate((ERROR, metric), start=1):
        rows = table[table["measure"] == measure]
        place: dict[str, Any] = {"row": 1, "col": column}
        for name, level in rows[rows["m"] == 0].groupby("map"):
            style = style_of(str(name))
            value = float(level["value"].iloc[0])
            add_line(fig, [grid[0], grid[-1]], [value] * 2, style.colour, width=2, dash=style.dash, **place)
            fig.data[-1].update(name=style.name, showlegend=True)
        for _, line in rows[rows["m"] > 0].groupby(["map", "seed"], sort=False):
            name, of = line[["map", "seed"]].iloc[0]
            _add_draw(fig, str(name), line.sort_values("m"), m, place, earlier=of != seed)
        fig.add_vline(x=m, line=GUIDE, **place)
    room = 0.04 * (math.log10(grid[-1]) - math.log10(grid[0])) + 0.02
    ends = [math.log10(grid[0]) - room, math.log10(grid[-1]) + room]
    fig.update_xaxes(type="log", range=ends, tickvals=list(grid), title_text="m (log scale)")
    errors = table.loc[table["measure"] == ERROR]
    axis = kernel_error.error_axis(errors.assign(low=errors["value"], high=errors["value"]), "frobenius")
    fig.update_yaxes(axis | {"title": "relative error ‖K̃ − K‖ / ‖K‖"}, row=1, col=1)
    values = table.loc[table["measure"] == metric, "value"].dropna()
    ends = metric_range(values.min(), values.max(), metric) if len(values) else [0, 1]
    fig.update_yaxes(range=ends, tickformat=".2f", side="right", title_text=f"mean {metric}", row=1, col=2)
    return finished(fig, height=HEIGHT, margin={"l": 60, "r": 60, "t": 35, "b": 50})


def _add_draw(
    fig: go.Figure, name: str, line: pd.DataFrame, m: int, place: dict[str, Any], *, earlier: bool
) -> None:
    style, of = line_of(name), int(line["seed"].iloc[0])
    ms, values = line["m"].to_numpy(), line["value"].to_numpy()
    if place["col"] == 1:  # errors at rounding are below the axis
        ms, values = ms[values > kernel_error.LEAST], values[values > kernel_error.LEAST]
    text = f"{style_of(name).name}, seed {of}"
    fig.add_scatter(
        x=ms,
        y=values,
        name=style_of(name).name,
        mode="lines" if earlier else "lines+markers",
        opacity=0.35 if earlier else 1,
        legendgroup=name,
        showlegend=not earlier and place["col"] == 1,
        hovertemplate=f"{text}, m = %{{x}}<br>%{{y:.4g}}<extra></extra>",
        line=style["line"] | {"width": 1.5 if earlier else 2.5},
        marker=style["marker"],
        **place,
    )
    if not earlier and m in ms:
        add_ring(fig, m, float(values[ms == m][0]), style_of(name).colour, **place)


def disagreements(
    scores: Mapping[str, FloatArray], exact: FloatArray, grades: IntArray
) -> tuple[pd.DataFrame, int]:
    """Return preference pairs that a map and the exact model order differently, and the number of pairs.

    Scores (n,) are those of one query. Columns map, winner, loser (rows of the query), lost: True if the
    exact model has the higher grade first, and the map has not. Ties keep file order.
    """
    pairs = preference_pairs(grades, np.array([0, len(grades)]))
    right = _ordered(exact, pairs.winner, pairs.loser)
    frames = [pd.DataFrame({"map": [], "winner": [], "loser": [], "lost": []})]
    for name, own in scores.items():
        differ = np.flatnonzero(_ordered(own, pairs.winner, pairs.loser) != right)
        frames.append(
            pd.DataFrame(
                {
                    "map": name,
                    "winner": pairs.winner[differ],
                    "loser": pairs.loser[differ],
                    "lost": right[differ],
                }
            )
        )
    return pd.concat([one for one in frames[1:] if len(one)] or frames[:1], ignore_index=True), len(pairs)


def _ordered(scores: FloatArray, winner: IntArray, loser: IntArray) -> Any:
    ranks = ranks_of(scores)
    return ranks[winner] < ranks[loser]


TURN = np.linspace(0, np.pi, 13)


def rankings_figure(table: pd.DataFrame, pairs: pd.DataFrame, places: Mapping[str, int], k: int) -> go.Figure:
    """Draw ranks 1 … k of each model, joined by document; arcs mark pairs of `disagreements` in the list.

    `table` is the result of `ranked_list.rankings_data`; `places` has the map's place in it.
    """
    fig = ranked_list.ranks_figure(table, k)
    ranks = {place: rows.sort_values("row")["rank"].to_numpy() for place, rows in table.groupby("place")}
    looks = {
        True: ("pair that only the exact kernel has in order", CHOSEN_COLOUR, None),
        False: ("pair that only the map has in order", EVEN_COLOUR, "dot"),
    }
    for lost, (name, colour, dash) in looks.items():
        x: list[Any] = []
        y: list[Any] = []
        for name_of, own in pairs[pairs["lost"] == lost].groupby("map", sort=False):
            place = places[str(name_of)]
            ends = np.sort(ranks[place][own[["winner", "loser"]].to_numpy(int)], axis=1)
            for first, last in ends[ends[:, 1] <= k]:
                bulge = 0.06 + 0.3 * (last - first) / k * np.sin(TURN)
                x += [*(place + (-1 if place == 0 else 1) * bulge), None]
                y += [*((first + last) / 2 - (last - first) / 2 * np.cos(TURN)), None]
        add_line(fig, x, y, colour, width=1.8, dash=dash, name=name, showlegend=bool(x))
    axis = {"title": None, "range": [-0.5, table["place"].max() + 0.5], "side": "top"}
    legend = {"yanchor": "top", "y": -0.02}
    fig.update_layout(xaxis=axis, legend=legend, margin={"l": 50, "r": 20, "t": 30, "b": 40})
    return fig
