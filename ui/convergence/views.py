"""The views of the Convergence page: which runs, the figure, and the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import small
from rankviz.experiments.description import describe
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots import convergence as plot
from rankviz.plots.convergence import AXES, QUANTITIES
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import SOLVERS, check_solver
from ui.shared import pins
from ui.shared.jobs import run_or_wait
from ui.shared.offers import C_EXPONENTS
from ui.shared.show import bold_sentence, show_figure

AXIS_NAMES = {
    "iteration": "iterations",
    "products": "products with the features",
    "seconds": "seconds",
    "cg": "CG iterations",
}
MOST_CS, MOST_OTHERS, MOST_RUNS = 4, 3, 12
LEAST_GAP = small(plot.REFERENCE_TOL).removeprefix("1.0 × ")  # 10⁻¹⁰
PRODUCTS = (
    "A product is one with Φ and then Φᵀ, or one with the kernel. A Newton step takes one for each CG "
    "iteration and one more for line search and gradient; L-BFGS takes one for each gradient; a pass of SGD "
    "takes one by query and two by pair. Forming Hessians and preconditioners is not counted"
)


@dataclass(frozen=True)
class Choice:
    """The choice made by the page's own controls: quantity, axis, and specs to draw, the sidebar's first."""

    y: str
    x: str
    specs: tuple[RunSpec, ...]

    @property
    def compares(self) -> bool:
        """Whether it sets losses or solvers beside each other."""
        return len({(spec.loss, spec.solver) for spec in self.specs}) > 1


def controls(spec: RunSpec) -> Choice:
    """The page's controls: what is drawn, against what, and for which runs."""
    pinned = pins.pinned(spec)
    y, x = _axes()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    losses = _others(
        row, "Further losses", {k: v.label for k, v in LOSSES.items() if k != spec.loss}, "losses"
    )
    solvers = {name: solver.label for name, solver in SOLVERS.items() if name != spec.solver}
    chosen = _others(row, "Further solvers", solvers, "solvers")
    further = row.multiselect(
        "Further C",
        [f"2^{c}" for c in range(C_EXPONENTS[0], C_EXPONENTS[1] + 1)],
        key="cs",
        bind="query-params",
        max_selections=MOST_CS,
        placeholder="Add values of C",
        width=260,
        help=f"Up to {MOST_CS} values beside the sidebar's. Each has an objective of its own, and its gap is "
        "measured from its own best.",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        both = st.toggle(
            "With and without preconditioner",
            True,
            key="plain",
            bind="query-params",
            help="Without it, the Newton systems are solved by plain conjugate gradients. The other solvers "
            "have none.",
        )
        pins.buttons(spec)
    Cs = [spec.C, *(2.0 ** int(c[2:]) for c in further)]
    return Choice(y, x, _specs(_product(spec, losses, chosen, Cs), both, pinned))


def _axes() -> tuple[str, str]:
    """Choice of the quantity that is drawn, and of the axis."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    y = row.selectbox(
        "Quantity",
        list(QUANTITIES),
        format_func=lambda name: QUANTITIES[name].name.capitalize(),
        key="show",
        bind="query-params",
        width=260,
        help="The best objective is the lowest that any run has found, one of them with tolerance 10⁻¹⁰. The "
        "Newton decrement is the drop that the quadratic model promises. The duality gap is a proved upper "
        "bound on the distance of the objective from its optimum. A pair is active where the loss is "
        "curved: for the squared hinge, margins below 1.",
    )
    x = row.selectbox(
        "Against",
        [name for name in AXES if name != y],
        format_func=AXIS_NAMES.__getitem__,
        key="against",
        bind="query-params",
        width=230,
        help=f"Counted from the start of the solver. {PRODUCTS}.",
    )
    return y, x


def _others(row: DeltaGenerator, label: str, options: dict[str, str], key: str) -> list[str]:
    """Names chosen beside the sidebar's."""
    kept = [name for name in st.session_state.get(key, []) if name in options]
    if key in st.session_state and kept != st.session_state[key]:
        st.session_state[key] = kept
    found: list[str] = row.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        bind="query-params",
        max_selections=MOST_OTHERS,
        placeholder="Add some",
        width=260,
        help=f"Up to {MOST_OTHERS} beside the sidebar's, each combined with every other choice of this row. "
        "Combinations that cannot be trained are left out.",
    )
    return found


