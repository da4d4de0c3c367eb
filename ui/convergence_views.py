"""The views of the Convergence page: which runs, the figure, and the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots import convergence as plot
from rankviz.plots.convergence import AXES, QUANTITIES
from rankviz.plots.style import describe, small
from ui import pins
from ui.jobs import run_or_wait
from ui.settings import C_EXPONENTS
from ui.show import bold_sentence, show_figure

AXIS_NAMES = {"iteration": "Newton iterations", "seconds": "seconds", "cg": "CG iterations"}
MOST_CS = 4
LEAST_GAP = small(plot.REFERENCE_TOL).removeprefix("1.0 × ")  # 10⁻¹⁰


@dataclass(frozen=True)
class Choice:
    """What the page's own controls say: quantity, axis, and the specs to draw, the sidebar's first."""

    y: str
    x: str
    specs: tuple[RunSpec, ...]


def controls(spec: RunSpec) -> Choice:
    """The page's controls: what is drawn, against what, and for which runs."""
    pinned = pins.pinned(spec)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    y = row.selectbox(
        "Quantity",
        list(QUANTITIES),
        format_func=lambda name: QUANTITIES[name].name.capitalize(),
        key="show",
        bind="query-params",
        width=260,
        help="The best objective is that of a run with tolerance 10⁻¹⁰. The Newton decrement is the drop "
        "that the quadratic model promises. A pair is active while its margin is below 1.",
    )
    axes = [name for name in AXES if name != y]
    x = row.selectbox(
        "Against",
        axes,
        format_func=AXIS_NAMES.__getitem__,
        key="against",
        bind="query-params",
        width=200,
        help="Seconds and conjugate gradient (CG) iterations count from the start of the solver.",
    )
    further = row.multiselect(
        "Further C",
        [f"2^{c}" for c in range(C_EXPONENTS[0], C_EXPONENTS[1] + 1)],
        key="cs",
        bind="query-params",
        max_selections=MOST_CS,
        placeholder="Add values of C",
        width=300,
        help=f"Up to {MOST_CS} values beside the sidebar's. Each has an objective of its own, and its gap is "
        "measured from its own best.",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        both = st.toggle(
            "With and without preconditioner",
            True,
            key="plain",
            bind="query-params",
            help="Without it, the Newton systems are solved by plain conjugate gradients.",
        )
        pins.buttons(spec)
    return Choice(y, x, _specs(spec, [2.0 ** int(c[2:]) for c in further], both, pinned))


def _specs(spec: RunSpec, further: list[float], both: bool, pinned: list[RunSpec]) -> tuple[RunSpec, ...]:
    chosen = [spec, *(replace(spec, C=C) for C in further)]
    plain = [replace(one, preconditioner="none") for one in chosen] if both else []
    alternating = [one for pair in zip(chosen, plain, strict=True) for one in pair] if both else chosen
    # a run that starts near its end would hide the way there
    return tuple(dict.fromkeys(replace(one, start="zero") for one in [*alternating, *pinned]))


def runs(spec: RunSpec, choice: Choice) -> tuple[list[RunRecord], pd.DataFrame]:
    """Records of the chosen runs and their table; the gap needs one more run for each objective."""
    keys = dict.fromkeys(plot.objective_key(one) for one in choice.specs) if choice.y == "gap" else ()
    found = run_or_wait([*choice.specs, *keys], title=f"Convergence, {spec.dataset}")
    records, references = found[: len(choice.specs)], found[len(choice.specs) :]
    return records, plot.data(records, references)


def headline(records: list[RunRecord], table: pd.DataFrame, choice: Choice) -> None:
    """The chosen quantity of all runs, and what the sidebar's run took with and without preconditioner."""
    record = records[0]
    if record.n_pairs == 0:
        st.info("No query of the training part has two documents of different grades: nothing to minimise.")
        st.stop()
    if not (table["step"] > 0).any():
        st.info("Training ended where it began: no step makes the objective smaller, so there is no curve.")
        return
    show_figure(
        plot.quantity_figure(table, choice.y, choice.x),
        table,
        key="convergence-runs",
        alt=f"{QUANTITIES[choice.y].name.capitalize()} of {len(records)} runs against "
        f"{AXIS_NAMES[choice.x]}.",
        caption=_caption(record, choice),
    )
    plain = next((r for r in records if r.spec == replace(record.spec, preconditioner="none")), None)
    st.markdown(bold_sentence(plot.reading(record, plain)))


def _caption(record: RunRecord, choice: Choice) -> str:
    words = [f"{describe(record.spec, 'train')}, {record.n_pairs:,} preference pairs"]
    if choice.y == "gap":
        words.append(
            f"The best objective is the lowest of all runs of the same objective, one of them with tolerance "
            f"{LEAST_GAP}. Gaps below {LEAST_GAP} of the best are drawn at {LEAST_GAP}"
        )
    if choice.x == "seconds":
        words.append("Seconds of one run on this machine, features and pairs not counted")
    if choice.x != "iteration" and choice.y != "cg":
        words.append("A level end is the work that proves the last point good enough")
    return ". ".join(words) + "."


def summary(records: list[RunRecord], table: pd.DataFrame) -> None:
    """One line per run: how it ended and what it took."""
    labels = table.groupby("label", sort=False)
    last, steps = labels.last(), labels["step"].agg(lambda step: int((step > 0).sum()))
    shown = pd.DataFrame(
        {
            "run": last.index,
            "Newton steps": steps.to_numpy(),
            "CG iterations": last["cg_total"].to_numpy(),
            "seconds": last["seconds"].round(3).to_numpy(),
            "objective": [record.objective for record in records],
            "gap to the best": [_scientific(gap) for gap in last["gap"]],
            "how it ended": [record.status for record in records],
        }
    )
    st.dataframe(shown, hide_index=True, height="content")


def _scientific(gap: float) -> str:
    if math.isnan(gap):
        return "not computed"
    return small(gap) if gap > plot.REFERENCE_TOL else f"≤ {LEAST_GAP}"


def iterations(table: pd.DataFrame) -> None:
    """Every row of every trace."""
    columns = ["label", "iteration", "objective", "gap", "gradient_norm", "decrement", "cg_iterations"]
    columns += ["step", "active_pairs", "active_share", "seconds"]
    st.dataframe(table[columns], hide_index=True)
    st.caption(
        "A row is the point where its iteration begins; its CG iterations and seconds include that iteration."
    )
