"""The tabs "Learning curve" and "Label noise": what a model learns from samples of its training part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from rankviz.analysis.samples import model_of
from rankviz.common.settings import LARGEST_SEED, Setting, Steps
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics.crossed import CROSSED
from rankviz.plots import metric_vs_sample
from rankviz.plots.metric_vs_m import label_of
from rankviz.plots.metric_vs_sample import QUERIES, WRONG, Axis
from rankviz.whatif.samples import DRAW, FLIPPED, QUERY_SHARE, n_queries
from ui.ndcg_vs_m.sample_words import of_queries, of_wrong_grades
from ui.ndcg_vs_m.views import Settings
from ui.shared.curves import kernels
from ui.shared.foreign import describe
from ui.shared.jobs import WAITING
from ui.shared.runs import normalised
from ui.shared.settings import baseline
from ui.shared.show import sentence, show_figure, show_table

DRAWS = 5
MOST_DRAWS = 20
USUAL_METRIC = "NDCG@10"


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is varied of the training part.

    Attributes
    ----------
    setting : Setting
    axis : Axis
    reading : (table of one model, its name, metric) -> str
        What it says.
    key : str
        Of the figure.
    about : str
        What is drawn anew, for captions.
    """

    setting: Setting
    axis: Axis
    reading: Callable[[pd.DataFrame, str, str], str]
    key: str
    about: str


EXPERIMENTS = {
    "Learning curve": Experiment(
        QUERY_SHARE,
        QUERIES,
        of_queries,
        "learning-curve",
        "Each draw takes training queries at random; those of a shorter draw are among those of a longer one",
    ),
    "Label noise": Experiment(
        FLIPPED,
        WRONG,
        of_wrong_grades,
        "label-noise",
        "Each draw replaces the grades of training documents, taken at random, by another grade; what is "
        "judged by keeps its own. Wrong grades of a smaller share are among those of a larger one",
    ),
}
"""By the names of their tabs."""


def asked(spec: RunSpec, tab: str) -> list[RunSpec]:
    """Draw the controls of a tab; the runs that it wants, none where it is none of these.

    Of each model its samples, and the one that learns from all.
    """
    if tab not in EXPERIMENTS:
        return []
    row = st.container(horizontal=True, vertical_alignment="bottom")
    draws = row.container(width=180).slider(
        "Draws",
        1,
        MOST_DRAWS,
        DRAWS,
        key="draws",
        bind="query-params",
        help="How often queries or grades are drawn anew at every point.",
    )
    first = row.container(width=140).number_input(
        "First draw",
        0,
        LARGEST_SEED - MOST_DRAWS,
        DRAW.default,
        key="firstdraw",
        bind="query-params",
        help=DRAW.help,
    )
    others = row.toggle(
        "All maps",
        key="allmaps",
        bind="query-params",
        help="Every approximation of the kernel with the sidebar's m, beside its model and the linear one.",
    )
    models = [baseline(st.session_state), spec, *(kernels(st.session_state) if others else [])]
    varied, values = EXPERIMENTS[tab].setting, _values(spec, EXPERIMENTS[tab].setting)
    wanted = [
        model if value == varied.default else model.but(**{varied.name: value, DRAW.name: int(first) + k})
        for model in models
        for value in values
        for k in range(draws)
    ]
    return list(dict.fromkeys(wanted))


def _values(spec: RunSpec, varied: Setting) -> list[float]:
    """The shares that are tried: of queries those that are different numbers of them."""
    assert isinstance(varied.offer, Steps)
    if varied is not QUERY_SHARE:
        return list(varied.offer.values)
    there = normalised(spec).train.n_queries
    return list({n_queries(there, share): share for share in varied.offer.values}.values())


def draw(
    spec: RunSpec,
    tab: str,
    wanted: Sequence[RunSpec],
    found: Mapping[RunSpec, RunRecord],
    part: str,
    chosen: Settings,
) -> None:
    """The curve as far as its runs are there, what it says, and its numbers."""
    experiment, metric = EXPERIMENTS[tab], chosen.metrics[0] if len(chosen.metrics) == 1 else USUAL_METRIC
    records = [found[one] for one in wanted if one in found]
    whole = {model_of(r.spec) for r in records if not r.spec.sample.drawn}
    records = [record for record in records if model_of(record.spec) in whole]
    if not any(record.spec.sample.drawn for record in records):
        st.info("No run of this curve has finished yet. It grows here as they finish.", icon=WAITING)
        return
    table = metric_vs_sample.data(records, part, metric)
    so_far = "" if len(records) == len(wanted) else "so far "
    readings = {
        label: so_far + experiment.reading(rows, str(label), metric)
        for label, rows in table.groupby("label", sort=False)
    }
    own = label_of(spec) if label_of(spec) in readings else next(iter(readings))
    show_figure(
        metric_vs_sample.figure(table, experiment.axis, metric),
        table,
        answer=sentence(readings.pop(own)),
        key=experiment.key,
        alt=f"{metric} against {experiment.axis.title}: {', '.join(table['label'].unique())}.",
        caption=f"{describe(spec, part)}. {experiment.about}. Features are drawn from all training "
        "documents, without their grades. Line: mean over draws and queries; band: 95 % interval "
        f"({CROSSED}).",
    )
    for words in readings.values():
        st.markdown(sentence(words))
    st.caption("One 95 % interval for each point and model; they are not corrected for their number.")
    with st.expander("Numbers"):
        show_table(table.drop(columns=["method"]).round(4), hide_index=True)
