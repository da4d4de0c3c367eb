"""The views of the Data page: one function each, from a part of a fold to figures with their sentences."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.datasets import (
    NORMALISATIONS,
    Fold,
    RankingData,
    Summary,
    describe,
    query_table,
    recognise_fold,
    write_letor,
)
from rankviz.datasets.statistics import CORRELATION, queries_holding
from rankviz.experiments.spec import RunSpec
from rankviz.plots import feature_overview, grades_per_query, normalisation, query_heatmap, query_histograms
from rankviz.plots.style import PART_NAMES, describe_data
from ui import reveal
from ui.show import bold_sentence, show_figure, tiles

PARTS = ("train", "vali")


def part_chosen(spec: RunSpec) -> str:
    """The part to look at: training or validation, or the test part once it is revealed."""
    if reveal.part_shown(spec) == "test":
        return "test"
    return str(
        st.segmented_control(
            "Part",
            PARTS,
            default=PARTS[0],
            required=True,
            format_func=PART_NAMES.__getitem__,
            key="part",
            bind="query-params",
            help="The model learns from the training part; settings are chosen on the validation part.",
        )
    )


def what_it_is(spec: RunSpec, fold: Fold) -> None:
    """Which public set this is, complete or how it deviates."""
    found = recognise_fold(spec.dataset, fold)
    icon = ":material/verified:" if found.complete else ":material/info:"
    st.markdown(f"{icon} {found.sentence}")


def headline(spec: RunSpec, fold: Fold, part: str) -> None:
    """Documents of each query by grade, with their pairs, and which queries most pairs come from."""
    data = fold.parts[part]
    summary, queries = _summary(data.digest, data), _queries(data.digest, data)
    named = {
        "Queries": summary.queries,
        "Documents": summary.documents,
        "Features": summary.features,
        "Preference pairs": summary.pairs,
    }
    for (name, value), column in zip(named.items(), tiles(len(named)), strict=True):
        column.metric(name, f"{value:,}")
    table = grades_per_query.data(queries)
    thinned = (
        f" {len(table):,} of {len(queries):,} queries are drawn, evenly spaced by size."
        if len(table) < len(queries)
        else ""
    )
    show_figure(
        grades_per_query.figure(table),
        table,
        key="grades-per-query",
        alt="Documents of each query by grade, the largest query first, and its preference pairs below.",
        caption=f"{describe_data(spec, part)}. A preference pair is two documents of one query with "
        f"different grades.{thinned}",
    )
    st.markdown(bold_sentence(reading(summary, queries)))


def reading(summary: Summary, queries: pd.DataFrame) -> str:
    """Where the pairs come from, and which queries give none."""
    if summary.pairs == 0:
        return (
            "no query has two documents of different grades, so there is no preference pair and nothing to "
            "learn or to judge by"
        )
    half = queries_holding(0.5, queries["pairs"].to_numpy())
    low, median, high = summary.documents_per_query
    sizes = f"{low:,} documents" if low == high else f"{low:,} to {high:,} documents (median {median:,.0f})"
    relevant = 1 - summary.grades.get(0, 0) / summary.documents
    empty = summary.queries_without_pairs
    without = f"; {_counted(empty)} {'has' if empty == 1 else 'have'} no pair at all" if empty else ""
    return (
        f"half of the {summary.pairs:,} preference pairs come from {half:,} of {_counted(summary.queries)}, "
        f"for pairs grow with the square of a query's size; queries have {sizes}, {relevant:.0%} of them "
        f"graded above 0{without}"
    )


def _counted(n: int) -> str:
    return f"{n:,} {'query' if n == 1 else 'queries'}"


def distributions(spec: RunSpec, fold: Fold, part: str) -> None:
    """Histograms over queries, and documents of each grade."""
    data = fold.parts[part]
    queries = _queries(data.digest, data)
    table, grades = query_histograms.data(queries), query_histograms.grade_totals(queries)
    show_figure(
        query_histograms.figure(table, grades),
        table,
        key="query-histograms",
        alt="Documents by grade, and histograms over queries of documents, relevant share and pairs.",
        caption=f"{describe_data(spec, part)}. {_counted(len(queries))}, "
        f"{int(grades['documents'].sum()):,} documents.",
    )
    with st.expander(f"All {_counted(len(queries))}"):
        st.dataframe(queries, hide_index=True)


def features(spec: RunSpec, fold: Fold, part: str) -> None:
    """Range and correlation with the grade of every feature."""
    data = fold.parts[part]
    table = _features(data.digest, data)
    show_figure(
        feature_overview.figure(table),
        table,
        key="features",
        alt="Correlation of each feature with the grade, and each feature's range.",
        caption=f"{describe_data(spec, part)}. {CORRELATION}. Features as the file has them.",
    )
    st.markdown(bold_sentence(features_reading(table)))
    shown = table.drop(columns=["label"] if data.feature_names else ["label", "name"])
    st.dataframe(shown.round(4), hide_index=True)


def features_reading(table: pd.DataFrame) -> str:
    """The feature most correlated with the grade, how many go the other way, and how many are constant."""
    correlation = table["correlation"]
    constant = int(table["constant"].sum())
    words = (
        [f"{constant} of {len(table)} features {'is' if constant == 1 else 'are'} constant"]
        if constant
        else []
    )
    if correlation.notna().any():
        best = table.loc[correlation.abs().idxmax()]
        negative = int((correlation < 0).sum())
        words.insert(
            0,
            f"{best['label']} goes with the grade most closely (ρ = {best['correlation']:.2f}); "
            f"{negative} of {int(correlation.notna().sum())} correlations are negative",
        )
    else:
        words.insert(0, "no feature varies together with the grade in any query")
    return "; ".join(words)


def one_query(spec: RunSpec, fold: Fold, part: str) -> None:
    """The documents of one query with their grades and features."""
    data = fold.parts[part]
    ids = [int(q) for q in data.query_ids]
    first = int((_queries(data.digest, data)["pairs"].to_numpy() > 0).argmax())
    if st.session_state.get("query", ids[first]) not in ids:
        st.session_state["query"] = ids[first]
    chosen = st.selectbox(
        "Query",
        ids,
        first,
        key="query",
        bind="query-params",
        filter_mode="contains",
        help="A query of the part that is shown.",
    )
    table = query_heatmap.data(data, ids.index(chosen))
    drawn = query_heatmap.thinned(table)
    thinned = (
        f" {len(drawn)} of {len(table):,} documents are drawn, evenly spaced."
        if len(drawn) < len(table)
        else ""
    )
    show_figure(
        query_heatmap.figure(drawn, data.feature_names),
        table,
        key="query-heatmap",
        alt=f"Heat map of the features of the {len(table)} documents of query {chosen}, by grade.",
        caption=f"{describe_data(spec, part)}. Query {chosen}, {len(table):,} documents. Colours run from a "
        f"feature's minimum in this query to its maximum; blank where all its documents agree.{thinned}",
    )
    with st.expander(f"All {len(table):,} documents"):
        st.dataframe(table, hide_index=True)


def normalisations(spec: RunSpec, fold: Fold, part: str) -> None:
    """One feature in every query, before and after each normalisation."""
    labels = _features(fold.parts[part].digest, fold.parts[part])["label"].tolist()
    chosen = st.selectbox(
        "Feature",
        labels,
        key="feature",
        bind="query-params",
        filter_mode="contains",
        help="The feature whose values are drawn.",
    )
    number = labels.index(chosen) + 1
    table = _normalisations(fold.digest, part, number, fold)
    total = fold.parts[part].n_queries
    drawn = int(table["place"].max())
    thinned = f" {drawn} of {total:,} queries are drawn, evenly spaced by median." if drawn < total else ""
    show_figure(
        normalisation.figure(table, spec.normalisation),
        table,
        key="normalisation",
        alt=f"Values of {chosen} in every query under four normalisations.",
        caption=f"{describe_data(spec, part)}, {chosen}. Queries are sorted by their median before "
        "normalising; global z-score learns from the training part."
        f"{thinned}",
    )
    st.markdown(bold_sentence(normalisation_reading(table, chosen)))


def normalisation_reading(table: pd.DataFrame, feature: str) -> str:
    """How much of a feature's variance lies between queries, before and after."""
    between = table.groupby("normalisation", sort=False)["between"].first()
    if np.isnan(between["none"]):
        return f"{feature} has the same value in all documents, and every normalisation makes it 0"
    after = [
        f"{between[key]:.0%} after {NORMALISATIONS[key].label}"
        for key in between.index
        if key != "none" and not np.isnan(between[key])
    ]
    shares = f" ({', '.join(after)})" if after else "; within every query it is constant"
    return (
        f"{between['none']:.0%} of the variance of {feature} lies between queries, which a linear ranking "
        f"cannot use{shares}"
    )


