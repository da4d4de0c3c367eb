"""Figures of the Compare page: differences to the baseline first; metrics, cut-offs, seconds, settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.analysis.comparison import Comparison, best_of, compare, front, metric_by_cutoff
from rankviz.analysis.contestants import Contestant, contestants
from rankviz.analysis.slices import Slicing, by_choice, by_difficulty, by_length, by_relevant, query_facts
from rankviz.analysis.tables import (
    PrintedTable,
    as_latex,
    as_markdown,
    comparison_csv,
    printed_table,
    table_of_tests,
)
from rankviz.common.errors import SettingError
from rankviz.common.numbers import with_minus
from rankviz.datasets import load_demo
from rankviz.datasets.folds import DEMONSTRATION
from rankviz.metrics.formulas import direction
from rankviz.plots import model_comparison, per_query
from rankviz.plots.style import style_of
from rankviz.runs.description import fold_words
from rankviz.runs.run import execute_all
from rankviz.runs.spec import RunSpec
from ui.compare import compare_words as words
from ui.compare.chosen_runs import ChosenRuns, by_runs
from ui.compare.compare_controls import Asked
from ui.controls.models import Option, menu
from ui.controls.selection import QUERY
from ui.controls.settings import SET_FOR, state_of
from ui.controls.widgets import Bound, by_rank
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import sentence, show_figure, show_table
from ui.shell.page import go_to
from ui.shell.terms import meaning
from ui.shell.texts import escaped
from ui.work.folds import fold_of
from ui.work.jobs import runs_offered

EXAMPLE_METRIC = "NDCG@10"
EXAMPLE: dict[str, dict[str, Any]] = {
    "linear": {"C": 2.0**-10},
    "nystroem": {"n_components": 50, "gamma": 0.25, "C": 2.0**-4},
    "fourier": {"n_components": 50, "gamma": 0.25, "C": 2.0**-4},
}
"""Maps and settings of the example, the baseline first."""
MOST_BANDS = 3
"""Largest number of models with bands, which would hide one another."""
LENGTH, RELEVANT, DIFFICULTY, OWN = "number of documents", "share of relevant documents", "difficulty", "own"
SLICES = {kind: kind for kind in (LENGTH, RELEVANT, DIFFICULTY)} | {OWN: "own selection of queries"}
OTHER = "model-beside"
TESTS_COLUMNS = {
    "difference": ("difference", "Mean over queries, model minus baseline."),
    "low": ("low, 95 %", "Lower end of the paired interval."),
    "high": ("high, 95 %", "Upper end of the paired interval."),
    "better": ("better", "Gains."),
    "worse": ("worse", "Losses."),
    "even": ("even", "No difference."),
    "randomisation": ("p, randomisation", f"{words.ABOUT_P} Random signs, 9,999 times."),
    "wilcoxon": ("p, Wilcoxon", f"{words.ABOUT_P} Uses ranks."),
    "t": ("p, t", f"{words.ABOUT_P} Assumes normality."),
    "effect": ("effect", words.EFFECT_HELP),
    "holm": ("p, Holm", meaning("Holm's correction")),
    "benjamini_hochberg": ("p, Benjamini–Hochberg", words.BH_HELP),
}
"""Columns of the table of tests: heading and help."""
FORMATS = {"LaTeX": "tex", "Markdown": "md", "CSV": "csv"}
"""File extension of each format; shown without colours, which would make a comment of what follows "\\%"."""


@by_runs(max_entries=64, show_spinner="Comparing …")
def compared(what: ChosenRuns, _models: Sequence[Contestant], part: str, asked: Asked) -> Comparison:
    """Return the requested comparison, computed once."""
    return compare(list(_models), asked.metrics, asked.baseline, test=asked.test)


def differences(found: Comparison, asked: Asked, part: str) -> None:
    """Draw every model's difference to the baseline by the leading metric."""
    table = model_comparison.deltas_data(found)
    about = words.about(found.matched.contestants, part)
    show_figure(
        model_comparison.deltas_figure(table[table["metric"] == asked.metric]),
        table,
        key="compared-deltas",
        caption=words.DIFFERENCES.format(metric=asked.metric, baseline=escaped(found.baseline), about=about),
        answer=words.headline(found, asked.metric),
    )
    said = [escaped(note) for note in found.notes]
    if len(found.matched.contestants) > 2:
        runs = tuple(run.key for one in found.matched.contestants for run in one.runs)
        chosen = _best_of(runs, part, asked, found)
        said += [words.tally(found, asked.metric), sentence(escaped(chosen))]
    if part == "vali":
        said.append(words.ON_VALIDATION)
    st.markdown(" ".join(said))


