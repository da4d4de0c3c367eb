"""Tabs below the NDCG-against-m curve: one query over m, distance to the exact ranking, and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.reference_runs import TOP, objective_table, ranking_error_table
from rankviz.common.settings import SEED
from rankviz.datasets import RankingData
from rankviz.features import EXACT, FEATURE_MAPS
from rankviz.metrics import top_overlap
from rankviz.plots import metric_vs_m, ranked_list
from rankviz.plots.style import style_of
from rankviz.runs.description import look_of, method_label
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec
from ui.controls.curves import described, is_curve, kernels, listed, names
from ui.controls.selection import QUERY
from ui.controls.widgets import Bound
from ui.ndcg_vs_m.views import Settings, data_of, in_short, maps, marked
from ui.ndcg_vs_m.words import ALTS, CAPTIONS, HELP, INFOS, agreement, of_look
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import Figures, show_answer, show_figure, show_table

FIGURES = Figures(ALTS, CAPTIONS)
LENGTHS = {"top": f"first {TOP}", "all": "all"}


@st.fragment
@errors_as_sentences()
def one_query(spec: RunSpec, found: list[RunRecord], part: str) -> None:
    """Draw the rank of each document of a query against m, with the exact ranking at the right."""
    data = data_of(spec, spec.fold, part)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    feature_map, length = _rankings_drawn(row, spec)
    here = [r for r in found if r.spec.fold == spec.fold]
    seed = int(st.session_state[SEED.key])
    runs = [r for r in of_look(here, feature_map) if r.spec.get(SEED.name, seed) == seed]
    exact = next(iter(of_look(here, EXACT)), None)
    if not runs:
        st.info(INFOS["no run"], icon=":material/hourglass_empty:")
        return
    query = _query(row, runs, exact, data, part)
    table = ranked_list.ranks_data(runs, exact, data, part, [int(q) for q in data.query_ids].index(query))
    n = int(table["rank"].max())
    k = min(TOP, n) if length == "top" else n
    last = "the exact ranking at the right end" if exact else "without the exact ranking"
    some = "lines through the bottom go to lower ranks"
    FIGURES.show(
        "rank-against-m",
        ranked_list.ranks_figure(table, k),
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
        help=HELP["bump"],
    )
    return str(feature_map), Bound(row, HELP).buttons("documents", "Documents", LENGTHS)


def _query(
    row: DeltaGenerator, runs: list[RunRecord], exact: RunRecord | None, data: RankingData, part: str
) -> int:
    """Return the chosen query; by default the one whose top changes most."""
    queries = [int(q) for q in data.query_ids]
    first, *others = sorted(runs, key=lambda r: r.spec.n_components)
    last = exact or (others or [first])[-1]
    most = queries[int(top_overlap(first.scores[part], last.scores[part], data, TOP).argmin())]
    hint = HELP["query"].format(m=first.spec.n_components)
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
    exact = [record for record in of_look(found, EXACT) if record.objective > 0]
    if of_look(found, EXACT) and not exact:
        st.info(INFOS["no pairs"])
        return
    if not exact:
        why = "when its run has finished" if chosen.exact else "when it is switched on under More"
        st.info(INFOS["no exact"].format(why=why))
        return
    errors = ranking_errors_of(spec, found, part)
    table = metric_vs_m.agreement_data(errors)
    if table.empty:
        st.info(INFOS["no query"])
        return
    m = marked(spec, chosen) or chosen.grid[-1]
    queries = errors.groupby(["fold", "query"]).ngroups
    seeds = ", mean over seeds; band: least to greatest" if chosen.seeds > 1 else ""
    about = CAPTIONS["ranking-error"].format(about=in_short(chosen, part), queries=queries, seeds=seeds)
    show_answer(agreement(errors, m))
    for measure, column in zip(metric_vs_m.MEASURES, st.columns(2, gap="medium"), strict=True):
        with column:
            show_figure(
                metric_vs_m.agreement_figure(table, measure, chosen.grid, marked(spec, chosen)),
                table[table["measure"] == measure],
                key=f"ranking-error-{measure}",
                alt=ALTS["ranking-error"].format(measure=metric_vs_m.MEASURES[measure], names=_names()),
                caption=CAPTIONS[measure].format(top=TOP) + about,
            )
    _objectives(spec, chosen, found, exact)


def _objectives(spec: RunSpec, chosen: Settings, found: list[RunRecord], exact: Sequence[RunRecord]) -> None:
    each = {one.spec.fold: objective_table(_approximate(found, one.spec.fold), one) for one in exact}
    table = pd.concat(each, names=["fold"]).reset_index("fold")
    figure = metric_vs_m.objective_figure(
        metric_vs_m.objective_data(table), exact[0].spec.tol, chosen.grid, marked(spec, chosen)
    )
    told = {"names": _names(), "about": in_short(chosen, "train"), "lower": _which_may_be_lower()}
    FIGURES.show("objective-distance", figure, table, **told)


def _names() -> str:
    return names(kernels(st.session_state))


def _which_may_be_lower() -> str:
    """Say on which side of the exact objective those of the maps may be."""
    within = [style_of(name).name for name in maps() if FEATURE_MAPS[name].expands]
    beyond = [style_of(name).name for name in maps() if not FEATURE_MAPS[name].expands]
    told = []
    if within:
        told.append(f"{listed(within)}: the best F̃ is never below F (a part of the exact kernel's span)")
    if beyond:
        told.append(f"with {listed(beyond)} it may be lower (hollow)")
    return f"{'; '.join(told)}."


def _approximate(found: Sequence[RunRecord], fold: str) -> list[RunRecord]:
    return [r for r in found if r.spec.fold == fold and is_curve(r.spec)]


def ranking_errors_of(spec: RunSpec, found: Sequence[RunRecord], part: str) -> pd.DataFrame:
    """Return τ and overlap of approximate and exact runs: map, choice, m, seed, query, fold."""
    tables, line = [], st.empty()
    pairs = [(one, r) for one in of_look(found, EXACT) for r in _approximate(found, one.spec.fold)]
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
    st.caption(CAPTIONS["numbers"])
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
