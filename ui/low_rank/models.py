"""Comparison of the plain, the factorised and the regularised model on the Low rank page (Table 6)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from rankviz.analysis.model_duals import run_duals, thresholded_blocks
from rankviz.analysis.spectra import Spectra, spectra_of
from rankviz.common.progress import Progress
from rankviz.models.dual_variables import Duals
from rankviz.models.low_rank.settings import FACTORS
from rankviz.models.methods import USUAL
from rankviz.plots import rank_by_model
from rankviz.plots.low_rank_style import MODELS, NAMES
from rankviz.plots.style import look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.low_rank import costs
from ui.low_rank import models_words as words
from ui.low_rank.selecting import toolbar
from ui.low_rank.settings import (
    Records,
    Settings,
    affordable,
    bare,
    chosen_plain,
    control_of_plain,
    controls,
    factorized,
    found,
    regularized,
    settings,
    wait,
)
from ui.low_rank.words import (
    ALTS,
    CAPTIONS,
    COLUMN_HELP,
    HELP,
    none_counted,
    other_queries,
    percent,
    power_of_ten,
    queries,
)
from ui.low_rank.work import Shown
from ui.shared import selection
from ui.shared.foreign import describe
from ui.shared.show import capital, sentence, show_figure, show_table

MATRICES = {"low_rank": "A, thresholded", "alpha": "α"}
AGAINST = {"largest_rank": "largest possible rank", "documents": "documents", "pairs": "pairs"}
PRINTED = pd.DataFrame(
    [(49, 109, 420, 8, 5, 5), (45, 205, 7482, 92, 5, 6), (35, 320, 27153, 234, 5, 15)],
    columns=["query", "documents", "pairs", "plain", "factorised", "regularised"],
)
"""xu2019 Table 6: OHSUMED fold 1."""


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return the runs besides the page's own."""
    return affordable(_wanted(spec, settings(spec)))