def counts(spec: RunSpec, fold: Fold, part: str) -> None:
    """Counts of the three parts, what they say that matters, and the part as a file."""
    summaries = {PART_NAMES[key]: _summary(data.digest, data) for key, data in fold.parts.items()}
    st.dataframe(
        pd.DataFrame({name: _rows(summary) for name, summary in summaries.items()}), height="content"
    )
    data = fold.parts[part]
    st.download_button(
        f"The {PART_NAMES[part]} part as LETOR text",
        lambda: _letor_text(data),
        f"{spec.dataset.replace('/', '-')}-{spec.fold}-{part}.txt",
        "text/plain",
        key="download-letor",
        icon=":material/download:",
        on_click="ignore",
        help="As read, before normalisation; every feature listed, values exact.",
    )


def _rows(summary: Summary) -> dict[str, str]:
    low, median, high = summary.documents_per_query
    constant = ", ".join(map(str, summary.constant_features[:12]))
    more = ", …" if len(summary.constant_features) > 12 else ""
    rows = {
        "queries": f"{summary.queries:,}",
        "documents": f"{summary.documents:,}",
        "documents per query (least, median, most)": f"{low:,}, {median:,.0f}, {high:,}",
    }
    rows |= {f"documents of grade {grade}": f"{n:,}" for grade, n in summary.grades.items()}
    return rows | {
        "preference pairs": f"{summary.pairs:,}",
        "queries without a relevant document": f"{summary.queries_without_relevant:,}",
        "queries without a pair": f"{summary.queries_without_pairs:,}",
        "features": f"{summary.features:,}",
        "constant features": f"{len(summary.constant_features)}{f' ({constant}{more})' if constant else ''}",
        "documents equal to an earlier one": f"{summary.duplicate_documents:,}",
        "documents with all features 0": f"{summary.zero_documents:,}",
    }


def _letor_text(data: RankingData) -> bytes:
    text = io.BytesIO()
    write_letor(data, text)
    return text.getvalue()


@st.cache_resource(max_entries=64, show_spinner=False)
def _summary(digest: str, _part: RankingData) -> Summary:
    return describe(_part)


@st.cache_resource(max_entries=64, show_spinner=False)
def _queries(digest: str, _part: RankingData) -> pd.DataFrame:
    return query_table(_part)


@st.cache_resource(max_entries=64, show_spinner="Correlating features with grades …")
def _features(digest: str, _part: RankingData) -> pd.DataFrame:
    return feature_overview.data(_part)


@st.cache_resource(max_entries=64, show_spinner="Normalising …")
def _normalisations(digest: str, part: str, feature: int, _fold: Fold) -> pd.DataFrame:
    return normalisation.data(_fold, part, feature)
