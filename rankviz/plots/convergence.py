"""Convergence of training: one run, or one quantity of several runs, with sentences on their effort."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.numbers import small
from rankviz.learning.objective import Status
from rankviz.learning.solvers import PRECONDITIONER, PRECONDITIONERS
from rankviz.plots.style import GUIDE, IN_PERCENT, finished, line_of, style_of
from rankviz.runs.description import distinct_parts, look_of, method_label, without_common
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

START, STARTS = "start", "starts"
"""Column of a trace with the number of the start, and array of a record with the ends of all starts."""
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
        In the table of `convergence_data`.
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
    "active": Quantity("active pairs", "share of active pairs (or documents)", "active_share", log=False),
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
_OPTIONAL = (
    *("iteration", "objective", "gradient_norm", "decrement", "cg_iterations", "step", "seconds"),
    *("active_pairs", "active_share", "gap", "products"),
)
"""Columns that a trace may lack."""
_MOST_MARKERS = 40
"""Longer traces are drawn without markers, which would cover the line."""


def convergence_data(records: Sequence[RunRecord], references: Sequence[RunRecord] = ()) -> pd.DataFrame:
    """Return the traces of runs, one row per iteration.

    Columns are the trace's, at the start of the iteration (seconds: at its end). Further columns are method,
    label, short (the label without common parts), setting (number of the settings within the method), plain
    (no preconditioner), solver, way (number of the solver within the method), tol, cg_total and
    products_total (CG iterations and products by its end), reached_seconds, reached_cg and reached_products
    (when its point was reached), relative_decrement, duality (the duality gap over the objective), and
    gap = (objective − best)/|best|. best is the lowest objective of all runs and references with the same
    problem (NaN without references). NaN marks values that a trace does not have.
    """
    best: dict[object, float] = {}
    for record in [*records, *references] if references else []:
        best[record.spec.problem] = min(best.get(record.spec.problem, record.objective), record.objective)
    parts = distinct_parts([record.spec for record in records])
    settings = _settings([record.spec for record in records])
    frames = []
    for record, label, short, setting in zip(records, parts, without_common(parts), settings, strict=True):
        trace = _trace(record, best.get(record.spec.problem))
        frames.append(trace.assign(label=", ".join(label), short=", ".join(short), setting=setting))
    return pd.concat(frames, ignore_index=True)


def _trace(record: RunRecord, best: float | None) -> pd.DataFrame:
    trace = of_kept_start(record.trace)
    trace = trace.assign(**{name: math.nan for name in _OPTIONAL if name not in trace})
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


def of_kept_start(trace: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the start that is kept, which come last; all rows of a trace with one start."""
    if START not in trace:
        return trace
    own: pd.DataFrame = trace[trace[START] == trace[START].iloc[-1]].reset_index(drop=True)
    return own.assign(iteration=np.arange(len(own)))


def starts_sentence(record: RunRecord) -> str:
    """Name the objectives at the ends of several starts, the lowest first; "" for a run with one."""
    ends = record.solution.get(STARTS, np.zeros(0))
    if len(ends) < 2:
        return ""
    lowest, *others = (f"{end:.6g}" for end in np.sort(ends))
    return f"{len(ends)} starts end at the objectives {lowest} (kept), {', '.join(others)}"


def _way(spec: RunSpec) -> int:
    """Return the number of a run's solver within its method; 0 is the default."""
    setting = spec.declared().get("solver")
    others = [] if setting is None else [name for name in setting.options if name != setting.default]
    return 1 + others.index(spec.solver) if spec.get("solver") in others else 0


def _settings(specs: Sequence[RunSpec]) -> Iterator[int]:
    """Yield each spec's number within its look, ignoring the preconditioner."""
    known: dict[str, list[RunSpec]] = {}
    for spec in specs:
        alike, same = known.setdefault(look_of(spec), []), spec
        if "preconditioner" in spec:
            same = spec.but(preconditioner=PRECONDITIONER.default)
        if same not in alike:
            alike.append(same)
        yield alike.index(same)


def preconditioned(spec: RunSpec) -> bool:
    """Return True unless a run's preconditioner is switched off."""
    return "preconditioner" not in spec or PRECONDITIONERS[spec.preconditioner].used


