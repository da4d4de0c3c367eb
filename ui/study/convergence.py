"""The views of the Convergence page: choice of runs, figure, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import small
from rankviz.learning.solvers import PRECONDITIONER, PRECONDITIONERS, SolverChoice
from rankviz.plots import convergence as plot
from rankviz.plots import rounds as rounds_plot
from rankviz.plots.convergence import AXES, QUANTITIES, REFERENCE_TOL, effort_sentence, race_sentence
from rankviz.runs.description import in_a_sentence
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec
from ui.controls.models import pin_buttons, pinned, reason
from ui.controls.widgets import C_EXPONENTS, Bound
from ui.model.train import rounds as draw_rounds
from ui.shell.errors import end_page
from ui.shell.figures import capital, show_answer, show_figure, show_table
from ui.shell.texts import describe
from ui.study import convergence_words as words
from ui.work.folds import fold_of
from ui.work.jobs import WAITING, predicted, run_available
from ui.work.runs import take_turns

AXIS_NAMES = {
    "iteration": "iterations",
    "products": "products with the features",
    "seconds": "seconds",
    "cg": "CG iterations",
}
MOST_CS, MOST_OTHERS, MOST_RUNS = 4, 3, 12
NEEDED = ("trace", "objective")
"""Parts of a model that this page draws."""
PLAIN = next(name for name, kind in PRECONDITIONERS.items() if not kind.used)
REPEATS, LONGEST = 7, 60.0
"""Trainings of each run, and the largest predicted seconds of all together."""
_MEASURED = "measured-seconds"


def from_zero(spec: RunSpec) -> RunSpec:
    """Return the same run from zero, so that its trace is complete."""
    return spec.but(start="zero") if "start" in spec else spec


def plain_of(spec: RunSpec) -> RunSpec | None:
    """Return the same run without its preconditioner; None if it has none."""
    reads = spec.declared().get(PRECONDITIONER.name) is PRECONDITIONER
    return spec.but(preconditioner=PLAIN) if reads and spec.preconditioner != PLAIN else None


def combinations(
    spec: RunSpec, losses: list[str], solvers: list[str], Cs: list[float]
) -> tuple[list[RunSpec], list[str]]:
    """Return the sidebar's spec with every further loss, solver and C, itself first; and those left out."""
    further = {"loss": losses, "solver": solvers, "C": Cs}
    names = [name for name in further if name in spec]
    chosen = [
        spec.but(**dict(zip(names, values, strict=True)))
        for values in product(*([spec.get(name), *further[name]] for name in names))
    ]
    left_out = dict.fromkeys(filter(None, map(refusal, chosen)))
    return [one for one in chosen if not refusal(one)], list(left_out)


def refusal(spec: RunSpec) -> str:
    """Explain why a run's choices cannot be combined; "" if they can."""
    try:
        spec.kind.check(spec.values)
    except SettingError as error:
        loss, solver = spec.option("loss"), spec.option("solver")
        lacking = solver.lacks(loss) if isinstance(solver, SolverChoice) and loss is not None else []
        if not lacking:
            return str(error)
        return f"{loss.label} with {solver.label}, which needs a loss with {' and '.join(lacking)}"
    return ""


@dataclass(frozen=True)
class Choice:
    """Values of the page's controls: quantity, axis, and specs to draw, the sidebar's first."""

    y: str
    x: str
    specs: tuple[RunSpec, ...]

    @property
    def compares(self) -> bool:
        """True if it compares losses or solvers."""
        return len({(spec.method, spec.get("loss"), spec.get("solver")) for spec in self.specs}) > 1


def controls(spec: RunSpec) -> Choice:
    """Draw the page's controls: quantity, axis, and runs."""
    pins = _traced(list(pinned(spec).values()))
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"), words.HELP)
    quantities = {name: quantity.name[0].upper() + quantity.name[1:] for name, quantity in QUANTITIES.items()}
    y = row.menu("show", "Quantity", quantities, width=260)
    axis = row.at(row.place.container(width=230))
    more = row.at(row.place.expander("Compare with", type="compact"))
    losses = _others(more, "Further losses", spec, "loss", "losses")
    solvers = _others(more, "Further solvers", spec, "solver", "solvers")
    chosen, left_out = combinations(spec, losses, solvers, _further_C(more, spec))
    none = all(plain_of(one) is None for one in chosen)
    both = more.switch("plain", "With and without preconditioner", True, disabled=none)
    with row.place:
        pin_buttons(from_zero(spec))  # the run that this page trains
    if left_out:
        st.caption(words.CAPTIONS["left out"].format(names="; ".join(left_out)))
    specs = _specs(chosen, both, pins)
    return Choice(y, _axis(axis, y, specs), specs)