def _product(spec: RunSpec, losses: list[str], solvers: list[str], Cs: list[float]) -> list[RunSpec]:
    """The sidebar's spec with every loss, solver and C that go together, itself first."""
    chosen = [
        spec.but(loss=loss, solver=solver, C=C)
        for loss, solver, C in product([spec.loss, *losses], [spec.solver, *solvers], Cs)
    ]
    refused = [one for one in chosen if refusal(one)]
    if refused:
        told = dict.fromkeys(f"{LOSSES[one.loss].label} with {SOLVERS[one.solver].label}" for one in refused)
        st.caption(f"Left out, because the solver needs a derivative that the loss lacks: {', '.join(told)}.")
    return [one for one in chosen if one not in refused]


def refusal(spec: RunSpec) -> str:
    """Why a solver cannot train a loss, "" where it can."""
    try:
        check_solver(spec.solver, spec.loss)
    except ValueError as error:
        return str(error)
    return ""


def _specs(chosen: list[RunSpec], both: bool, pinned: list[RunSpec]) -> tuple[RunSpec, ...]:
    found: list[RunSpec] = []
    for one in chosen:
        found.append(one)
        if both and one.solver == "newton":
            found.append(one.but(preconditioner="none"))
    # a run that starts near its end would hide the way there
    specs = list(dict.fromkeys(one.but(start="zero") for one in [*found, *pinned]))
    if len(specs) > MOST_RUNS:
        st.warning(f"These are {len(specs)} runs; the first {MOST_RUNS} are drawn.")
    return tuple(specs[:MOST_RUNS])


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
        st.info(f"Training ended where it began, so there is no curve: {record.status}.")
        return
    show_figure(
        plot.quantity_figure(table, choice.y, choice.x),
        table,
        key="convergence-runs",
        alt=f"{QUANTITIES[choice.y].name.capitalize()} of {len(records)} runs against "
        f"{AXIS_NAMES[choice.x]}.",
        caption=_caption(record, choice),
    )
    plain = next((r for r in records if r.spec == record.spec.but(preconditioner="none")), None)
    plain = plain if record.spec.solver == "newton" else None
    compared = choice.compares and choice.y == "gap"
    st.markdown(bold_sentence(plot.race(table) if compared else plot.reading(record, plain)))


def _caption(record: RunRecord, choice: Choice) -> str:
    words = [f"{describe(record.spec, 'train')}, {record.n_pairs:,} preference pairs"]
    if len({plot.objective_key(spec) for spec in choice.specs}) > 1:
        words.append("Each loss and each C has an objective of its own, and these do not compare")
    if choice.y == "gap":
        words.append(
            "Each gap is to the lowest value that any run has found of the same objective, one of them with "
            f"tolerance {LEAST_GAP}. Gaps below {LEAST_GAP} are drawn as if they were that large"
        )
    if choice.x == "products":
        words.append(PRODUCTS)
    if choice.x == "seconds":
        words.append("Seconds of one run on this machine, features and pairs not counted")
    if choice.x != "iteration" and choice.y != "cg":
        words.append("Where a curve ends level, the work went into proving its last point good enough")
    return ". ".join(words) + "."


def summary(records: list[RunRecord], table: pd.DataFrame) -> None:
    """One line per run: how it ended and what it took."""
    labels = table.groupby("label", sort=False)
    last, steps = labels.last(), labels["step"].agg(lambda step: int((step > 0).sum()))
    shown = pd.DataFrame(
        {
            "run": last.index,
            "steps": steps.to_numpy(),
            "CG iterations": last["cg_total"].to_numpy(),
            "products": last["products_total"].to_numpy(),
            "seconds": last["seconds"].round(3).to_numpy(),
            "objective": [record.objective for record in records],
            "gap to the best": [_scientific(gap) for gap in last["gap"]],
            "duality gap": [_scientific(gap) for gap in last["duality"]],
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
    columns = ["label", "iteration", "objective", "gap", "duality", "gradient_norm", "decrement", "smoothing"]
    columns += ["cg_iterations", "products", "step", "active_pairs", "active_share", "seconds"]
    st.dataframe(table[[name for name in columns if name in table]], hide_index=True)
    st.caption(
        "A row is the point where its iteration begins; its CG iterations, products and seconds include that "
        "iteration. smoothing: the width over which a hinge is smoothed there, 0 for a loss trained as it is."
    )