def objective_figure(table: pd.DataFrame) -> go.Figure:
    """Draw the objective (left) and the relative Newton decrement (right, log) with the tolerance as a line.

    Draw only the objective if no trace has decrements.
    """
    if table["relative_decrement"].isna().all():
        fig = go.Figure()
        _add_runs(fig, table, "iteration", "objective")
        fig.update_xaxes(title_text="iteration", dtick=1 if len(table) <= 20 else None)
        fig.update_yaxes(title_text="objective")
        return finished(fig)
    titles = ("Objective", "Newton decrement / objective")
    fig = make_subplots(cols=2, subplot_titles=titles, horizontal_spacing=0.12)
    _add_runs(fig, table, "iteration", "objective", row=1, col=1)
    _add_runs(fig, table, "iteration", "relative_decrement", row=1, col=2, showlegend=False)
    _add_tolerance(fig, table, row=1, col=2)
    fig.update_xaxes(title_text="iteration", dtick=1 if len(table) <= 20 else None)
    fig.update_yaxes(title_text="½‖w‖² + C·loss", row=1, col=1)
    fig.update_yaxes(type="log", exponentformat="power", row=1, col=2)
    return finished(fig, legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0})


def with_quantity(table: pd.DataFrame, y: str, x: str) -> pd.DataFrame:
    """Return the rows of runs whose traces have a quantity (in `QUANTITIES`) and an axis (in `AXES`)."""
    known = table[QUANTITIES[y].column].notna() & table[AXES[x][1]].notna()
    return table[table["label"].isin(table.loc[known, "label"])]


def quantity_figure(table: pd.DataFrame, y: str, x: str) -> go.Figure:
    """Draw one quantity (in `QUANTITIES`) of all runs against an axis (in `AXES`).

    Against seconds or CG iterations, a line ends with the work that verifies the last point, at the same
    height. Gaps below `REFERENCE_TOL` are drawn at it. Runs without one of the two are left out.
    """
    quantity, (title, begins, ends) = QUANTITIES[y], AXES[x]
    fig, table = go.Figure(), with_quantity(table, y, x)
    if y == "cg":
        _add_runs(fig, table, ends, quantity.column)
    else:
        shown = table.assign(gap=table["gap"].clip(lower=REFERENCE_TOL)) if y == "gap" else table
        shown = shown[shown[quantity.column].notna()]
        shown = shown if x == "iteration" else _with_ends(shown, begins, ends)
        _add_runs(fig, shown, begins, quantity.column)
    if y == "decrement":
        _add_tolerance(fig, table)
    fig.update_xaxes(title_text=title)
    if x == "iteration" and len(table) and table["iteration"].max() <= 20:
        fig.update_xaxes(dtick=1)
    if quantity.log:
        decades = _decades(table[quantity.column])
        fig.update_yaxes(type="log", exponentformat="power", dtick=1 if decades <= 8 else 2)
    else:
        fig.update_yaxes(rangemode="tozero", **(IN_PERCENT if y == "active" else {"tickformat": ",d"}))
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
    more = (
        "<br>CG iterations %{customdata[1]}, step %{customdata[2]:.3g}, active %{customdata[4]:,} "
        "(%{customdata[3]:.1%})"
    )
    for label, rows in table.groupby("label", sort=False):
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
        tol = float(table["tol"].max())
        # log axes place annotations by exponent, lines by value
        text = {"annotation_text": "tolerance", "annotation_y": math.log10(tol)}
        fig.add_hline(y=tol, line=GUIDE, **text, **place)


UNITS = {
    "iteration": ("iterations", "iteration", ",.0f"),
    "products": ("products", "product", ",.0f"),
    "seconds": ("seconds", "second", ".2f"),
    "cg": ("CG iterations", "CG iteration", ",.0f"),
}
"""Units of axes: plural, singular, and number format."""


def effort_sentence(record: RunRecord, plain: RunRecord | None = None, counted: str = "cg") -> str:
    """Describe a run's effort on an axis (in `AXES`), with and without preconditioner, in one sentence.

    Count iterations if there are no CG iterations, or if the trace lacks the axis. A sentence on seconds says
    that they come from one run, because they vary.
    """
    own = _Effort.of(record, counted)
    if plain is None:
        return f"{own.start}{own.words} {own.verb} {own.aim}"
    other = _Effort.of(plain, counted)
    start = f"{own.start}{'w' if own.start else 'W'}ith the preconditioner"
    if own.converged and other.converged and own.unit == other.unit:
        return f"{start} {own.words} {own.verb} {own.aim}, without it {other.number}"
    return f"{start} {own.words} {own.verb} {own.aim}; without it {other.words} {other.verb} {other.aim}"