def _wanted(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """Return the factorised and the regularised model, and the plain one unless it is the page's own run."""
    low_rank = [factorized(spec, chosen), regularized(spec, chosen)]
    plain = chosen_plain(spec, chosen.C)
    return low_rank if plain is None else [*low_rank, plain]


def show(what: Shown, others: Records) -> None:
    """Draw the ranks of the three models, and their costs and metrics."""
    row, chosen = controls(what.spec)
    own = bare(what.spec)
    with row.popover("What is drawn", help=HELP["view"]):
        control_of_plain(own, chosen.C)
        which, measure, against = _view()
    told = words.what_they_train if chosen_plain(own, chosen.C) is None else words.all_the_hinge
    st.markdown(told(what.spec, chosen.C))
    first, convex, *hinge = found(_wanted(own, chosen), others)
    plain = hinge[0] if hinge else what.record
    if first is None or convex is None or plain is None:
        wait()
        return
    records = dict(zip(MODELS, (plain, first, convex), strict=True))
    spectra = _spectra(what, records, which)
    table = rank_by_model.data(spectra, what.choice.share, what.choice.tolerance)
    dragmode = toolbar(what)
    if len(what.only_picked(table)):
        _ranks(what, records, table, chosen, (which, measure, against), dragmode)
    else:
        st.info(none_counted(len(what.picked)), icon=":material/info:")
    st.markdown(other_queries(what.needs["query"], table["query"]))
    if len(spectra["regularized"].table) == 0 and which == "low_rank":
        largest = max((values[0] for values in _alpha_spectra(what, convex).values), default=0.0)
        st.info(words.all_zero(chosen, float(largest)), icon=":material/info:")
    _printed(what, table, plain.spec)
    _per_query(what, table)
    costs.show(what, records)


def _view() -> tuple[str, str, str]:
    """Draw the menus; return the matrices of the regularised model, the measure, and the axis."""
    which = st.segmented_control(
        "Regularised: matrices counted",
        list(MATRICES),
        format_func=MATRICES.__getitem__,
        default="low_rank",
        required=True,
        key="regmatrix",
        bind="query-params",
        help=HELP["regmatrix"],
    )
    measure = st.segmented_control(
        "Shown",
        list(rank_by_model.MEASURES),
        format_func={"rank": "rank", "k": "k for the share of the energy"}.__getitem__,
        default="rank",
        required=True,
        key="shown",
        bind="query-params",
        help=HELP["shown"],
    )
    against = st.segmented_control(
        "Against",
        list(AGAINST),
        format_func=AGAINST.__getitem__,
        default="largest_rank",
        required=True,
        key="rankagainst",
        bind="query-params",
        help=HELP["rankagainst"],
    )
    return str(which or "low_rank"), str(measure or "rank"), str(against or "largest_rank")


def _spectra(what: Shown, records: Mapping[str, RunRecord], which: str) -> dict[str, Spectra]:
    """Return the spectra of the three models for the page's matrix."""
    matrix, train = what.choice.matrix, what.train
    plain = records[USUAL]
    return {
        USUAL: what.found if plain is what.record else _alpha_spectra(what, plain),
        "factorized": _alpha_spectra(what, records["factorized"]),
        "regularized": _alpha_spectra(what, records["regularized"])
        if which == "alpha"
        else _spectra_of(
            records["regularized"].spec, which, matrix, thresholded_blocks(records["regularized"], train)
        ),
    }


def _alpha_spectra(what: Shown, record: RunRecord) -> Spectra:
    return _spectra_of(record.spec, "alpha", what.choice.matrix, run_duals(record, what.train))


@st.cache_resource(max_entries=64, show_spinner=False)
def _spectra_of(spec: RunSpec, which: str, matrix: str, _duals: Duals) -> Spectra:
    line = st.empty()

    def tell(progress: Progress) -> None:
        line.progress(progress.fraction or 0.0, f"Singular values, {NAMES[spec.method]} model")

    spectra = spectra_of(_duals, matrix, tell)
    line.empty()
    return spectra


def _ranks(
    what: Shown,
    records: Mapping[str, RunRecord],
    table: pd.DataFrame,
    chosen: Settings,
    view: tuple[str, str, str],
    dragmode: str,
) -> None:
    """Draw the figure of ranks with its sentences."""
    which, measure, against = view
    plain = records[USUAL].spec
    allowed = rank_by_model.bound(table, chosen.factors, what.choice.matrix)
    key = selection.chart_key("rank-by-model")
    figure = rank_by_model.figure(
        table,
        look_of(plain),
        measure=measure,
        against=against,
        allowed=allowed,
        selected=what.picked,
    )
    figure.update_layout(dragmode=dragmode)
    counted = {
        "rank": f"Zero: σ up to {power_of_ten(what.choice.tolerance)} of the largest",
        "k": f"k: for {percent(what.choice.share)} of the energy",
    }[measure]
    own = "; ".join(describe(records[model].spec).method for model in MODELS[1:])
    shown = what.only_picked(table)
    of = "selected " if what.picked else ""
    show_figure(
        figure,
        table,
        answer=sentence(words.ranks(shown, measure, plain, of)),
        key=key,
        alt=ALTS["rank-by-model"].format(measure=rank_by_model.MEASURES[measure].capitalize()),
        caption=CAPTIONS["rank-by-model"].format(
            counted=counted,
            matrix=words.MATRIX_WORDS[which],
            factors=FACTORS.told(chosen.factors),
            own=capital(own),
            plain=describe(plain, "train"),
        ),
        on_select=selection.taken_from_bars(key, list),
    )
    above = words.above_K(shown, chosen.factors) if measure == "rank" else ""
    law = words.law(allowed, chosen.factors, what.choice.matrix)
    st.markdown(f"{above} {law} {words.growth(shown, measure)}")


def _printed(what: Shown, table: pd.DataFrame, plain: RunSpec) -> None:
    """Draw the three queries of Table 6 if they are in the training part."""
    here = table.merge(PRINTED[["query"]], "inner", "query")
    if what.spec.dataset != "OHSUMED" or len(here) == 0:
        return
    both = PRINTED.merge(here, "inner", "query", suffixes=(" printed", ""))
    columns = {"documents": both["documents"], "pairs": both["pairs"], "largest rank": both["largest_rank"]}
    alike = all(both[name].equals(both[f"{name} printed"]) for name in ("documents", "pairs"))
    for name in ("plain", "factorised", "regularised"):
        columns |= {name: both[f"rank_{name}"], f"{name}, printed": both[name]}
    st.markdown("**xu2019's Table 6 beside ranks found here**")
    show_table(pd.DataFrame({"query": both["query"]} | columns), hide_index=True)
    st.caption(
        CAPTIONS["printed"].format(
            alike="are" if alike else "are not", matrix=what.choice.matrix, plain=describe(plain, "train")
        )
    )


def _per_query(what: Shown, table: pd.DataFrame) -> None:
    """Draw every query's numbers under the three models."""
    number = st.column_config.NumberColumn
    share, zero = percent(what.choice.share), power_of_ten(what.choice.tolerance)
    config = {"largest_rank": number("largest rank", help=COLUMN_HELP["largest_rank"])}
    for model in MODELS:
        name = NAMES[model]
        config[f"rank_{name}"] = number(f"rank, {name}", help=COLUMN_HELP["rank"].format(zero=zero))
        config[f"k_{name}"] = number(f"k, {name}", help=COLUMN_HELP["k"].format(share=share))
    columns = ["query", "documents", "grades", "pairs", "largest_rank"]
    columns += [f"{measure}_{NAMES[model]}" for measure in ("rank", "k") for model in MODELS]
    shown = what.only_picked(table)
    if len(shown) == 0:
        return
    with st.expander(f"Every query ({queries(len(shown), 'selected ' if what.picked else '')})"):
        show_table(shown[columns], hide_index=True, column_config=config)
        st.caption(CAPTIONS["every"])