@st.cache_resource(max_entries=64, show_spinner=False)
def _best_of(key: tuple[str, ...], part: str, asked: Asked, _found: Comparison) -> str:
    return best_of(_found.matched, asked.metric, asked.baseline).sentence()


def example() -> None:
    """Draw a comparison of two models on a bundled fold."""
    found, metric = _example(), EXAMPLE_METRIC
    table = model_comparison.deltas_data(found)
    about = words.about(found.matched.contestants, "vali")
    show_figure(
        model_comparison.deltas_figure(table),
        table,
        key="compared-example",
        caption=words.DIFFERENCES.format(metric=metric, baseline=escaped(found.baseline), about=about),
        answer=words.EXAMPLE,
    )
    st.markdown(words.headline(found, metric))


@st.cache_resource(max_entries=1, show_spinner="Comparing …")
def _example() -> Comparison:
    """Compare models on a bundled fold; the runs are not stored."""
    linear, *others = (RunSpec(DEMONSTRATION, feature_map=name, **EXAMPLE[name]) for name in EXAMPLE)
    records = [record for _, record in execute_all([linear, *others], fold=load_demo(1))]
    records.sort(key=lambda record: record.spec.values != linear.values)
    models = contestants(records, "vali")
    return compare(models, [EXAMPLE_METRIC], models[0].label)


def alone(one: Contestant, asked: Asked, part: str, *, waiting: bool) -> None:
    """Draw the metrics of a single model; `waiting` if other runs are not ready."""
    said = words.FIRST if waiting else words.ALONE
    state = words.OFFERED if runs_offered() else words.TRAINING
    table = model_comparison.single_data(one, asked.metrics)
    show_figure(
        model_comparison.metrics_figure(table),
        table,
        key="compared-alone",
        caption=words.MEANS.format(about=words.about([one], part)),
        answer=said.format(label=escaped(one.label), state=state),
    )


def metrics(found: Comparison, part: str) -> None:
    """Draw means with intervals for all metrics, and their spread over folds and seeds."""
    table = model_comparison.metrics_data(found)
    about = words.about(found.matched.contestants, part)
    for sign, own in table.groupby([*map(direction, table["metric"])], sort=False):  # on axes of their own
        show_figure(
            model_comparison.metrics_figure(own),
            own,
            key=f"compared-metrics{'-less' * (sign < 0)}",
            caption=f"{words.METRICS_MEANS}{about}.{words.LESS * (sign < 0)}",
        )
    number = st.column_config.NumberColumn
    without_spread = [name for name in ("fold_sd", "seed_sd") if table[name].isna().all()]
    show_table(
        table.drop(columns=["method", "baseline", *without_spread]),
        hide_index=True,
        column_config={
            "label": "model",
            "mean": number(format="%.3f"),
            "low": number("low, 95 %", format="%.3f"),
            "high": number("high, 95 %", format="%.3f"),
            "fold_sd": number("SD of folds", format="%.3f", help=words.FOLD_SD_HELP),
            "seed_sd": number("SD of seeds", format="%.3f", help=words.SEED_SD_HELP),
        },
        alt="Models by metric.",
    )


def by_cutoff(found: Comparison, asked: Asked, part: str) -> None:
    """Draw NDCG@k or P@k for every k."""
    metric = by_rank(asked.metric)
    table, models = metric_by_cutoff(found.matched, metric), len(found.matched.contestants)
    banded = table if models <= MOST_BANDS else table.drop(columns=["low", "high"])
    show_figure(
        model_comparison.curve_figure(banded, metric),
        table,
        key="compared-cutoffs",
        caption=words.CUTOFFS.format(most=MOST_BANDS, about=words.about(found.matched.contestants, part)),
    )


def time_and_metric(found: Comparison, asked: Asked, part: str) -> None:
    """Draw training seconds against the leading metric."""
    shown = front(found.matched, asked.metric)
    table = model_comparison.time_data(shown)
    show_figure(
        model_comparison.time_figure(table, asked.metric),
        table,
        key="compared-time",
        caption=words.TIMES + words.about(found.matched.contestants, part) + ".",
        answer=escaped(shown.sentence()),
    )


