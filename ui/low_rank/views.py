"""The Low rank page: its controls, how many dimensions queries need, energy curves, the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from rankviz.analysis.spectra import MATRICES, RANK_TOLERANCE
from rankviz.datasets import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots import dim_histogram, energy_curve
from ui.low_rank import learning, models, numbers, query, sweeps, why, words
from ui.low_rank.settings import Records, bare
from ui.low_rank.work import SHARES, ZEROS, Choice, Shown, kept_spectra, shown
from ui.shared import selection
from ui.shared.foreign import describe
from ui.shared.runs import errors_as_sentences
from ui.shared.show import sentence, show_figure
from ui.shared.views import VIEW, tabs

HOW = (
    "Click a bar to select its queries, click it again to let them go; a box selects those of the bars whose "
    "middle lies in it. They stay selected in every view of this page."
)
SLIDER_WIDTH = 420
"""Pixels: what follows it goes to another line on narrow pages."""
PART = "train"
"""Whose queries are selected here: α belongs to them."""
SPECS: dict[str, Callable[[RunSpec], list[RunSpec]]] = {
    "Why so low?": why.specs,
    "Three models": models.specs,
    "Learning curves": learning.specs,
    "Sensitivity": sweeps.specs,
}
"""Specs of the runs that tabs need besides the page's own."""
OTHER_MODELS = ("Three models", "Learning curves", "Sensitivity")
"""Tabs on models that have dual variables of their own."""


def specs(spec: RunSpec) -> list[RunSpec]:
    """Specs of the open tab's runs besides the page's own; the page asks before anything is trained."""
    selection.turn_to(PART)
    needed = SPECS.get(str(st.session_state.get(VIEW)))
    return needed(spec) if needed else []


@st.fragment
@errors_as_sentences()
def linked(record: RunRecord, train: RankingData, others: Records) -> None:
    """All views of the page, which share one selection of queries; `others` are the records of `specs`."""
    choice = _controls()
    found = kept_spectra(record, train, choice.matrix).found
    nothing = words.nothing(found) if len(found.table) == 0 else ""
    if nothing:
        st.info(nothing, icon=":material/info:")
        if not found.n_zero:  # no pairs: no model has any α
            return
    what = shown(record, train, choice, partial(selection.picked, part=PART))
    if not nothing:
        _headline(what)
    tabs({name: partial(_view, name, what, others, nothing) for name in VIEWS})


def _view(name: str, what: Shown, others: Records, nothing: str) -> None:
    """A tab of the page; a sentence where it would show the α of a model that has none."""
    if nothing and name not in OTHER_MODELS:
        st.markdown(words.NOTHING_HERE)
    else:
        VIEWS[name](what, others)


