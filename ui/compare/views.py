"""Figures of the Compare page: differences to the baseline first; metrics, cut-offs, seconds, settings."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from rankviz.analysis.comparison import Comparison, best_of, compare, front, metric_by_cutoff
from rankviz.analysis.contestants import Contestant
from rankviz.plots import model_comparison
from ui.compare import words
from ui.compare.controls import Asked
from ui.compare.given import Given
from ui.shell.figures import sentence, show_figure, show_table
from ui.shell.texts import escaped

MOST_BANDS = 3
"""Largest number of models with bands, which would hide one another."""


def compared(what: Given, models: Sequence[Contestant], part: str, asked: Asked) -> Comparison:
    """Return the requested comparison, computed once."""
    return _compared(what.key, part, asked, list(models))


@st.cache_resource(max_entries=64, show_spinner="Comparing …")
def _compared(key: tuple[str, ...], part: str, asked: Asked, _models: list[Contestant]) -> Comparison:
    return compare(_models, asked.metrics, asked.baseline, test=asked.test)


def differences(found: Comparison, asked: Asked, part: str) -> None:
    """Draw every model's difference to the baseline by the leading metric."""
    table = model_comparison.deltas_data(found)
    about = words.about(found.matched.contestants, part)
    show_figure(
        model_comparison.deltas_figure(table[table["metric"] == asked.metric]),
        table,
        key="compared-deltas",
        alt=words.DELTAS_ALT.format(metric=asked.metric, baseline=found.baseline),
        caption=words.DIFFERENCES.format(metric=asked.metric, baseline=escaped(found.baseline), about=about),
        answer=words.headline(found, asked.metric),
    )
    said = [escaped(note) for note in found.notes]
    if len(found.matched.contestants) > 2:
        said += [words.tally(found, asked.metric), sentence(escaped(_chosen(found, asked, part)))]
    if part == "vali":
        said.append(words.ON_VALIDATION)
    st.markdown(" ".join(said))


def _chosen(found: Comparison, asked: Asked, part: str) -> str:
    key = tuple(run.key for one in found.matched.contestants for run in one.runs)
    return _best_of(key, part, asked, found)


@st.cache_resource(max_entries=64, show_spinner=False)
def _best_of(key: tuple[str, ...], part: str, asked: Asked, _found: Comparison) -> str:
    return best_of(_found.matched, asked.metric, asked.baseline).sentence()


def alone(one: Contestant, asked: Asked, part: str) -> None:
    """Draw the metrics of a single model."""
    table = model_comparison.single_data(one, asked.metrics)
    show_figure(
        model_comparison.metrics_figure(table),
        table,
        key="compared-alone",
        alt="Means with intervals.",
        caption=words.MEANS.format(about=words.about([one], part)),
        answer=words.ALONE.format(label=escaped(one.label)),
    )


def metrics(found: Comparison, part: str) -> None:
    """Draw means with intervals for all metrics, and their spread over folds and seeds."""
    table = model_comparison.metrics_data(found)
    show_figure(
        model_comparison.metrics_figure(table),
        table,
        key="compared-metrics",
        alt="Means by metric.",
        caption=words.METRICS_MEANS + words.about(found.matched.contestants, part) + ".",
    )
    number = st.column_config.NumberColumn
    show_table(
        table.drop(columns=["method", "baseline"]),
        hide_index=True,
        column_config={
            "label": "model",
            "mean": number(format="%.4f"),
            "low": number("low, 95 %", format="%.4f"),
            "high": number("high, 95 %", format="%.4f"),
            "fold_sd": number("SD of folds", format="%.4f", help=words.FOLD_SD_HELP),
            "seed_sd": number(
                "SD of seeds",
                format="%.4f",
                help=words.SEED_SD_HELP,
            ),
        },
        alt="Models by metric.",
    )


def by_cutoff(found: Comparison, part: str) -> None:
    """Draw NDCG@k for every k."""
    table, models = metric_by_cutoff(found.matched), len(found.matched.contestants)
    banded = table if models <= MOST_BANDS else table.drop(columns=["low", "high"])
    show_figure(
        model_comparison.curve_figure(banded),
        table,
        key="compared-cutoffs",
        alt=words.CUTOFFS_ALT,
        caption=words.CUTOFFS.format(most=MOST_BANDS, about=words.about(found.matched.contestants, part))
        + words.about(found.matched.contestants, part)
        + ".",
    )


def time_and_metric(found: Comparison, asked: Asked, part: str) -> None:
    """Draw training seconds against the leading metric."""
    told = front(found.matched, asked.metric)
    table = model_comparison.time_data(told)
    show_figure(
        model_comparison.time_figure(table, asked.metric),
        table,
        key="compared-time",
        alt=words.TIMES_ALT.format(metric=asked.metric),
        caption=words.TIMES + words.about(found.matched.contestants, part) + ".",
        answer=sentence(escaped(told.sentence())),
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
        row |= {s.label: s.told(spec.values[name]) for name, s in declared.items() if not s.draws}
        rows.append(row)
    table = pd.DataFrame(rows)
    differ = [name for name in table if name == "model" or len(table[name].unique()) > 1]
    return table[differ].assign(
        folds=[len(one.folds) for one in models],
        seeds=[len(one.draws) for one in models],
        training=[one.seconds for one in models],
    )