def race_sentence(table: pd.DataFrame, counted: str = "products", within: float = 1e-4) -> str:
    """Describe which runs come within a share of their own best objective, and their effort on an axis.

    Count products if some traces lack the axis, seconds if some lack products too.
    """
    runs = table["label"].nunique()
    known = (n for n in (counted, "products") if with_quantity(table, "gap", n)["label"].nunique() == runs)
    unit = next(known, "seconds")
    (_, column, _), (name, _, form) = AXES[unit], UNITS[unit]
    came, missed = [], []
    for _, rows in table.groupby("label", sort=False):
        run, near = str(rows["short"].iloc[0]), rows[column][rows["gap"] <= within]
        if len(near):
            came.append((float(near.iloc[0]), run))
        else:
            missed.append(run)
    share = small(within).removeprefix("1.0 × ")
    if not came:
        return f"No run comes within {share} of its own best objective"
    words = ", ".join(f"{label} after {effort:{form}}" for effort, label in sorted(came))
    never = [f"{', '.join(missed)} never"] if missed else []
    title = f"{name[0].upper()}{name[1:]}{' in this one run' * (unit == 'seconds')}"
    return "; ".join([f"{title} until within {share} of its own best objective: {words}", *never])


@dataclass(frozen=True)
class _Effort:
    """A run's effort on an axis, and its convergence."""

    unit: str
    number: str
    words: str
    singular: bool
    aim: str
    converged: bool

    @classmethod
    def of(cls, record: RunRecord, axis: str) -> _Effort:
        """Return a trace's effort; in iterations if the axis is missing or zero."""
        last, solver = convergence_data([record]).iloc[-1], record.spec.option("solver")
        amount, unit = float(last[AXES[axis][2]]), axis
        if math.isnan(amount) or (axis == "cg" and not amount):
            amount, unit = float(last["iteration"]), "iteration"
        many, one, form = UNITS[unit]
        if unit == "iteration":
            one = getattr(solver, "steps", one)
            many = "passes" if one == "pass" else f"{one}s"
        number = f"{amount:{form}}"
        aim = "the solver's own rule" if getattr(solver, "own_rule", False) else "the tolerance"
        singular = unit != "seconds" and number == "1"
        words = f"{number} {one if singular else many}"
        converged = record.status in [status.value for status in Status if status.converged]
        return cls(unit, number, words, singular, aim, converged)

    @property
    def start(self) -> str:
        """The words "In this one run, " before seconds."""
        return "In this one run, " if self.unit == "seconds" else ""

    @property
    def verb(self) -> str:
        """The verb of the outcome: "reach", "reaches" or "do not reach"."""
        if not self.converged:
            return "do not reach"
        return "reaches" if self.singular else "reach"


TRACE_TITLES = {"objective": "Objective", "gap": "Gap / |objective|"}
"""Drawn quantities, with their titles."""
ITERATION = "iteration"


def trace_data(record: RunRecord) -> pd.DataFrame:
    """Return columns method, label, iteration, and the quantities of `TRACE_TITLES` in the trace."""
    trace = record.trace
    found = {name: trace[name] for name in TRACE_TITLES if name in trace and trace[name].notna().any()}
    iteration = trace[ITERATION] if ITERATION in trace else pd.RangeIndex(len(trace)).to_series()
    table = pd.DataFrame({ITERATION: iteration.to_numpy()} | {k: v.to_numpy() for k, v in found.items()})
    return table.assign(method=look_of(record.spec), label=method_label(record.spec))


def trace_quantities(table: pd.DataFrame) -> list[str]:
    """Return the quantities in a table of `trace_data`."""
    return [name for name in TRACE_TITLES if name in table]


def trace_figure(table: pd.DataFrame) -> go.Figure:
    """Draw a panel per quantity; gaps, which shrink by factors, on a logarithmic axis."""
    names = trace_quantities(table)
    fig = make_subplots(cols=len(names), subplot_titles=[TRACE_TITLES[name] for name in names])
    label, method = str(table["label"].iloc[0]), str(table["method"].iloc[0])
    for column, name in enumerate(names, start=1):
        fig.add_scatter(
            x=table[ITERATION],
            y=table[name],
            name=label,
            mode="lines+markers",
            showlegend=column == 1,
            hovertemplate=f"{label}, iteration %{{x}}: %{{y:.6g}}<extra></extra>",
            row=1,
            col=column,
            **line_of(method),
        )
        if name == "gap" and (table[name] > 0).any():
            fig.update_yaxes(type="log", exponentformat="power", dtick=1, col=column)
    fig.update_xaxes(title_text=ITERATION)
    return finished(fig, legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0})