def _controls() -> Choice:
    """The page's own controls."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    share = row.container(width=SLIDER_WIDTH).select_slider(
        "Share of the energy to keep, t",
        SHARES,
        90,
        format_func=lambda t: f"{t} %",
        key="t",
        bind="query-params",
        help="k is the least number of singular values whose squares hold this share of the sum of squares; "
        "xu2019 takes 90 %. Changing it trains nothing anew.",
    )
    scale = row.segmented_control(
        "Dimensions counted as",
        list(dim_histogram.SCALES),
        format_func=lambda name: dim_histogram.SCALES[name].label,
        default="documents",
        required=True,
        key="counted",
        bind="query-params",
        help="xu2019 divides by the number of documents, the size of A. But grades allow far lower ranks: "
        "with two, no higher than the documents of the rarer one. The number itself tells 1 from 10 also "
        "where a query has many documents.",
    )
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    matrix = row.container(width=SLIDER_WIDTH).segmented_control(
        "Matrix of each query's dual variables α",
        list(MATRICES),
        format_func=lambda name: MATRICES[name].label,
        key="matrix",
        default="block",
        required=True,
        bind="query-params",
        help=" ".join(f"{kind.label}: {kind.meaning}." for kind in MATRICES.values())
        + " xu2019 defines A; the ranks that it prints fit A + Aᵀ.",
    )
    zero = row.segmented_control(
        "Counts as zero: σ up to … of the largest",
        ZEROS,
        format_func=words.power_of_ten,
        default=RANK_TOLERANCE,
        required=True,
        key="zero",
        bind="query-params",
        help="In floating point no singular value is exactly 0. The numerical rank counts those above.",
    )
    return Choice(
        str(matrix or "block"), share / 100, float(zero or RANK_TOLERANCE), str(scale or "documents")
    )


def _headline(what: Shown) -> None:
    """Dim_t and Dim_100 over the queries, the references beside them, and the sentences that answer."""
    tool = selection.toolbar(len(what.picked), len(what.needs), ["click", "select"], HOW)
    share = words.percent(what.choice.share)
    of = "selected " if what.picked else ""
    needs = what.only_picked(what.needs)
    st.header(sentence(words.reading(needs, what.choice.share, of)), anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        _histogram(what, tool, "k", f"k for {share} of the energy")
    with right:
        _histogram(what, tool, "rank", "numerical rank")
    shuffled = words.what_shuffled_says(needs, what.choice.share)
    st.markdown(f"{shuffled} {words.rank_reading(needs, what.choice.tolerance)}")


def _histogram(what: Shown, tool: str, measure: str, name: str) -> None:
    choice, needs = what.choice, what.needs
    table = dim_histogram.data(needs, measure, choice.scale, what.picked)
    key = selection.chart_key(f"dim-{measure}")
    figure = dim_histogram.figure(table, what.look, choice.scale, name)
    figure.update_layout(dragmode="pan" if tool == "click" else tool)
    said = {
        "k": f"Dim at {words.percent(choice.share)}, as xu2019 Figure 2a at 90 %",
        "rank": "Dim at 100 %, as xu2019 Figure 2b: singular values up to "
        f"{words.power_of_ten(choice.tolerance)} of the largest count as 0",
    }[measure]
    show_figure(
        figure,
        table,
        key=key,
        alt=f"Histogram over queries of their {name}, {dim_histogram.SCALES[choice.scale].axis}.",
        caption=f"{said}. {words.queries(len(needs))}; {words.left_out(what.found)}. "
        f"{describe(what.spec, 'train')}.",
        on_select=selection.taken_from_bars(
            key, lambda bins: dim_histogram.members(needs, measure, choice.scale, bins)
        ),
    )


def _energy(what: Shown) -> None:
    """The energy that the first k singular values keep, of the selected queries and of the same shuffled."""
    inside = what.needs["query"].isin(what.only_picked(what.needs)["query"]).to_numpy()
    model, shuffled = (energy_curve.data(found, inside) for found in (what.found, what.shuffled))
    table = energy_curve.together(model, shuffled)
    of = f"the {len(what.picked)} selected of " if what.picked else ""
    show_figure(
        energy_curve.figure(table, what.look, what.choice.share),
        table,
        answer=sentence(words.energy_reading(model, shuffled)),
        key="energy",
        alt="Mean share of the energy kept by the first k singular values, with a band over queries.",
        caption=f"PE(k) of xu2019 §4, mean of {of}{words.queries(len(what.needs))}; the bands run from the "
        "10 % to the 90 % quantile. Shuffled: the same α dealt at random to the same pairs of each query. "
        f"{describe(what.spec, 'train')}.",
    )


def _why(what: Shown, others: Records) -> None:
    """Why so low, with the runs for it."""
    wanted = why.specs(bare(what.spec))
    if any(spec not in others for spec in wanted):  # the tab was opened just now: the page sees to them
        st.rerun()
    why.show(what, [others[spec] for spec in wanted])


VIEWS: dict[str, Callable[[Shown, Records], None]] = {
    "One query": lambda what, _: query.show(what),
    "Energy": lambda what, _: _energy(what),
    "Why so low?": _why,
    "Three models": models.show,
    "Learning curves": learning.show,
    "Sensitivity": sweeps.show,
    "Numbers": lambda what, _: numbers.show(what),
}
"""The tabs, and what they show of a run and the records of `specs`."""
