"""The tabs "Learning curve" and "Label noise": models trained on samples of the training part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from rankviz.analysis.reference_runs import without_sample
from rankviz.common.numbers import unbroken
from rankviz.common.settings import LARGEST_SEED, Setting, Steps
from rankviz.datasets.samples import DRAW, FLIPPED, QUERY_SHARE, n_queries
from rankviz.metrics.significance import CROSSED
from rankviz.plots import metric_vs_setting
from rankviz.plots.metric_vs_setting import QUERIES, WRONG, SampleAxis
from rankviz.runs.description import in_a_sentence, method_label
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.curves import kernels
from ui.controls.settings import baseline
from ui.controls.widgets import Bound
from ui.shell.figures import Figures, folded, sentence, show_table
from ui.shell.page import VIEW
from ui.shell.texts import describe
from ui.shell.words import SO_FAR
from ui.study.ndcg_vs_m import Settings
from ui.study.ndcg_vs_m_words import CAPTIONS, HELP, of_queries, of_wrong_grades
from ui.work.folds import normalised
from ui.work.jobs import WAITING, no_point_yet

DRAWS = 5
MOST_DRAWS = 20
LAST_DRAW = LARGEST_SEED - MOST_DRAWS
USUAL_METRIC = "NDCG@10"


@dataclass(frozen=True, eq=False)
class Experiment:
    """A variation of the training part.

    Attributes
    ----------
    setting : Setting
    axis : Axis
    reading : (table of one model, its name, metric) -> str
        Its sentence.
    key : str
        Key of the figure.
    short : str
        Prefix of the keys of its controls.
    about : str
        Resampled items, for captions.
    """

    setting: Setting
    axis: SampleAxis
    reading: Callable[[pd.DataFrame, str, str], str]
    key: str
    short: str
    about: str


EXPERIMENTS = {
    "Learning curve": Experiment(
        QUERY_SHARE,
        QUERIES,
        of_queries,
        "learning-curve",
        "curve",
        "Draws of training queries; larger samples contain smaller ones",
    ),
    "Label noise": Experiment(
        FLIPPED,
        WRONG,
        of_wrong_grades,
        "label-noise",
        "noise",
        "Draws of replaced grades; larger shares contain smaller ones",
    ),
}
"""Experiments by the names of their tabs."""


def wanted(spec: RunSpec) -> list[RunSpec]:
    """Return the runs of the open tab, none for other tabs; including each model on the whole part.

    The page requests all runs at once, above the tabs; their controls are read before they are drawn.
    """
    tab = st.session_state.get(VIEW, st.query_params.get(VIEW))
    if tab not in EXPERIMENTS:
        return []
    state, varied, short = st.session_state, EXPERIMENTS[tab].setting, EXPERIMENTS[tab].short
    draws = min(max(_value_before_drawing(f"{short}draws", DRAWS), 1), MOST_DRAWS)
    first = min(max(_value_before_drawing(f"{short}first", DRAW.default), 0), LAST_DRAW)
    others = kernels(state) if _value_before_drawing(f"{short}maps", 0) else []
    values = _values(spec, varied)
    found = [
        model if value == varied.default else model.but(**{varied.name: value, DRAW.name: first + k})
        for model in (baseline(state), spec, *others)
        for value in values
        for k in range(draws)
    ]
    return list(dict.fromkeys(found))


def _value_before_drawing(key: str, default: int) -> int:
    """Return the value of a tab's control before it is drawn: initially from the address."""
    if key in st.session_state:
        return int(st.session_state[key])
    asked = st.query_params.get(key, "")
    return int(asked) if asked.isdecimal() else {"true": 1, "false": 0}.get(asked, int(default))


def _controls(short: str) -> None:
    """Draw the tab's own controls; `wanted` reads them."""
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"))
    row.slider(f"{short}draws", "Draws", 1, MOST_DRAWS, DRAWS, help=HELP["draws"], width=180)
    row.number(f"{short}first", "First draw", 0, LAST_DRAW, DRAW.default, help=DRAW.help, width=150)
    row.switch(f"{short}maps", "All maps", help=HELP["maps"])


def _values(spec: RunSpec, varied: Setting) -> list[float]:
    """Return the shares to try; for queries, those with different numbers of them."""
    values = varied.offer.values if isinstance(varied.offer, Steps) else (varied.default,)
    if varied is not QUERY_SHARE:
        return list(values)
    there = normalised(spec).train.n_queries
    return list({n_queries(there, share): share for share in values}.values())


def draw(
    tab: str,
    spec: RunSpec,
    chosen: Settings,
    asked: Sequence[RunSpec],
    found: Mapping[RunSpec, RunRecord],
    part: str,
) -> None:
    """Draw the curve of the existing runs, its sentence, and its numbers."""
    experiment = EXPERIMENTS[tab]
    _controls(experiment.short)
    metric = chosen.metrics[0] if len(chosen.metrics) == 1 else USUAL_METRIC
    records = [found[one] for one in asked if one in found]
    whole = {without_sample(r.spec) for r in records if not r.spec.sample.drawn}
    records = [record for record in records if without_sample(record.spec) in whole]
    if not any(record.spec.sample.drawn for record in records):
        st.info(no_point_yet(), icon=WAITING)
        return
    table = metric_vs_setting.sample_data(records, part, metric)
    so_far = "" if len(records) == len(asked) else SO_FAR
    names = {method_label(model): in_a_sentence(model) for model in whole}
    readings = {
        label: so_far + experiment.reading(rows, names[str(label)], metric)
        for label, rows in table.groupby("label", sort=False)
    }
    own = method_label(spec) if method_label(spec) in readings else next(iter(readings))
    Figures(captions=CAPTIONS).show(
        experiment.key,
        metric_vs_setting.sample_figure(table, experiment.axis, metric),
        table,
        readings.pop(own),
        texts="sample",
        about=describe(spec, part),
        drawn=experiment.about,
        crossed=CROSSED,
    )
    for words in readings.values():
        st.markdown(unbroken(sentence(words)))
    st.caption(CAPTIONS["sample intervals"])
    numbers = table.drop(columns=["method"]).round(4)
    folded("Numbers", "samples-table", lambda: show_table(numbers, hide_index=True))
