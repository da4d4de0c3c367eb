"""The views of the NDCG-against-m page: what to compute, the figure, its reading and its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots import metric_vs_m
from rankviz.plots.style import METHODS, choices, describe, method_label
from rankviz.significance import compare
from ui.jobs import run_or_submit
from ui.settings import COMPONENTS, linear_C, open_run, spec_from_state
from ui.show import bold_sentence, definition_caption, say_if_nothing_was_learned, show_figure

FIGURE_2 = ("NDCG@1", "NDCG@3", "MeanNDCG", "MAP")
METRICS = (*(f"NDCG@{k}" for k in range(1, 11)), "MeanNDCG", "MAP", *(f"P@{k}" for k in range(1, 11)))
KERNELS = ("nystroem", "fourier")
LARGEST_AT_ONCE = 500


@dataclass(frozen=True)
class Settings:
    """What this page adds to the sidebar."""

    metrics: tuple[str, ...]
    seeds: int
    grid: tuple[int, ...]


def settings(spec: RunSpec) -> Settings:
    """Draw the page's own controls."""
    metric, seeds, largest, panels = st.columns([2, 2, 3, 3], vertical_alignment="bottom")
    four = panels.toggle(
        "Four panels of chen2017's Figure 2",
        key="figure2",
        bind="query-params",
        help="NDCG@1, NDCG@3, MeanNDCG and MAP at once, as in the paper (which shows MQ2007).",
    )
    chosen = metric.selectbox(
        "Metric",
        METRICS,
        METRICS.index("NDCG@10"),
        key="metric",
        bind="query-params",
        disabled=four,
        help="Mean over queries.",
    )
    number = seeds.slider(
        "Seeds",
        1,
        10,
        key="seeds",
        bind="query-params",
        help="Draws of landmarks and frequencies at every m, beginning with the sidebar's seed. The band "
        "runs from the lowest to the highest of them.",
    )
    upto = largest.select_slider(
        "Up to m",
        COMPONENTS[1:],
        LARGEST_AT_ONCE,
        key="upto",
        bind="query-params",
        help="The largest m of the curve; the time grows about in proportion.",
    )
    grid = tuple(sorted({m for m in COMPONENTS if m <= upto}))
    return Settings(FIGURE_2 if four else (chosen,), number, grid)


