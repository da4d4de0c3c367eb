"""All queries on the Low rank page: their dimensions, and the energy that these keep."""

from __future__ import annotations

import streamlit as st

from rankviz.plots import dual_energy
from ui.controls import selection
from ui.low_rank import words
from ui.low_rank.selecting import toolbar
from ui.low_rank.work import Shown
from ui.shell.figures import sentence, show_answer, show_figure
from ui.shell.texts import describe


def show(what: Shown) -> None:
    """Draw the dimensions for the share of the energy and for all of it, with references."""
    dragmode = toolbar(what)
    share = words.percent(what.choice.share)
    of = "selected " if what.picked else ""
    needs = what.only_picked(what.needs)
    show_answer(sentence(words.reading(needs, what.choice.share, of)))
    left, right = st.columns(2, gap="medium")
    with left:
        _histogram(what, dragmode, "k", f"k for {share} of the energy")
    with right:
        _histogram(what, dragmode, "rank", "numerical rank")
    shuffled = words.what_shuffled_says(needs, what.choice.share)
    ranks = words.rank_reading(needs, what.choice.tolerance)
    st.markdown(f"{shuffled} {words.in_order(needs)} {ranks}")


def _histogram(what: Shown, dragmode: str, measure: str, name: str) -> None:
    choice, needs = what.choice, what.needs
    table = dual_energy.histogram_data(needs, measure, choice.scale, what.picked)
    key = selection.chart_key(f"dim-{measure}")
    figure = dual_energy.histogram_figure(table, what.look, choice.scale, name)
    figure.update_layout(dragmode=dragmode)
    said = {
        "k": words.CAPTIONS["k"].format(share=words.percent(choice.share)),
        "rank": words.CAPTIONS["rank"].format(zero=words.power_of_ten(choice.tolerance)),
    }[measure]
    show_figure(
        figure,
        table,
        key=key,
        alt=f"Histogram of {name}, {dual_energy.SCALES[choice.scale].axis}.",
        caption=f"{said}. {words.queries(len(needs))}; {words.left_out(what.found)}. "
        f"{describe(what.spec, 'train')}.",
        on_select=selection.on_bars(
            key, lambda bins: dual_energy.queries_in_bins(needs, measure, choice.scale, bins)
        ),
    )


def energy(what: Shown) -> None:
    """Draw the energy of the first k singular values, for the selected queries and for shuffled ones."""
    inside = what.needs["query"].isin(what.only_picked(what.needs)["query"]).to_numpy()
    model, shuffled = (dual_energy.energy_data(found, inside) for found in (what.found, what.shuffled))
    table = dual_energy.with_shuffled(model, shuffled)
    of = f"the {len(what.picked)} selected of " if what.picked else ""
    show_figure(
        dual_energy.energy_figure(table, what.look, what.choice.share),
        table,
        answer=sentence(words.energy_reading(model, shuffled)),
        key="energy",
        alt=words.ALTS["energy"],
        caption=words.CAPTIONS["energy"].format(
            queries=f"{of}{words.queries(len(what.needs))}", about=describe(what.spec, "train")
        ),
    )