def _traced(pinned: list[RunSpec]) -> list[RunSpec]:
    """Return the pins that can be drawn here; name the others."""
    lacking = [one for one in pinned if one.offers.lacks(*NEEDED)]
    if lacking:
        reasons = dict.fromkeys(reason(one, one.offers.lacks(*NEEDED)) for one in lacking)
        st.caption(words.CAPTIONS["pins"].format(reasons=" ".join(reasons)))
    return [one for one in pinned if one not in lacking]


def _further_C(more: Bound, spec: RunSpec) -> list[float]:
    """Draw a menu of further values of C, if the model has a C; return the chosen ones."""
    if "C" not in spec:
        return []
    chosen = more.several(
        "cs",
        "Further C",
        [f"2^{c}" for c in range(C_EXPONENTS[0], C_EXPONENTS[1] + 1)],
        [],
        max_selections=MOST_CS,
        placeholder="Add values of C",
        width=260,
        help=words.HELP["cs"].format(most=MOST_CS),
    )
    return [2.0 ** int(c[2:]) for c in chosen]


def _axis(place: Bound, y: str, specs: Sequence[RunSpec]) -> str:
    """Draw the menu of axes; return the chosen one.

    The default is CG iterations, which preconditioners save, if every run has them. If some solvers have
    none, it is products, which cost the same for all.
    """
    solvers = {spec.option("solver") for spec in specs}
    have_cg = all(getattr(solver, "newton", False) for solver in solvers)
    axes = {name: AXIS_NAMES[name] for name in AXES if name != y and (have_cg or name != "cg")}
    several = len(solvers) > 1 and all(isinstance(solver, SolverChoice) for solver in solvers)
    first = "cg" if "cg" in axes else "products" if several else None
    return str(place.menu("against", "Against", axes, first))


def _others(more: Bound, label: str, spec: RunSpec, name: str, key: str) -> list[str]:
    """Return names chosen besides the sidebar's value of a setting; empty if the model has no such choice."""
    setting = spec.declared().get(name)
    offered = {} if setting is None else setting.options
    options = {option: kind.label for option, kind in offered.items() if option != spec.get(name)}
    if key in st.session_state:
        st.session_state[key] = [one for one in st.session_state[key] if one in options]
    if not options:
        return []
    return more.several(
        key,
        label,
        options,
        [],
        max_selections=MOST_OTHERS,
        placeholder="Add some",
        width=260,
        help=words.HELP["others"].format(most=MOST_OTHERS),
    )


def _specs(chosen: list[RunSpec], both: bool, pinned: list[RunSpec]) -> tuple[RunSpec, ...]:
    found: list[RunSpec] = []
    for one in chosen:
        plain = plain_of(one) if both else None
        found += [one] if plain is None else [one, plain]
    # a run that starts near its end would hide its path
    specs = list(dict.fromkeys(map(from_zero, [*found, *pinned])))
    if len(specs) > MOST_RUNS:
        st.warning(words.INFOS["runs"].format(most=MOST_RUNS, n=len(specs)))
    return tuple(specs[:MOST_RUNS])


def runs(spec: RunSpec, choice: Choice) -> tuple[list[RunRecord], pd.DataFrame]:
    """Return the records of the chosen runs, as far as they exist, and their table.

    The gap needs one more run per objective; runs of the same objective wait for it.
    """
    nearest = [from_zero(one.reference(plot.REFERENCE_TOL)) for one in choice.specs]
    keys = dict.fromkeys(nearest) if choice.y == "gap" else ()
    found = run_available(
        list(dict.fromkeys([*choice.specs, *keys])),
        title=f"Convergence, {spec.dataset}",
        together=(lambda one: one.problem) if keys else (lambda one: one),
    )
    if choice.specs[0] not in found:
        text = in_a_sentence(choice.specs[0])
        st.info(words.INFOS["current"].format(model=capital(text)), icon=WAITING)
    records = [found[one] for one in choice.specs if one in found]
    return records, plot.convergence_data(records, [found[one] for one in keys if one in found])