def settings(models: Sequence[Contestant]) -> None:
    """Draw a table of the settings in which models differ."""
    show_table(
        differing(models),
        hide_index=True,
        alt="Settings by model.",
        column_config={"training": st.column_config.NumberColumn("training, s", format="%.3g")},
    )
    st.caption(words.SETTINGS_SHOWN)


def differing(models: Sequence[Contestant]) -> pd.DataFrame:
    """Return one row per model: the settings that differ, folds, seeds, seconds."""
    rows = []
    for one in models:
        spec, declared = one.spec, one.spec.declared()
        row = {"model": one.label, "method": spec.kind.label, "normalisation": spec.normalisation}
        row |= {s.label: s.format(spec.values[name]) for name, s in declared.items() if not s.draws}
        rows.append(row)
    table = pd.DataFrame(rows)
    differ = [name for name in table if name == "model" or len(table[name].unique()) > 1]
    return table[differ].assign(
        folds=[len(one.folds) for one in models],
        seeds=[len(one.draws) for one in models],
        training=[one.seconds for one in models],
    )


def slices(found: Comparison, asked: Asked, part: str) -> None:
    """Draw every model's difference to the baseline in each slice."""
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"))
    kind, text = row.menu("slices", "Slices by", SLICES, width=260, help=words.SLICES_HELP), ""
    if kind == OWN:
        text = row.text("ids", "Queries", placeholder="12, 40, 57", help=words.IDS_HELP)
        if not text.strip():
            st.info(words.NAME_QUERIES)
            return
    slicing = _slicing(found, asked, part, kind, text)
    table = model_comparison.slices_data(found.matched, asked.metric, asked.baseline, slicing)
    show_figure(
        model_comparison.slices_figure(table, asked.metric),
        table,
        key="compared-slices",
        caption=words.SLICES.format(
            baseline=escaped(asked.baseline), about=words.about(found.matched.contestants, part)
        ),
    )
    if slicing.caveat:
        st.markdown(escaped(slicing.caveat))
    number = st.column_config.NumberColumn
    show_table(
        table.drop(columns="method"),
        hide_index=True,
        column_config={
            "label": "model",
            **{name: number(format="%.3f") for name in ("mean", "baseline")},
            **{name: number(format="%+.3f") for name in ("difference", "low", "high")},
        },
        alt="Slices by model.",
    )


def _slicing(found: Comparison, asked: Asked, part: str, kind: str, text: str) -> Slicing:
    if kind == DIFFICULTY:
        return by_difficulty(found.matched, asked.metric)
    if kind == OWN:
        return _own(found, text)
    facts = _facts(found, part)
    return by_length(facts) if kind == LENGTH else by_relevant(facts)


def _own(found: Comparison, text: str) -> Slicing:
    """Return the named queries and all others; `SettingError` for one that is not compared."""
    known = {str(query): query for query in found.matched.queries}
    named = [word for word in re.split(r"[\s,;]+", text) if word]
    strange = [word for word in named if word not in known]
    if strange:
        raise SettingError(words.UNKNOWN_QUERY.format(query=strange[0], known=len(known)))
    chosen = [known[word] for word in named]
    others = [query for query in found.matched.queries if query not in set(chosen)]
    return by_choice({"chosen queries": chosen} | ({"all others": others} if others else {}))


def _facts(found: Comparison, part: str) -> pd.DataFrame:
    """Return known facts about the compared queries."""
    runs = found.matched.contestants[0].runs
    specs = {run.spec.fold: run.spec for run in runs}
    facts = _facts_of(tuple(spec.digest for spec in specs.values()), part, list(specs.values()))
    return facts[facts.index.isin(found.matched.queries)]


@st.cache_resource(max_entries=16, show_spinner=words.READING)
def _facts_of(digests: tuple[str, ...], part: str, _specs: list[RunSpec]) -> pd.DataFrame:
    folds = [(spec, fold_of(spec)) for spec in _specs]
    for spec, fold in folds:
        if spec.digest and fold.digest != spec.digest:
            raise SettingError(words.DATA_CHANGED.format(fold=fold_words(spec.fold), dataset=spec.dataset))
    return query_facts(fold.parts[part] for _, fold in folds)


