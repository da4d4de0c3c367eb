"""Convergence of training by iteration: one run on two panels, or one quantity of several runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.learning.solver_settings import PRECONDITIONER, PRECONDITIONERS
from rankviz.plots.style import finished, line_of, look_of, style_of
from rankviz.runs.labels import distinct_parts, without_common
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

REFERENCE_TOL = 1e-10
"""Tolerance of the reference run for the best objective, and the smallest drawn gap."""


@dataclass(frozen=True)
class Quantity:
    """A quantity of a run on a vertical axis.

    Attributes
    ----------
    name, title : str
        In the menu, and on the axis.
    column : str
        In the table of `data`.
    log : bool
        True for a logarithmic axis.
    """

    name: str
    title: str
    column: str
    log: bool = True


QUANTITIES = {
    "gap": Quantity("objective above the best", "(objective − best) / best", "gap"),
    "gradient": Quantity("gradient norm", "‖gradient‖", "gradient_norm"),
    "decrement": Quantity("Newton decrement", "Newton decrement / objective", "relative_decrement"),
    "duality": Quantity("duality gap", "duality gap / objective", "duality"),
    "cg": Quantity("CG iterations", "CG iterations so far", "cg_total", log=False),
    "active": Quantity("active pairs", "share of pairs that are active", "active_share", log=False),
}

# title, column at an iteration's start, column at its end
AXES = {
    "iteration": ("iteration", "iteration", "iteration"),
    "products": ("products with the features or the kernel", "reached_products", "products_total"),
    "seconds": ("seconds since the solver started", "reached_seconds", "seconds"),
    "cg": ("CG iterations spent", "reached_cg", "cg_total"),
}

_SYMBOLS = ("", "square", "triangle-up", "triangle-down", "cross", "star", "hexagon", "pentagon")
_FADED = (1.0, 0.8, 0.7, 0.6)
_DASHES = ("dot", "dashdot", "longdashdot", "4px,2px", "8px,2px,2px,2px", "longdash", "1px,4px", "12px,4px")
"""Dashes of a method's solvers, in registry order; the default solver has the method's own."""
_TOLD = (
    *("iteration", "objective", "gradient_norm", "decrement", "cg_iterations", "step", "seconds"),
    *("active_pairs", "active_share", "gap", "products"),
)
"""Columns that a trace may lack."""
_MOST_MARKERS = 40
"""Longer traces are drawn without markers, which would cover the line."""


def data(records: Sequence[RunRecord], references: Sequence[RunRecord] = ()) -> pd.DataFrame:
    """Return the traces of runs, one row per iteration.

    Columns are the trace's, at the start of the iteration (seconds: at its end). Further columns are method,
    label, short (the label without common parts), setting (number of the settings within the method), plain
    (no preconditioner), solver, way (number of the solver within the method), tol, cg_total and
    products_total (CG iterations and products by its end), reached_seconds, reached_cg and reached_products
    (when its point was reached), relative_decrement, duality (the duality gap over the objective), and
    gap = (objective − best)/|best|. best is the lowest objective of all runs and references with the same
    problem (NaN without references). NaN marks values that a trace does not have.
    """
    best = _best([*records, *references]) if references else {}
    parts = distinct_parts([record.spec for record in records])
    settings = _settings([record.spec for record in records])
    frames = [
        _trace(record, best.get(record.spec.problem)).assign(
            label=", ".join(told), short=", ".join(short), setting=setting
        )
        for record, told, short, setting in zip(records, parts, without_common(parts), settings, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def _best(records: Sequence[RunRecord]) -> Mapping[object, float]:
    found: dict[object, float] = {}
    for record in records:
        key = record.spec.problem
        found[key] = min(found.get(key, record.objective), record.objective)
    return found


def _trace(record: RunRecord, best: float | None) -> pd.DataFrame:
    trace = record.trace.assign(**{name: math.nan for name in _TOLD if name not in record.trace})
    total, steps = trace["cg_iterations"].cumsum(), trace["step"].notna()
    products = trace["products"].cumsum()
    positive = trace["objective"].where(trace["objective"] > 0)
    return trace.assign(
        method=look_of(record.spec),
        plain=not preconditioned(record.spec),
        solver=record.spec.get("solver", ""),
        way=_way(record.spec),
        tol=record.spec.get("tol", float("nan")),
        cg_total=total,
        reached_seconds=trace["seconds"].shift(fill_value=0.0).where(steps, trace["seconds"]),
        reached_cg=total.shift(fill_value=0).where(steps),
        products_total=products,
        reached_products=products.shift(fill_value=0.0).where(steps),
        duality=trace["gap"].where(steps),  # a row without a step has no certificate of this kind
        relative_decrement=trace["decrement"] / positive,
        gap=(trace["objective"] - best) / abs(best) if best else float("nan"),
    )


def _way(spec: RunSpec) -> int:
    """Return the number of a run's solver within its method; 0 is the default."""
    setting = spec.declared().get("solver")
    others = [] if setting is None else [name for name in setting.options if name != setting.default]
    return 1 + others.index(spec.solver) if spec.get("solver") in others else 0