def specs(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """The linear model, then both approximations at every m and seed, the small m first."""
    state = st.session_state
    kernels = [spec_from_state(state, name) for name in KERNELS]
    first = int(state["seed"])
    return [spec_from_state(state, "linear").linear(linear_C(state))] + [
        replace(kernel, n_components=m, seed=first + k)
        for m in chosen.grid
        for kernel in kernels
        for k in range(chosen.seeds)
    ]


def records(spec: RunSpec, chosen: Settings) -> list[RunRecord]:
    """The runs of the curve that are there, as it grows."""
    found = run_or_submit(specs(spec, chosen), title=f"NDCG against m, {spec.dataset}")
    if found[0] is None or not any(found[1:]):
        st.info("The curve is drawn here as its runs finish.", icon=":material/hourglass_empty:")
        st.stop()
    return [record for record in found if record is not None]


def in_short(chosen: Settings, part: str) -> str:
    """What the page shows, in words: both maps over a range of m, with the sidebar's other settings."""
    kernel = spec_from_state(st.session_state, KERNELS[0])
    fourier = spec_from_state(st.session_state, KERNELS[1])
    maps = f"Nyström and random Fourier{choices(fourier)}, m = {chosen.grid[0]} to {chosen.grid[-1]}"
    return describe(kernel, part).replace(f"{METHODS[KERNELS[0]].name} m = {kernel.n_components}", maps)


def headline(spec: RunSpec, chosen: Settings, found: list[RunRecord], data: RankingData, part: str) -> None:
    """The curves with the linear level, what the queries support, and the run behind a chosen point."""
    say_if_nothing_was_learned(found[0])
    table = metric_vs_m.data(found, part, chosen.metrics)
    marked = spec.n_components if spec.feature_map != "linear" and spec.n_components in chosen.grid else None
    seeds = "one seed" if chosen.seeds == 1 else f"mean and range of {chosen.seeds} seeds"
    wanted = len(specs(spec, chosen))
    if len(found) < wanted:
        seeds += f"; {len(found)} of {wanted} runs have finished"
    event = show_figure(
        metric_vs_m.figure(table, marked, chosen.grid),
        table,
        key="ndcg-against-m",
        alt=f"{', '.join(chosen.metrics)} against the number of features, both maps over the linear level.",
        caption=f"{in_short(chosen, part)}, {seeds}. Mean over queries; {definition_caption(data)}. "
        "Click a point to open its run.",
        on_select="rerun",
    )
    _open_selected(event, found)
    for metric in chosen.metrics:
        st.markdown(bold_sentence(reading(found, part, metric)))
    st.caption("One paired 95 % interval for each m and map; they are not corrected for their number.")


def reading(found: list[RunRecord], part: str, metric: str) -> str:
    """At which m each approximation is distinguishable from the linear model, by the paired intervals."""
    linear = next(r for r in found if r.spec.feature_map == "linear").metrics[part][metric]
    enough = compare(linear, linear).n_needed
    if len(linear) < enough:
        queries = "1 query is" if len(linear) == 1 else f"{len(linear)} queries are"
        return f"By {metric}, {queries} too few to tell any of them apart (95 % takes at least {enough})"
    maps = "; ".join(_against_linear(found, part, metric, name, linear) for name in KERNELS)
    return f"By {metric} with {len(linear)} queries, {maps}"


def _against_linear(
    found: list[RunRecord], part: str, metric: str, name: str, linear: pd.Series[float]
) -> str:
    verdicts = {}
    for m in sorted({r.spec.n_components for r in found if r.spec.feature_map == name}):
        runs = [r for r in found if r.spec.feature_map == name and r.spec.n_components == m]
        over_seeds = sum(r.metrics[part][metric] for r in runs) / len(runs)
        comparison = compare(over_seeds, linear)
        verdicts[m] = int(np.sign(comparison.difference)) if comparison.distinguishable else 0
    return f"{METHODS[name].name} {in_words(verdicts)}"


VERDICTS = {1: "better than", -1: "worse than", 0: "not distinguishable from"}


def in_words(verdicts: dict[int, int]) -> str:
    """Say of m → better (1), worse (−1) or not distinguishable (0) which stretches of m are which."""
    if not verdicts:
        return "has no run yet"
    if set(verdicts.values()) == {0}:
        return "is not distinguishable from the linear model at any m"
    stretches: list[list[int]] = []
    for m in sorted(verdicts):
        if stretches and verdicts[stretches[-1][-1]] == verdicts[m]:
            stretches[-1].append(m)
        else:
            stretches.append([m])
    said = [f"{VERDICTS[verdicts[ms[0]]]} it at m = {_stretch(ms)}" for ms in stretches]
    return "is " + ", ".join(said).replace(" it ", " the linear model ", 1)


def _stretch(ms: list[int]) -> str:
    return f"{ms[0]}" if len(ms) == 1 else f"{ms[0]} to {ms[-1]}"


def _open_selected(event: Any, found: list[RunRecord]) -> None:
    """A button that opens the run behind the point that was clicked."""
    chosen = {point["customdata"][0] for point in event["selection"]["points"] if point.get("customdata")}
    for record in (r for r in found if r.spec.hash in chosen):
        st.button(
            f"Open {method_label(record.spec)}, seed {record.spec.seed} on the Train page",
            icon=":material/open_in_new:",
            key=f"open-{record.spec.hash}",
            on_click=open_run,
            args=(record.spec,),
        )


def numbers(chosen: Settings, found: list[RunRecord], part: str) -> None:
    """The means behind the figure, one row per m, one column per method and metric."""
    with st.expander("Numbers"):
        table = metric_vs_m.data(found, part, chosen.metrics)
        wide = table.assign(method=[METHODS[name].name for name in table["method"]]).pivot_table(
            index="m", columns=["method", "metric"], values="value", aggfunc="mean", sort=False
        )
        wide.columns = [f"{method}, {metric}" for method, metric in wide.columns]
        st.dataframe(wide.sort_index().round(4))
        st.caption("Means over queries and seeds; m = 0 is the linear model.")
