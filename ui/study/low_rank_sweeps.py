"""Metrics over factors, nuclear and coupling, as background sweeps on the Low rank page (Tables 7, 8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd
import streamlit as st

from rankviz.common.numbers import counted
from rankviz.common.settings import Setting
from rankviz.models.low_rank_settings import DUAL_SOLVER, FACTOR_SOLVER
from rankviz.plots import low_rank_models
from rankviz.plots import low_rank_models as curves_plot
from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import Bound, part_shown
from ui.shell.figures import Figures, capital, folded, sentence, show_figure, show_table
from ui.shell.texts import describe
from ui.study import low_rank_models as models
from ui.study import low_rank_models_words as words
from ui.study import low_rank_words as texts
from ui.study.low_rank_computations import Shown
from ui.study.low_rank_models import Records, Settings
from ui.work.metrics import measured, offered

FIGURES = Figures(captions=texts.CAPTIONS)

SWEEPS = {"factors": "factorised: number of factors", "weights": "regularised: nuclear, coupling"}
FACTORS = (1, 2, 3, 5, 10, 20)
NUCLEAR = (0.01, 0.1, 1.0, 10.0, 100.0)
COUPLING = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
SEEDS = 3
SWEEP_KEY, SEEDS_KEY = "sweep", "fseeds"
PRINTED = pd.DataFrame(
    {
        "MAP": [0.3472, 0.3475, 0.3486, 0.3481, 0.3476],
        "NDCG@1": [0.3939, 0.4242, 0.4242, 0.4242, 0.4242],
        "NDCG@3": [0.4250, 0.4236, 0.4127, 0.4127, 0.4127],
        "NDCG@5": [0.3962, 0.3877, 0.3860, 0.3801, 0.3877],
    },
    index=[1, 3, 5, 10, 20],
)
"""xu2019 Table 7, by K: OHSUMED fold 1."""
AXES = {"iteration": "iterations", "seconds": "seconds"}


def sweep_specs(spec: RunSpec) -> list[RunSpec]:
    """Return the runs of the chosen sweep, and the plain model for comparison."""
    return models.affordable([*_plain(spec), *_sweep_wanted(spec)])


def _plain(spec: RunSpec) -> list[RunSpec]:
    """Return the plain model with the hinge, unless it is the page's own run."""
    plain = models.plain_hinge(spec, models.settings(spec).C)
    return [] if plain is None else [plain]


def _sweep_wanted(spec: RunSpec) -> list[RunSpec]:
    """Return the low-rank models of the sweep."""
    state = st.session_state
    if state.get(SWEEP_KEY, "factors") == "weights":
        convex = models.regularized(spec, models.settings(spec))
        return [
            convex.but(nuclear=nuclear, coupling=weight) for nuclear, weight in product(NUCLEAR, COUPLING)
        ]
    first = models.factorized(spec, models.settings(spec))
    seeds = range(first.seed, first.seed + int(state.get(SEEDS_KEY, SEEDS)))
    return [first.but(seed=seed, factors=K) for seed in seeds for K in FACTORS]


def sensitivity(what: Shown, others: Records) -> None:
    """Draw the figure of the chosen sweep, from the existing runs."""
    sweep, metric, part = _controls(what.spec)
    own = models.bare(what.spec)
    beside, wanted = _plain(own), _sweep_wanted(own)
    st.markdown((words.all_the_hinge if beside else words.trained_losses)(what.spec, models.settings(own).C))
    records = models.found([*beside, *wanted], others)
    records = records if beside else [what.record, *records]
    if metric != low_rank_models.OBJECTIVE:
        records = [record and measured(record, metric) for record in records]
    plain, there = records[0], [record for record in records[1:] if record is not None]
    if there:
        table = low_rank_models.sensitivity_data(there, part, metric)
        count = "" if len(there) == len(wanted) else f"{len(there)} of {len(wanted)} runs so far. "
        draw = _factors if sweep == "factors" else _weights
        draw(plain, there, table, (part, metric, count))
        _numbers(there, table, metric)
    if plain is None or len(there) < len(wanted):
        models.wait("This figure" if not there else "The rest")


