"""The NDCG-against-m page: its runs, figure and sentences. Its tabs on samples: ndcg_vs_m_samples.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.reference_runs import TOP, objective_table, ranking_error_table
from rankviz.common.errors import SettingError
from rankviz.common.numbers import unbroken
from rankviz.common.settings import SEED
from rankviz.datasets import DataError, RankingData
from rankviz.features import EXACT, FEATURE_MAPS
from rankviz.learning.solvers import SOLVER, check_kernel_space
from rankviz.metrics import top_overlap
from rankviz.plots import metric_vs_m, ranked_list
from rankviz.plots.style import style_of
from rankviz.runs.description import fold_words, in_a_sentence, look_of, method_label
from rankviz.runs.estimate import check_budget
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec
from ui.controls.compared import seeded
from ui.controls.curves import (
    approximate_specs,
    described,
    is_curve,
    kernels,
    listed,
    report_left_out,
)
from ui.controls.selection import QUERY
from ui.controls.settings import baseline, open_run, spec_from_state
from ui.controls.widgets import COMPONENTS, THIS, Bound, chosen_folds, metric_menu
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import (
    Figures,
    capital,
    definition_caption,
    once,
    report_ties,
    report_untrained,
    sentence,
    show_answer,
    show_figure,
    show_table,
)
from ui.shell.texts import describe, escaped
from ui.shell.words import SO_FAR
from ui.study import ndcg_vs_m_words as texts
from ui.work.folds import normalised
from ui.work.jobs import predicted, run_available

FIGURE_2 = ("NDCG@1", "NDCG@3", "MeanNDCG", "MAP")
LARGEST_AT_ONCE = 500
NOTHING_YET = "no level to compare with yet"
AXES = {"m": "features m", "seconds": "seconds"}
FIGURES = Figures(captions=texts.CAPTIONS)
LENGTHS = {"top": f"first {TOP}", "all": "all"}


@dataclass(frozen=True)
class Settings:
    """Controls that this page adds to the sidebar."""

    metrics: tuple[str, ...]
    seeds: int
    grid: tuple[int, ...]
    folds: tuple[str, ...]
    x: str
    exact: bool


def settings(spec: RunSpec) -> Settings:
    """Draw the page's own controls."""
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"), texts.HELP)
    metric = row.place.container(width=150)
    x = row.buttons("xaxis", "Against", AXES)
    folds = chosen_folds(row, spec, "folds", THIS)
    seeds = row.slider("seeds", "Seeds", 1, 10, width=150)
    upto = row.steps("upto", "Up to m", COMPONENTS[1:], LARGEST_AT_ONCE, width=200)
    more = row.at(row.place.expander("More", type="compact"))
    exact = more.switch("exact", "Exact kernel", True)
    four = more.switch("figure2", "Four panels of chen2017's Figure 2")
    chosen = metric_menu(metric, disabled=four, help=texts.HELP["metric"], width="stretch")
    grid = tuple(m for m in COMPONENTS if m <= upto)
    return Settings(FIGURE_2 if four else (chosen,), seeds, grid, folds, x, exact)