def rounds(spec: RunSpec) -> None:
    """Draw NDCG@10 by round of the current model, and of pins that grow by rounds too."""
    with st.container(horizontal=True):
        pin_buttons(spec)
    others = [one for one in pinned(spec).values() if one.offers.rounds and one != spec]
    found = run_available([spec, *others], title=f"Convergence, {spec.dataset}", together=lambda one: one)
    if spec not in found:
        st.info(words.INFOS["current"].format(model=capital(in_a_sentence(spec))), icon=WAITING)
        return
    said = "no objective" if spec.offers.importance else "reweighted"  # trees have importance
    records = [found[spec], *(found[one] for one in others if one in found)]
    draw_rounds(records, f"{words.CAPTIONS[said]} {describe(spec, 'train')}.")
    _objective_of_rounds(records)


def _objective_of_rounds(records: list[RunRecord]) -> None:
    """Draw what the rounds of the first model minimise; or say that it is no one function."""
    spec, (_, what) = records[0].spec, rounds_plot.objective_of(records[0])
    if not what:
        st.caption(words.MINIMISES.format(model=capital(spec.kind.label), what=spec.kind.minimises))
        return
    table = rounds_plot.lowered_data(records)
    first, last = table[what].iloc[0], table.loc[table["kept"], what].iloc[0]
    show_figure(
        rounds_plot.rounds_figure(table, what),
        table,
        answer=words.OBJECTIVE.format(what=what, first=small(first), last=small(last)),
        key="rounds-objective",
        caption=f"{words.CAPTIONS['own objective']} {describe(spec, 'train')}.",
    )


def headline(records: list[RunRecord], table: pd.DataFrame, choice: Choice) -> None:
    """Draw the chosen quantity of all runs, and compare the sidebar's run with and without preconditioner."""
    record = records[0]
    if record.n_pairs == 0 and record.spec.offers.pair_objective:
        st.info(words.INFOS["no pairs"])
        end_page()
    moved = table["step"].where(table["step"].notna(), table["iteration"]) > 0
    if not moved.any():
        st.info(words.INFOS["no curve"].format(status=record.status))
        return
    wanted = plain_of(record.spec)
    plain = next((r for r in records if r.spec == wanted), None)
    counted = "cg" if choice.y == "cg" else choice.x
    compared = choice.compares and choice.y == "gap"
    answer = race_sentence(table, counted) if compared else effort_sentence(record, plain, counted)
    drawn = plot.with_quantity(table, choice.y, choice.x)
    if drawn.empty:
        st.info(not_in_trace(table, choice.y, choice.x), icon=":material/info:")
        show_answer(answer)
    else:
        show_figure(
            plot.quantity_figure(table, choice.y, choice.x),
            table,
            answer=answer,
            key="convergence-runs",
            caption=_caption(record, choice, set(table["label"]) - set(drawn["label"])),
        )


def not_in_trace(table: pd.DataFrame, y: str, x: str) -> str:
    """Say that no trace has a quantity or an axis, and which ones they have."""
    known = [name for name in QUANTITIES if name == "gap" or table[QUANTITIES[name].column].notna().any()]
    axes = [AXIS_NAMES[name] for name in AXES if table[AXES[name][1]].notna().any()]
    names = [QUANTITIES[name].name for name in known]
    asked = [QUANTITIES[y].name] if y not in known else []
    asked += [AXIS_NAMES[x]] if AXIS_NAMES[x] not in axes else []
    return words.INFOS["no trace"].format(
        asked=" and no ".join(asked), names=", ".join(names), axes=" or ".join(axes)
    )