def _controls(spec: RunSpec) -> tuple[str, str, str]:
    """Draw the menus; return sweep, metric and part (`sweep_specs` reads seeds and C)."""
    place = st.container(horizontal=True, vertical_alignment="bottom")
    row = Bound(place, texts.HELP)
    sweep = row.buttons(SWEEP_KEY, "Sweep over", SWEEPS)
    metrics = offered() if sweep == "weights" else (*offered(), low_rank_models.OBJECTIVE)
    metric = row.menu("sweepmetric", "Metric", metrics, "MAP", width=150)
    with place.container(width=models.WIDTH):
        models.control_of_C()
    row.slider(SEEDS_KEY, "Seeds", 1, 5, SEEDS, disabled=sweep == "weights", width=150)
    with place:
        return sweep, metric, part_shown(spec)


def _factors(
    plain: RunRecord | None,
    records: Sequence[RunRecord],
    table: pd.DataFrame,
    about: tuple[str, str, str],
) -> None:
    (part, metric, count), spec = about, records[0].spec
    if metric == low_rank_models.OBJECTIVE:
        _objective(spec, table, count)
        return
    paper = (spec.dataset, spec.fold, part) == ("OHSUMED", "Fold1", "test") and metric in PRINTED
    groups = {
        f"the model with {counted(K, 'factor')}": pd.concat(
            [r.metrics[part][metric] for r in records if r.spec.factors == K], axis=1
        ).mean(axis=1)
        for K in sorted(set(table["factors"]))
    }
    show_figure(
        low_rank_models.factors_figure(
            table,
            models.plain_look(spec),
            metric,
            plain=None if plain is None else float(plain.metrics[part][metric].mean()),
            grid=FACTORS,
            printed=PRINTED[metric] if paper else None,
        ),
        table,
        answer=words.spread(groups, metric),
        key="low-rank-factors",
        caption=f"{count}{words.line_of(table['seed'].nunique())}"
        f"{words.seeds_draw(spec)}{words.TABLE_7 if paper else ''}"
        f"{_about(plain, part, 'Dashed: plain,')}",
    )
    _say(groups, plain, part, metric)


def _objective(spec: RunSpec, table: pd.DataFrame, count: str) -> None:
    """Draw the factorised model's objective against the number of factors."""
    FIGURES.show(
        "low-rank-objective",
        low_rank_models.factors_figure(
            table, models.plain_look(spec), low_rank_models.OBJECTIVE, plain=None, grid=FACTORS
        ),
        table,
        words.objectives(table) or "one number of factors so far",
        count=count,
        line=words.line_of(table["seed"].nunique()),
        seeds=words.seeds_draw(spec),
        about=words.about(spec),
    )


def _weights(
    plain: RunRecord | None,
    records: Sequence[RunRecord],
    table: pd.DataFrame,
    about: tuple[str, str, str],
) -> None:
    part, metric, count = about
    level = "" if plain is None else f" ({plain.metrics[part][metric].mean():.3f})"
    clipped = words.clipped(table["value"], *low_rank_models.colour_range(table["value"], metric))
    groups = {
        f"nuclear {r.spec.nuclear:g}, coupling {r.spec.coupling:g}": r.metrics[part][metric] for r in records
    }
    FIGURES.show(
        "low-rank-weights",
        low_rank_models.weights_figure(table, metric, NUCLEAR, COUPLING),
        table,
        words.spread(groups, metric),
        count=count,
        clipped=clipped,
        level=level,
        about=_about(plain, part, "Plain:"),
    )
    _say(groups, plain, part, metric)


def _about(plain: RunRecord | None, part: str, start: str) -> str:
    """Describe the plain model for captions, if it exists."""
    return "" if plain is None else f"{start} {describe(plain.spec, part)}."