def _settings(specs: Sequence[RunSpec]) -> Iterator[int]:
    """Yield each spec's number within its look, ignoring the preconditioner."""
    known: dict[str, list[RunSpec]] = {}
    for spec in specs:
        alike, same = known.setdefault(look_of(spec), []), with_preconditioner(spec)
        if same not in alike:
            alike.append(same)
        yield alike.index(same)


def preconditioned(spec: RunSpec) -> bool:
    """Return True unless a run's preconditioner is switched off."""
    return "preconditioner" not in spec or PRECONDITIONERS[spec.preconditioner].used


def with_preconditioner(spec: RunSpec) -> RunSpec:
    """Return the same run with its preconditioner, if it supports one."""
    return spec.but(preconditioner=PRECONDITIONER.default) if "preconditioner" in spec else spec


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw the objective (left) and the relative Newton decrement (right, log) with the tolerance as a line.

    Draw only the objective if no trace has decrements.
    """
    if table["relative_decrement"].isna().all():
        return _objective(table)
    fig = make_subplots(
        cols=2, subplot_titles=("Objective", "Newton decrement / objective"), horizontal_spacing=0.12
    )
    _add_runs(fig, table, "iteration", "objective", row=1, col=1)
    _add_runs(fig, table, "iteration", "relative_decrement", row=1, col=2, showlegend=False)
    _add_tolerance(fig, table, row=1, col=2)
    fig.update_xaxes(title_text="iteration", dtick=1 if len(table) <= 20 else None)
    fig.update_yaxes(title_text="½‖w‖² + C·loss", row=1, col=1)
    fig.update_yaxes(type="log", exponentformat="power", row=1, col=2)
    return finished(fig, legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0})


def _objective(table: pd.DataFrame) -> go.Figure:
    fig = go.Figure()
    _add_runs(fig, table, "iteration", "objective")
    fig.update_xaxes(title_text="iteration", dtick=1 if len(table) <= 20 else None)
    fig.update_yaxes(title_text="objective")
    return finished(fig)


def told(table: pd.DataFrame, y: str, x: str) -> pd.DataFrame:
    """Return the rows of runs whose traces have a quantity (in `QUANTITIES`) and an axis (in `AXES`)."""
    known = table[QUANTITIES[y].column].notna() & table[AXES[x][1]].notna()
    return table[table["label"].isin(table.loc[known, "label"])]


def quantity_figure(table: pd.DataFrame, y: str, x: str) -> go.Figure:
    """Draw one quantity (in `QUANTITIES`) of all runs against an axis (in `AXES`).

    Against seconds or CG iterations, a line ends with the work that verifies the last point, at the same
    height. Gaps below `REFERENCE_TOL` are drawn at it. Runs without one of the two are left out.
    """
    quantity, (title, begins, ends) = QUANTITIES[y], AXES[x]
    fig, table = go.Figure(), told(table, y, x)
    if y == "cg":
        _add_runs(fig, table, ends, quantity.column)
    else:
        shown = table.assign(gap=table["gap"].clip(lower=REFERENCE_TOL)) if y == "gap" else table
        shown = shown[shown[quantity.column].notna()]
        _add_runs(
            fig, shown if x == "iteration" else _with_ends(shown, begins, ends), begins, quantity.column
        )
    if y == "decrement":
        _add_tolerance(fig, table)
    fig.update_xaxes(title_text=title)
    if x == "iteration" and len(table) and table["iteration"].max() <= 20:
        fig.update_xaxes(dtick=1)
    if quantity.log:
        decades = _decades(table[quantity.column])
        fig.update_yaxes(type="log", exponentformat="power", dtick=1 if decades <= 8 else 2)
    else:
        fig.update_yaxes(rangemode="tozero", tickformat=".0%" if y == "active" else ",d")
    below = y == "gap" and bool((table["objective"] < 0).any())
    fig.update_yaxes(title_text="(objective − best) / |best|" if below else quantity.title)
    return finished(fig, height=440 + 12 * max(0, len(fig.data) - 2))


def _decades(values: pd.Series[float]) -> float:
    """Return the powers of ten between the smallest and the largest positive value."""
    positive = values[values > 0]
    return math.log10(positive.max() / positive.min()) if len(positive) else 0.0


def _with_ends(table: pd.DataFrame, begins: str, ends: str) -> pd.DataFrame:
    """Repeat the last row of each run at the end of its iteration."""
    last = table.groupby("label", sort=False).tail(1)
    after = last.assign(**{begins: last[ends]})
    return pd.concat([table, after]).sort_index(kind="stable").reset_index(drop=True)


def _add_runs(fig: go.Figure, table: pd.DataFrame, x: str, y: str, **place: Any) -> None:
    hover = ["iteration", "cg_iterations", "step", "active_share", "active_pairs"]
    for label, rows in table.groupby("label", sort=False):
        more = (
            "<br>CG iterations %{customdata[1]}, step %{customdata[2]:.3g}, active pairs %{customdata[4]:,} "
            "(%{customdata[3]:.1%})"
        )
        fig.add_scatter(
            x=rows[x],
            y=rows[y],
            name=label,
            legendgroup=label,
            mode="lines+markers" if len(rows) <= _MOST_MARKERS else "lines",
            customdata=rows[hover],
            hovertemplate=f"{label}, iteration %{{customdata[0]}}: %{{y:.6g}}"
            f"{more if rows['step'].notna().any() else ''}<extra></extra>",
            **_look(rows.iloc[0]),
            **place,
        )


def _look(row: pd.Series[Any]) -> dict[str, Any]:
    """Return the method's colour, dashes by solver and preconditioner, marker and opacity by setting."""
    style, setting = line_of(str(row["method"])), int(row["setting"])
    if row["plain"]:
        style["line"]["dash"] = "dash" if style_of(str(row["method"])).dash == "solid" else "dashdot"
        style["marker"]["symbol"] += "-open"
    elif row["way"]:
        style["line"]["dash"] = _DASHES[(int(row["way"]) - 1) % len(_DASHES)]
    if setting:
        symbol = _SYMBOLS[1 + (setting - 1) % (len(_SYMBOLS) - 1)]
        style["marker"]["symbol"] = f"{symbol}-open" if row["plain"] else symbol
    return style | {"opacity": _FADED[min(setting, len(_FADED) - 1)]}


def _add_tolerance(fig: go.Figure, table: pd.DataFrame, **place: Any) -> None:
    if table["tol"].notna().any():
        guide = {"width": 1, "dash": "dash", "color": "#999999"}
        tol = float(table["tol"].max())
        # log axes place annotations by exponent, lines by value
        text = {"annotation_text": "tolerance", "annotation_y": math.log10(tol)}
        fig.add_hline(y=tol, line=guide, **text, **place)