def _caption(record: RunRecord, choice: Choice, missing: set[str]) -> str:
    named = "pairs" if record.spec.offers.pair_objective else "documents"
    parts = [words.CAPTIONS[named].format(about=describe(record.spec, "train"), pairs=record.n_pairs)]
    parts += filter(None, [plot.starts_sentence(record)])
    if len({spec.problem for spec in choice.specs}) > 1:
        parts.append(words.CAPTIONS["objectives"])
    if choice.y == "gap":
        parts.append(words.CAPTIONS["gap"])
    if choice.x == "products":
        parts.append(words.PRODUCTS)
    if choice.x == "seconds":
        parts.append(words.CAPTIONS["seconds"])
    if choice.x != "iteration" and choice.y != "cg":
        parts.append(words.CAPTIONS["level"])
    if missing:
        parts.append(words.CAPTIONS["missing"].format(missing="; ".join(sorted(missing))))
    return ". ".join(parts) + "."


def summary(records: list[RunRecord], table: pd.DataFrame) -> None:
    """Draw one row per run: its costs and its final status."""
    labels = table.groupby("label", sort=False)
    last, steps = labels.last(), labels["step"].agg(lambda step: int((step > 0).sum()))
    steps = steps.where(last["step"].notna(), last["iteration"])
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
        }
    )
    show_table(shown.dropna(axis=1, how="all"), hide_index=True, height="content")
    st.caption(_ended(dict(zip(last.index, (record.status for record in records), strict=True))))
    measured(records, list(last.index))


def _ended(statuses: Mapping[str, str]) -> str:
    """Describe how runs ended, by their labels: these sentences are too long for a column."""
    runs = {
        status: [label for label, own in statuses.items() if own == status] for status in statuses.values()
    }
    return words.ended(runs)


def _scientific(gap: float) -> str:
    if math.isnan(gap):
        return "not computed"
    return small(gap) if gap > REFERENCE_TOL else f"≤ {words.LEAST_GAP}"


def iterations(table: pd.DataFrame) -> None:
    """Draw every row of every trace."""
    columns = ["label", "iteration", "objective", "gap", "duality", "gradient_norm", "decrement", "smoothing"]
    columns += ["cg_iterations", "products", "step", "active_pairs", "active_share", "seconds"]
    known = [name for name in columns if name in table]
    if table["step"].isna().all():
        known = [name for name in known if name == "gap" or table[name].notna().any()]
        show_table(table[known], hide_index=True)
        st.caption(words.CAPTIONS["point"])
        return
    show_table(table[known], hide_index=True)
    st.caption(words.CAPTIONS["begin"])


def measured(records: Sequence[RunRecord], labels: Sequence[str]) -> None:
    """Draw a button that trains every run several times; then median and spread of the seconds."""
    specs = tuple(record.spec for record in records)
    cost = REPEATS * sum(predicted(spec).seconds for spec in specs)
    kept = st.session_state.get(_MEASURED, {})
    if st.button(
        f"Measure the seconds ({REPEATS} trainings)",
        icon=":material/timer:",
        disabled=cost > LONGEST,
        help=words.HELP["measure"].format(repeats=REPEATS),
    ):
        kept = st.session_state[_MEASURED] = {specs: _seconds(specs)}
    if cost > LONGEST:
        st.caption(words.CAPTIONS["long"].format(seconds=cost, most=LONGEST))
    if specs in kept:
        st.markdown(f"**Seconds of {REPEATS} trainings**")
        show_table(spread(labels, kept[specs]), hide_index=True)


def _seconds(specs: Sequence[RunSpec]) -> list[list[float]]:
    """Return the seconds of each run, in turns, so that a slow machine affects all of them."""
    found: list[list[float]] = [[] for _ in specs]
    line, total = st.empty(), REPEATS * len(specs)
    for done in range(total):
        place = done % len(specs)
        line.progress(done / total, f"Training {done + 1} of {total}")
        with take_turns(line):
            record = execute(specs[place], fold=fold_of(specs[place]))
        found[place].append(training_seconds(record))
    line.empty()
    return found


def spread(labels: Sequence[str], seconds: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return median, minimum and maximum of the seconds of each run."""
    return pd.DataFrame(
        [
            {
                "run": label,
                "median s": round(float(np.median(each)), 4),
                "least s": round(min(each), 4),
                "most s": round(max(each), 4),
            }
            for label, each in zip(labels, seconds, strict=True)
        ]
    )