def win_and_loss(found: Comparison, asked: Asked, part: str) -> None:
    """Draw the differences of one model by query, the tests of all, and the queries."""
    other = _other(found, asked)
    pair = found.matched.pair(asked.metric, other.label, asked.baseline)
    table = per_query.difference_data({part: pair})
    colour = style_of(found.matched.looks[other.label]).colour
    show_figure(
        per_query.difference_figure(table, asked.metric, colour),
        table,
        key="compared-queries",
        caption=words.QUERY_BARS.format(
            metric=asked.metric,
            other=escaped(other.label),
            baseline=escaped(asked.baseline),
            about=words.about(found.matched.contestants, part),
        ),
        answer=escaped(found.sentence(other.label, asked.metric)),
    )
    _tests(found)
    _queries(found, asked, other, table)


def _other(found: Comparison, asked: Asked) -> Contestant:
    """Draw a menu of models; return the one whose wins and losses are drawn."""
    others = found.matched.others(asked.baseline)
    options = {one.key: Option(one.label, lambda one=one: one.spec) for one in others}
    best = next(one for one in others if one.label == words.best(found, asked.metric))
    place = st.container(width=300)
    label = menu(place, "Model", options, best.key, OTHER, words.OTHER_HELP).label
    return next(one for one in others if one.label == label)


def _tests(found: Comparison) -> None:
    """Draw all tests of all models by all metrics."""
    columns: dict[str, Any] = {"label": "model"}
    for name, (heading, help_text) in TESTS_COLUMNS.items():
        digits = "%d" if name in ("better", "worse", "even") else "%.3f"
        columns[name] = st.column_config.NumberColumn(heading, help=help_text, format=digits)
    show_table(found.deltas, hide_index=True, column_config=columns, alt="Models by metric.")
    if found.family > 1:
        st.caption(words.CORRECTED.format(family=found.family))


def _queries(found: Comparison, asked: Asked, other: Contestant, table: pd.DataFrame) -> None:
    """Draw the queries, largest difference first; a ticked one links to Why and What if."""
    ranked = table.loc[table["difference"].abs().sort_values(ascending=False, kind="stable").index]
    st.markdown(words.TICK_QUERY)
    number = st.column_config.NumberColumn
    event = show_table(
        ranked[["query", "old", "new", "difference"]],
        hide_index=True,
        height=280,
        key=f"compared-queries-{other.key}-{asked.metric}",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "old": number(f"{asked.metric}, {asked.baseline}", format="%.3f"),
            "new": number(f"{asked.metric}, {other.label}", format="%.3f"),
            "difference": number(format="%+.3f"),
        },
        alt="Metric by query.",
    )
    rows = event["selection"]["rows"]
    query = ranked["query"].iloc[rows[0] if rows else 0]
    text = with_minus(float(ranked["difference"].iloc[rows[0] if rows else 0]), "+.3f")
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"Query {escaped(query)} ({text} {asked.metric}), with", width="content")
    for name, one in (("other", other), ("baseline", found.matched.named(asked.baseline))):
        spec = next(run.spec for run in one.runs if query in run.per_query.index)
        for title, page in (("Why", "why"), ("What if", "what_if")):
            row.button(
                f"{title}: {escaped(one.label)}",
                key=f"{page}-{name}",
                on_click=_ask,
                args=(page, spec, query),
                help=words.GO_HELP.format(title=title),
            )


@errors_as_sentences()
def _ask(page: str, spec: RunSpec, query: Any) -> None:
    """Set the sidebar to a run and open a page with one of its queries (a callback)."""
    for key, value in state_of(spec).items():
        st.session_state[key] = value
    st.session_state[SET_FOR] = spec.dataset
    st.session_state[QUERY] = int(query)
    go_to(page)


def export(found: Comparison, part: str) -> None:
    """Draw the table in the chosen format, to copy or download."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    name = Bound(row).buttons("format", "Format", list(FORMATS))
    detailed = Bound(row).switch(
        "tests", "Intervals and p-values", True, disabled=name == "CSV", help=words.DETAILED_HELP
    )
    text = _written(found, part, name, table_of_tests if detailed else printed_table)
    ending = FORMATS[name]
    row.download_button(
        "Download",
        text,
        f"comparison.{ending}",
        "text/plain",
        key="compared-download",
        icon=":material/download:",
        on_click="ignore",
    )
    st.code(text, language=None, wrap_lines=True, height=420)


def _written(
    found: Comparison, part: str, name: str, table: Callable[[Comparison, str], PrintedTable]
) -> str:
    if name == "CSV":
        return comparison_csv(found)
    return {"LaTeX": as_latex, "Markdown": as_markdown}[name](table(found, part))