def _say(groups: dict[str, pd.Series[float]], plain: RunRecord | None, part: str, metric: str) -> None:
    """Compare each value with the plain model, if it exists."""
    parts = [] if plain is None else words.against_plain(groups, plain.metrics[part][metric], metric)
    for one in parts:
        st.markdown(f"- {sentence(one)}")
    st.caption(texts.CAPTIONS["best"].format(part=PART_NAMES[part]))


def _numbers(records: Sequence[RunRecord], table: pd.DataFrame, metric: str) -> None:
    number = st.column_config.NumberColumn
    gaps, ends = [float(one.solution["gap"][0]) for one in records], [one.status for one in records]
    columns = {
        "factors": "factors",
        "value": number(metric, format="%.7g" if metric == low_rank_models.OBJECTIVE else "%.3f"),
        "all_zero": "every A is 0",
        "seconds": number(format="%.2f"),
        "gap": number("duality gap of the hinge", format="percent"),
        "ended": st.column_config.TextColumn("how it ended", width="large"),
    }
    shown = table.assign(gap=gaps, ended=ends)
    folded(
        f"Every run ({len(table)})",
        "low-rank-runs-table",
        lambda: show_table(shown, hide_index=True, column_config=columns),
    )


def curve_specs(spec: RunSpec) -> list[RunSpec]:
    """Return both models with both of their solvers."""
    return models.affordable(_curves_wanted(spec, models.settings(spec)))


def _curves_wanted(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """Return the runs, the default solver of each model first."""
    first, convex = models.factorized(spec, chosen), models.regularized(spec, chosen)
    factor, dual = _usual_first(FACTOR_SOLVER), _usual_first(DUAL_SOLVER)
    if models.in_kernel_space(spec):  # without rows of features
        factor = [solver for solver in factor if not FACTOR_SOLVER.options[solver].needs_rows]
    return [*(first.but(solver=solver) for solver in factor), *(convex.but(solver=solver) for solver in dual)]


def _usual_first(setting: Setting) -> list[str]:
    return [setting.default, *(name for name in setting.options if name != setting.default)]


def learning_curves(what: Shown, others: Records) -> None:
    """Draw the curves of the existing runs, and their final status."""
    row, chosen = models.controls(what.spec)
    axis = Bound(row, texts.HELP).buttons("learnaxis", "Against", AXES, "seconds")
    plain = models.bare(what.spec)
    if models.in_kernel_space(plain):
        st.markdown(words.NO_QUERY_STEPS)
    records = models.found(_curves_wanted(plain, chosen), others)
    there = [record for record in records if record is not None]
    if there:
        _curves(what, there, axis)
    if len(there) < len(records):
        models.wait("This figure" if not there else "The rest")


def _curves(what: Shown, records: Sequence[RunRecord], axis: str) -> None:
    table = curves_plot.curves_data(records)
    own = dict.fromkeys(describe(record.spec).method for record in records)
    FIGURES.show(
        "low-rank-learning",
        curves_plot.curves_figure(table, axis),
        table,
        curves_plot.race_sentence(table),
        own=capital("; ".join(own)),
        least=words.power(curves_plot.LEAST_DISTANCE),
        about=words.about(records[0].spec),
    )
    st.markdown(words.of_the_paper(table))
    st.markdown(words.ends_differ(table))
    _ends(table, records)


def _ends(table: pd.DataFrame, records: Sequence[RunRecord]) -> None:
    """Draw the final state of each curve."""
    last, number = curves_plot.last_rows(table), st.column_config.NumberColumn
    shown = last[["label", "iteration", "seconds", "objective", "above", "gap"]].assign(
        start=[record.start for record in records]
    )
    show_table(
        shown,
        hide_index=True,
        column_config={
            "label": "run",
            "iteration": "iterations",
            "seconds": number(format="%.2f"),
            "objective": number(format="%.7g", help=texts.COLUMN_HELP["learned"]),
            "above": number("above the best", format="%.1e"),
            "gap": number("gap", format="%.1e", help=texts.COLUMN_HELP["first_order"]),
            "start": "started from",
        },
    )
    st.caption(words.ended(dict(zip(last["label"], (record.status for record in records), strict=True))))
