"""Texts on a sweep's results, and on its cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from rankviz.common.numbers import counted, span
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader
from rankviz.plots.sweep_settings import listed_values, setting_name, value_text
from rankviz.runs.axes import Range
from rankviz.runs.description import fold_words
from rankviz.runs.designs import Design
from rankviz.runs.estimate import in_words, roughly
from rankviz.runs.selection import RULES
from ui.shell.texts import describe, escaped
from ui.work.runs import stage_words

if TYPE_CHECKING:
    from ui.study.sweep_design import Prospect
    from ui.study.sweep_studies import Sweep

DESIGN_HELP = "Custom axes or a paper's."
TITLE_HELP = "Name in your list."
FOLDS_HELP = "A cell's score is its mean over them."
CELLS_HELP = "Points need fewer cells than a grid."
POINTS_HELP = "Number of cells."
DRAW_HELP = "Seed of the points."
SEEDS_HELP = "Seeds per cell; their mean counts."
NO_SETTING = "{method} has no setting to vary: choose another method."
AXES_HELP = "The others stay as in the sidebar."
NO_AXIS = "choose at least one setting to vary"
ONE_VALUE = "{symbol} has one value; widen its range or remove it"
STEP_HELP = "1 takes every power of {base}."
NO_VALUES = "{symbol} has no values; choose one or remove it"
TYPED_HELP = "Separated by commas. {help}"
NOT_NUMBERS = "{symbol}: “{text}” is not a list of numbers, such as 1, 2, 4"
NO_OTHER = "No other sweep to compare with."
CHOOSE_OTHERS = "Choose one or two"
OTHER_DATA = "Different data: compare settings, not scores."
FEW_CELLS = "Needs two sweeps of these settings with complete cells."
BESIDE = "{metric} on validation, {over}; same scale for all."
OPEN_HELP = "Opens the run of this fold."
NO_CONTROL = "Train cannot show this cell: {error}."
NO_DATA = "You do not have the data set {data}."
NO_TEST_YET = "No complete cell to test."
LOOK_ONCE = "Test once, after the final choice."
STILL_RUNNING = "Unfinished runs may change the choice."
TESTED_OFTEN = "{choices} tested: test scores are now optimistic."
NO_TEST_PART = "The chosen runs have no test part."
DELETED = "“{title}” deleted; its runs stay."
NO_SWEEPS = "No sweeps yet. They continue when you leave."
SHARE_HELP = "Others can only look."
DELETE_HELP = "Stops it, keeps its runs; can be undone."
ADVISER = "An adviser (TPE) proposes cells for a new sweep."
ALL_MADE = "all cells are made; add values"
SECOND_STAGE = "Second stage of {label} ({source}), around each fold's best:"
WAIT_FOR_CELL = "Appears with the first complete cell."
PARALLEL = "One line per complete cell, by validation {metric}, {over}; thick: best."
CURVE = "{metric} on validation, {over}. Ring: best. {band}"
CURVES = (
    "{metric} on validation, {over}; all other settings at their best. Thick line: that of the best cell. "
    "Ring: best. {band}"
)
BAND = (
    "Band: from the lowest to the highest fold at each value; it is no confidence interval. The values of "
    "each fold are first shifted to the same mean over all complete cells. So easy and hard folds do not "
    "widen the band."
)
WORTH = "Best and mean of the cells at each value."
DESIGN = "A square is a cell to train: a run for each fold and seed."
METRIC_HELP = "Chooses the cell on validation."
EACH_HELP = "Chooses a cell for each fold."
MAP = (
    "{metric} on validation, {over}. Filled: all runs exist; ring: best; small squares: mean so far, "
    "fold effects removed. Click a cell to show it."
)
ONE_CELL = "{what}: {cell}: {metric} {mean:.3f}{spread}, rank {rank:,} of {of:,}."
CELLS = "{cells}{waiting}. {metric} on validation, {over}. Tick one to show it."
TESTED = "**Test {metric} {mean:.3f}**, {over}; chosen by {rule}, validation {validation:.3f}."
NOT_MEASURED = "{metric} cannot be computed for this sweep: its data are not here"
NO_SWEEP = "this study cannot be shown as a sweep ({error})"
TOO_MANY = (
    "{runs} more make {all:,} in all; the limit for {whose} is {most:,}. Wait, stop a sweep, or take "
    "fewer values"
)
ONE_VISITOR, ONE_ADDRESS, ALL_VISITORS = "one visitor", "one network address", "all visitors"


def answer(sweep: Sweep) -> str:
    """Name the best cell so far, with its lead."""
    if sweep.chosen is None:
        runs, cells = counted(sweep.status.total, "run"), counted(sweep.cells, "cell")
        return f"No cell complete yet: {sweep.status.done:,} of {runs} made, of {cells}"
    known = len(sweep.folds)
    far = f"{known:,} of {counted(sweep.cells, 'cell')}" if known < sweep.cells else f"all {known:,} cells"
    begun = "Best so far" if sweep.status.live else "Best"
    if sweep.per_fold:
        text = f"{begun} of each fold, mean {sweep.metric} {sweep.chosen.validation:.3f} ({far})"
        return f"{text}: {_per_fold(sweep)}"
    design, cell = sweep.design, int(sweep.chosen.chosen["cell"].iloc[0])
    words = cell_words(design, design.plan.cells[cell])
    value = f"validation {sweep.metric} {sweep.chosen.validation:.3f}, {over(design)} ({far})"
    edge = at_the_edge(design, design.plan.cells[cell])
    if sweep.rule != "best":
        top = sweep.candidates.top
        return (
            f"{words} is the simplest within {RULES[sweep.rule].label} of the best {top:.3f}: {value}{edge}"
        )
    near = f"; {counted(sweep.near, 'other')} within one standard error" if sweep.near else ""
    return f"{begun}: {words} with {value}{near}{edge}"


def at_the_edge(design: Design, cell: Mapping[str, Any]) -> str:
    """Name settings of a cell at the smallest or largest value tried; "" without any."""
    ends = []
    for name, value in cell.items():
        tried = {one[name] for one in design.plan.cells}
        if len(tried) > 2 and all(isinstance(one, int | float) for one in tried):
            which = {min(tried): "smallest", max(tried): "largest"}.get(value)
            ends += [f"{which} {setting_name(design.settings[name])}"] if which else []
    return f"; at the edge, the {' and the '.join(ends)} tried: values beyond may be better" if ends else ""


def _per_fold(sweep: Sweep) -> str:
    assert sweep.chosen is not None
    cells = sweep.chosen.settings
    return "; ".join(
        f"{escaped(fold_words(fold))} at {cell_words(sweep.design, cell)}" for fold, cell in cells.items()
    )


def prospect_words(
    found: Prospect, at_once: int, one: str = "one worker process", several: str = "worker processes"
) -> str:
    """Describe the cost of a design before it starts, for `at_once` parallel workers with this name."""
    cells = counted(len({spec.but(fold="", digest="") for spec in found.specs}), "model")
    text = f"{counted(found.cost.runs, 'run')} of {cells}"
    if not found.left:
        return f"{text}: all exist"
    made = f", {found.made:,} {'exists' if found.made == 1 else 'exist'}" if found.made else ""
    workers = min(at_once, found.cost.families)
    processes = one if workers == 1 else f"{workers} {several}"
    return f"{text}{made}: about {in_words(found.cost.seconds / workers)} with {processes}"


def pace(table: pd.DataFrame, since: float) -> float:
    """Return the recent seconds per run over all workers; NaN with fewer than three runs."""
    ended = table.loc[(table["state"] == "done") & (table["ended"] > since), "ended"].astype(float)
    latest = ended.sort_values().tail(30)
    return float(latest.iloc[-1] - latest.iloc[0]) / (len(latest) - 1) if len(latest) > 2 else math.nan


def time_left(runs: int, seconds: float) -> str:
    """Estimate the remaining time of that many runs; "" if unknown."""
    return f"{roughly(runs * seconds)} left" if runs and seconds == seconds else ""


def at_work(sweep: Sweep, news: tuple[Mapping[str, Any], ...]) -> str:
    """Name the runs in progress."""
    places = {str(digest): place for place, digest in enumerate(sweep.table.index)}
    parts = [one for one in news if str(one.get("digest")) in places]
    return "; ".join(_news(sweep, places[str(one["digest"])], one) for one in parts)


def _news(sweep: Sweep, place: int, news: Mapping[str, Any]) -> str:
    run = sweep.design.plan.runs[place]
    cell = cell_words(sweep.design, sweep.design.plan.cells[run.cell])
    return f"{cell}, {escaped(fold_words(run.fold))}: {stage_words(str(news.get('stage')))}"


def parallel_answer(sweep: Sweep, table: pd.DataFrame) -> str:
    """Describe the differences between cells."""
    if len(table) < 2:
        return f"One cell complete: {sweep.metric} {table['value'].iloc[-1]:.3f}"
    best, worst = table["value"].iloc[-1], table["value"].iloc[0]
    low, high = table["value"].quantile([0.25, 0.75])
    return (
        f"{counted(len(table), 'cell')}: {sweep.metric} {span(worst, best, '.3f')}, the "
        f"middle half {span(low, high, '.3f')}"
    )


def curve_answer(sweep: Sweep, table: pd.DataFrame, along: str) -> str:
    """Say where along a setting the metric is best, and if this is an end."""
    design = sweep.design
    setting = design.settings[along]
    best = table[table["best"]]
    if not len(best):
        return f"No cell has {setting_name(setting)}"
    row = best.loc[leader(best["mean"], sweep.metric)]
    which = "Highest" if direction(sweep.metric) > 0 else "Lowest (best)"
    text = f"{which} {sweep.metric}, {row['mean']:.3f}, at {setting_name(setting)} = "
    text += value_text(setting, row[along])
    numbers = all(isinstance(value, int | float) for value in best[along])
    ends = (best[along].min(), best[along].max())
    if numbers and len(best) > 2 and row[along] in ends:
        which = "smallest" if row[along] == ends[0] else "largest"
        return f"{text}, the {which} tried: values beyond may be better"
    return text


def worth_answer(sweep: Sweep, table: pd.DataFrame) -> str:
    """Name the most important setting."""
    told = table.drop_duplicates("setting").dropna(subset=["share"])
    known = sweep.design.settings
    if not len(told):
        return "Cells are equal or too few"
    words = [
        f"{setting_name(known[row.setting])} {'' if row.exact else 'about '}{100 * float(row.share):.0f} %"
        for row in told.itertuples()
    ]
    return f"Share of variance that each setting alone explains: {', '.join(words)}"


def cell_words(design: Design, cell: Mapping[str, Any]) -> str:
    """Describe the settings of a cell: "C = 2⁻⁴, γ = 2⁻⁶"."""
    known = design.settings
    return ", ".join(
        f"{setting_name(known[name])} = {value_text(known[name], value)}" for name, value in cell.items()
    )


def model_words(design: Design) -> str:
    """Describe method and model, with their settings that do not vary."""
    text = describe(design.base)
    model = "" if FEATURE_MAP.name in design.names else text.model
    if N_COMPONENTS.name in design.names:
        model = model.split(f" {N_COMPONENTS.symbol} =")[0]
    return " · ".join(filter(None, (text.method, model)))


def fixed_settings(design: Design, title: str = "") -> str:
    """Describe the settings common to all cells, without parts of a title."""
    several = f"{len(design.folds)} folds" if len(design.folds) > 1 else escaped(fold_words(design.folds[0]))
    seeds = f"{len(design.seeds)} seeds" if len(design.seeds) > 1 else ""
    base = describe(design.base).without(*design.names, *(["seed"] if seeds else []))
    named = [one for one in (design.base.dataset, model_words(design)) if one not in title]
    words = [
        *map(escaped, named),
        several,
        seeds,
        *(text for _, text in base.settings),
        base.normalisation,
    ]
    return " · ".join(filter(None, words))


def over(design: Design) -> str:
    """Name the folds of a mean: "mean of 5 folds"."""
    if len(design.folds) == 1:
        return f"on {escaped(fold_words(design.folds[0]))}"
    return f"mean of {len(design.folds)} folds"


def band(design: Design) -> str:
    """Explain the band of a curve; "" for one fold, which has none."""
    return BAND if len(design.folds) > 1 else ""


def axes_in_words(design: Design) -> str:
    """Describe the axes with their values: "C = 2⁻¹² … 2⁶, γ = 2⁻¹² … 2²"."""
    return ", ".join(_in_words(design, name) for name in design.names)


def _in_words(design: Design, name: str) -> str:
    setting, axis = design.settings[name], design.axis(name)
    ends = (axis.low, axis.high) if isinstance(axis, Range) else listed_values(design, name)
    shown = ends if len(ends) <= 3 and not isinstance(axis, Range) else (ends[0], "…", ends[-1])
    words = " ".join(one if one == "…" else value_text(setting, one) for one in shown)
    return f"{setting_name(setting)} = {words}"


def title_of(design: Design) -> str:
    """Return the default title of a sweep."""
    base = design.base
    names = " × ".join(setting_name(design.settings[name]) for name in design.names)
    return ", ".join(filter(None, (names, model_words(design), base.dataset)))