def specs(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """Return the linear model of every fold, approximations, the exact kernel, and the sidebar's model."""
    state = st.session_state
    linear, exact, curves = baseline(state), spec_from_state(state, EXACT), kernels(state)
    report_left_out(approximate_specs(state)[1])
    runs = [linear.but(fold=fold) for fold in chosen.folds] + [
        seeded(curve, k).but(n_components=m, fold=fold)
        for k in range(chosen.seeds)
        for curve in curves
        for fold in chosen.folds
        for m in chosen.grid
    ]
    own = [] if spec in (linear, exact, *curves) else [spec]
    for level in [exact] * chosen.exact + own:
        runs += affordable(level, chosen.folds)
    return list(dict.fromkeys(runs))


def maps() -> list[str]:
    """Return the maps whose curves are drawn, by their looks."""
    return [look_of(curve) for curve in kernels(st.session_state)]


def affordable(spec: RunSpec, folds: Sequence[str]) -> list[RunSpec]:
    """Return the runs of every fold, or none with a message if one is impossible."""
    runs = [spec.but(fold=fold) for fold in folds]
    try:
        for run in runs:
            _check(run)
    except (DataError, SettingError) as error:
        st.caption(f"{capital(in_a_sentence(spec))} is left out: {escaped(error)}")
        return []
    return runs


def _check(run: RunSpec) -> None:
    """Raise `DataError` if a run does not fit into memory, `SettingError` if its solver cannot make it."""
    cost = predicted(run)
    check_budget(cost)
    if cost.sizes.in_kernel_space and run.declared().get(SOLVER.name) is SOLVER:
        check_kernel_space(run.solver, cost.shape.n)


def records(
    spec: RunSpec, chosen: Settings, beside: Sequence[RunSpec]
) -> tuple[list[RunRecord], dict[RunSpec, RunRecord], bool]:
    """Return the existing runs of the curve: a model appears once all its folds exist.

    Also return the open tab's further runs, by their specs, and True if the curve has all its runs.
    """
    wanted = specs(spec, chosen)
    whole = run_available(
        list(dict.fromkeys([*wanted, *beside])),
        title=f"NDCG against m, {spec.dataset}",
        together=lambda run: run.but(fold="", digest=""),
        needed=is_curve,
    )
    found = [whole[run] for run in wanted if run in whole]
    return found, {run: whole[run] for run in beside if run in whole}, len(found) == len(wanted)


def in_short(chosen: Settings, part: str) -> str:
    """Describe the page's subject: all maps over a range of m, with the sidebar's other settings."""
    first = int(st.session_state[SEED.key])
    labels = {SEED.name: f"seeds {first} to {first + chosen.seeds - 1}"} if chosen.seeds > 1 else {}
    curves = kernels(st.session_state)
    folds = curves[0].fold if len(chosen.folds) == 1 else f"{len(chosen.folds)} folds"
    curves = [curve.but(fold=folds) for curve in curves]
    return str(described(curves, part, chosen.grid[0], chosen.grid[-1], **labels))


def _say_levels(found: list[RunRecord], part: str) -> None:
    """Draw a line for each model shown as a level, with settings that differ from the curves."""
    shared = dict(described(kernels(st.session_state), part, 1, 1).settings)
    levels = {record.spec.but(digest="", fold="") for record in found if not is_curve(record.spec)}
    lines = []
    for spec in sorted(levels, key=method_label):
        settings = describe(spec).without(SEED.name).settings
        own = [words for name, words in settings if words != shared.get(name)]
        lines += [f"Horizontal line: {method_label(spec)} with {listed(own)}."] if own else []
    if lines:
        st.caption("  \n".join(lines))


def data_of(spec: RunSpec, fold: str, part: str) -> RankingData:
    """Return a part of a fold, normalised for the spec."""
    return normalised(spec.but(fold=fold)).parts[part]


def headline(spec: RunSpec, chosen: Settings, found: list[RunRecord], part: str, *, whole: bool) -> None:
    """Draw the curves with linear and exact levels, their sentences, and a button for a clicked point.

    Without the whole curve, each sentence says "so far".
    """
    report_untrained(found[0])
    table = metric_vs_m.metric_data(found, part, chosen.metrics)
    definition = definition_caption(*(data_of(spec, fold, part) for fold in chosen.folds))
    answers = {
        metric: texts.reading(found, part, metric, maps()) or [NOTHING_YET] for metric in chosen.metrics
    }
    parts = [words for of_metric in answers.values() for words in of_metric]
    answer = texts.enough(found, part, chosen.metrics[0], maps()) or parts.pop(0)
    if not whole:
        answer, *parts = (one if one == NOTHING_YET else SO_FAR + one for one in (answer, *parts))
    figure = once(_clickable, table, marked(spec, chosen), chosen.grid, chosen.x)
    event = Figures(captions=texts.CAPTIONS).show(
        "ndcg-against-m",
        figure,
        table,
        answer,
        on_select="rerun",
        about=in_short(chosen, part),
        band=_band_in_words(chosen),
        definition=definition,
        seconds=texts.CAPTIONS["seconds"] if chosen.x == "seconds" else "",
    )
    report_ties({part: found}, chosen.metrics)
    _open_selected(event, found)
    _say_levels(found, part)
    for words in parts:
        st.markdown(unbroken(sentence(words)))
    if chosen.x == "seconds":
        st.markdown(texts.seconds_in_words(found, chosen.grid[-1], maps()))
    st.caption(texts.CAPTIONS["intervals"])


def _clickable(*given: Any) -> go.Figure:
    """Return the figure of curves; a click offers the run, so it must not fade other points."""
    figure = metric_vs_m.metric_figure(*given)
    return figure.update_traces(unselected={"marker": {"opacity": 1}}, selector={"type": "scatter"})


def marked(spec: RunSpec, chosen: Settings) -> int | None:
    """Return the sidebar's m, if it is used and in the grid."""
    return spec.n_components if is_curve(spec) and spec.n_components in chosen.grid else None


def _band_in_words(chosen: Settings) -> str:
    folds, seeds = len(chosen.folds), chosen.seeds
    of = [f"{folds} folds"] * (folds > 1) + [f"{seeds} seeds"] * (seeds > 1)
    if not of:
        return "Mean over queries, one seed"
    band = "bars" if chosen.x == "seconds" else "band"
    line = "mean over folds of the mean over queries" if folds > 1 else "mean over queries and seeds"
    text = texts.CAPTIONS["band"].format(line=line, band=band, of=" × ".join(of))
    return text + (texts.CAPTIONS["folds"] if folds > 1 else "")


def _open_selected(event: Any, found: list[RunRecord]) -> None:
    """Draw a button that opens the run of the clicked point."""
    chosen = {point["customdata"][0] for point in event["selection"]["points"] if point.get("customdata")}
    for record in (r for r in found if r.spec.hash in chosen):
        drawn = f", seed {record.spec.seed}" if SEED.name in record.spec else ""
        st.button(
            f"Open {method_label(record.spec)}{drawn}, {fold_words(record.spec.fold)} on the Train page",
            icon=":material/open_in_new:",
            key=f"open-{record.spec.hash}",
            on_click=open_run,
            args=(record.spec,),
        )


@st.fragment
@errors_as_sentences()
def one_query(spec: RunSpec, found: list[RunRecord], part: str) -> None:
    """Draw the rank of each document of a query against m, with the exact ranking at the right."""
    data = data_of(spec, spec.fold, part)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    feature_map, length = _rankings_drawn(row, spec)
    here = [r for r in found if r.spec.fold == spec.fold]
    seed = int(st.session_state[SEED.key])
    runs = [r for r in texts.of_look(here, feature_map) if r.spec.get(SEED.name, seed) == seed]
    exact = next(iter(texts.of_look(here, EXACT)), None)
    if not runs:
        st.info(texts.INFOS["no run"], icon=":material/hourglass_empty:")
        return
    query = _query(row, runs, exact, data, part)
    table = ranked_list.ranks_data(runs, exact, data, part, [int(q) for q in data.query_ids].index(query))
    n = int(table["rank"].max())
    k = min(TOP, n) if length == "top" else n
    last = "the exact ranking at the right end" if exact else "without the exact ranking"
    some = "lines through the bottom: lower ranks"
    FIGURES.show(
        "rank-against-m",
        once(ranked_list.ranks_figure, table, k),
        table,
        _bump_reading(table, feature_map, query, min(TOP, n), exact is not None),
        query=query,
        n=n,
        map=style_of(feature_map).name,
        last=last,
        some=some if k < n else "all documents",
        about=_about(runs, part),
    )


def _about(runs: list[RunRecord], part: str) -> str:
    """Describe the spec of runs, with the range of m."""
    ms = [r.spec.n_components for r in runs]
    return str(described([runs[0].spec], part, min(ms), max(ms)))


def _rankings_drawn(row: DeltaGenerator, spec: RunSpec) -> tuple[str, str]:
    feature_map = row.segmented_control(
        "Approximation",
        maps(),
        default=look_of(spec) if is_curve(spec) else maps()[0],
        required=True,
        format_func=lambda name: style_of(name).name,
        key="bump",
        help=texts.HELP["bump"],
    )
    return str(feature_map), Bound(row, texts.HELP).buttons("documents", "Documents", LENGTHS)


def _query(
    row: DeltaGenerator, runs: list[RunRecord], exact: RunRecord | None, data: RankingData, part: str
) -> int:
    """Return the chosen query; by default the one whose top changes most."""
    queries = [int(q) for q in data.query_ids]
    first, *others = sorted(runs, key=lambda r: r.spec.n_components)
    last = exact or (others or [first])[-1]
    most = queries[int(top_overlap(first.scores[part], last.scores[part], data, TOP).argmin())]
    hint = texts.HELP["query"].format(m=first.spec.n_components)
    chosen = Bound(row).optional_menu(QUERY, "Query", queries, f"{most}, changes most", width=260, help=hint)
    return most if chosen is None else int(chosen)


def _bump_reading(table: pd.DataFrame, feature_map: str, query: int, k: int, exact: bool) -> str:
    kept = ranked_list.kept_in_top(table, k).iloc[:-1]
    labels = table.drop_duplicates("place").set_index("place")["label"]
    if kept.empty:
        return f"Query {query} has one ranking so far"
    ends = [f"{kept.iloc[place]} at m = {labels[kept.index[place]]}" for place in sorted({0, len(kept) - 1})]
    goal = "in the exact ranking" if exact else f"at m = {labels.iloc[-1]}"
    return (
        f"Of the first {k} documents of query {query} {goal}, {style_of(feature_map).name} has "
        f"{', '.join(ends)}"
    )


def ranking_error(spec: RunSpec, chosen: Settings, found: list[RunRecord], part: str) -> None:
    """Draw Kendall's τ and top-10 overlap with the exact ranking, and the distance of objectives."""
    exact = [record for record in texts.of_look(found, EXACT) if record.objective > 0]
    if texts.of_look(found, EXACT) and not exact:
        st.info(texts.INFOS["no pairs"])
        return
    if not exact:
        why = "when its run has finished" if chosen.exact else "when it is switched on under More"
        st.info(texts.INFOS["no exact"].format(why=why))
        return
    errors = ranking_errors_of(spec, found, part)
    table = metric_vs_m.agreement_data(errors)
    if table.empty:
        st.info(texts.INFOS["no query"])
        return
    m = marked(spec, chosen) or chosen.grid[-1]
    queries = errors.groupby(["fold", "query"]).ngroups
    seeds = ", mean over seeds; band: least to greatest" if chosen.seeds > 1 else ""
    about = texts.CAPTIONS["ranking-error"].format(about=in_short(chosen, part), queries=queries, seeds=seeds)
    show_answer(texts.agreement(errors, m))
    for measure, column in zip(metric_vs_m.MEASURES, st.columns(2, gap="medium"), strict=True):
        with column:
            show_figure(
                metric_vs_m.agreement_figure(table, measure, chosen.grid, marked(spec, chosen)),
                table[table["measure"] == measure],
                key=f"ranking-error-{measure}",
                caption=texts.CAPTIONS[measure].format(top=TOP) + about,
            )
    _objectives(spec, chosen, found, exact)


def _objectives(spec: RunSpec, chosen: Settings, found: list[RunRecord], exact: Sequence[RunRecord]) -> None:
    each = {one.spec.fold: objective_table(_approximate(found, one.spec.fold), one) for one in exact}
    table = pd.concat(each, names=["fold"]).reset_index("fold")
    figure = metric_vs_m.objective_figure(
        metric_vs_m.objective_data(table), exact[0].spec.tol, chosen.grid, marked(spec, chosen)
    )
    lower = _which_may_be_lower()
    FIGURES.show("objective-distance", figure, table, about=in_short(chosen, "train"), lower=lower)


def _which_may_be_lower() -> str:
    """Say on which side of the exact objective those of the maps may be."""
    within = [style_of(name).name for name in maps() if FEATURE_MAPS[name].expands]
    beyond = [style_of(name).name for name in maps() if not FEATURE_MAPS[name].expands]
    parts = []
    if within:
        parts.append(f"{listed(within)}: the best F̃ is never below F (a part of the exact kernel's span)")
    if beyond:
        parts.append(f"with {listed(beyond)} it may be lower (hollow)")
    return f"{'; '.join(parts)}."


def _approximate(found: Sequence[RunRecord], fold: str) -> list[RunRecord]:
    return [r for r in found if r.spec.fold == fold and is_curve(r.spec)]


def ranking_errors_of(spec: RunSpec, found: Sequence[RunRecord], part: str) -> pd.DataFrame:
    """Return τ and overlap of approximate and exact runs: map, choice, m, seed, query, fold."""
    tables, line = [], st.empty()
    pairs = [(one, r) for one in texts.of_look(found, EXACT) for r in _approximate(found, one.spec.fold)]
    for done, (one, record) in enumerate(pairs):
        if done % 20 == 19:
            line.progress(done / len(pairs), f"Comparing rankings, {done} of {len(pairs)}")
        data = data_of(spec, one.spec.fold, part)
        table = _errors(record.spec.hash, one.spec.hash, part, record, one, data)
        tables.append(table.assign(fold=one.spec.fold))
    line.empty()
    return pd.concat(tables, ignore_index=True)


@st.cache_resource(max_entries=4096, show_spinner=False)
def _errors(
    ours: str, theirs: str, part: str, _record: RunRecord, _exact: RunRecord, _data: RankingData
) -> pd.DataFrame:
    return ranking_error_table([_record], _exact, _data, part)


def numbers(chosen: Settings, found: list[RunRecord], part: str) -> None:
    """Draw the means behind the figure, one row per m, one column per method and metric; and every run."""
    table = metric_vs_m.metric_data(found, part, chosen.metrics)
    wide = table.pivot_table(
        index="m", columns=["label", "metric"], values="value", aggfunc="mean", sort=False
    )
    wide.columns = [f"{label}, {metric}" for label, metric in wide.columns]
    show_table(wide.sort_index().round(4))
    st.caption(texts.CAPTIONS["numbers"])
    st.markdown("**Every run**")
    runs = pd.DataFrame(
        {
            "model": [method_label(r.spec) for r in found],
            "fold": [r.spec.fold for r in found],
            "seed": pd.array([r.spec.get(SEED.name) for r in found], "Int64"),
            **{
                name: [round(float(r.metrics[part][name].mean()), 4) for r in found]
                for name in chosen.metrics
            },
            "objective": [r.objective for r in found],
            "training seconds": [round(training_seconds(r), 4) for r in found],
            "started from": [r.start for r in found],
        }
    )
    show_table(runs, hide_index=True)
