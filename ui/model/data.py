"""The views of the Data page: each function turns a part of a fold into figures with sentences."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.datasets import (
    Fold,
    RankingData,
    describe,
    query_table,
    recognise_fold,
    write_letor,
)
from rankviz.datasets.statistics import CORRELATION
from rankviz.plots import data_overview
from rankviz.runs.description import PART_NAMES
from rankviz.runs.given import write_qrels
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import Bound, part_shown
from ui.model import data_words as words
from ui.model.data_words import (
    counted,
)
from ui.shell.figures import folded, show_figure, show_table, tiles
from ui.shell.server import MOST_DOWNLOADS, bytes_of_downloads
from ui.shell.terms import meaning
from ui.work.folds import fold_later

_by_digest = partial(st.cache_resource, max_entries=64, hash_funcs={RankingData: lambda data: data.digest})
_summary = _by_digest(show_spinner=False)(describe)
_queries = _by_digest(show_spinner=False)(query_table)
_features = _by_digest(show_spinner=words.CORRELATING)(data_overview.features_data)


def part_chosen(spec: RunSpec) -> str:
    """Return the chosen part: training or validation, or the test part once it is revealed."""
    if part_shown(spec) == "test":
        return "test"
    parts = {part: PART_NAMES[part] for part in ("train", "vali")}
    return str(Bound().buttons("part", "Part", parts, label_visibility="collapsed"))


def _thinned(drawn: int, of: int, what: str) -> str:
    """Say that a figure shows some of its queries or documents; "" if it shows all."""
    return words.THINNED.format(drawn=drawn, of=of, what=what) if drawn < of else ""


def show_origin(spec: RunSpec, fold: Fold) -> None:
    """Say that the set is synthetic, or which public set it is and how it deviates."""
    found = recognise_fold(spec.dataset, fold)
    icon = ":material/verified:" if found.complete else ":material/info:"
    st.markdown(f"{icon} {words.synthetic(spec.dataset) or found.sentence}")


def headline(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw the documents of each query by grade, with their pairs, and name the queries with most pairs."""
    data = fold.parts[part]
    summary, queries = _summary(data), _queries(data)
    table = data_overview.grades_data(queries)
    thinned = _thinned(len(table), len(queries), "queries, evenly spaced by size")
    show_figure(
        data_overview.grades_figure(table),
        table,
        answer=words.reading(summary, queries),
        key="grades-per-query",
        caption=f"{words.described(spec, part)}. {words.PAIR}{thinned}",
    )
    named = {
        "Queries": summary.queries,
        "Documents": summary.documents,
        "Features": summary.features,
        "Preference pairs": summary.pairs,
    }
    for (name, value), column in zip(named.items(), tiles(len(named)), strict=True):
        column.metric(name, f"{value:,}", help=meaning(name.removesuffix("s")))


def distributions(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw histograms over queries, and documents of each grade."""
    data = fold.parts[part]
    queries = _queries(data)
    table, grades = data_overview.histograms_data(queries), data_overview.grade_totals(queries)
    show_figure(
        data_overview.histograms_figure(table, grades),
        table,
        key="query-histograms",
        caption=f"{words.described(spec, part)}. "
        f"{words.histograms(len(queries), int(grades['documents'].sum()))}",
    )
    label = f"All {counted(len(queries))}"
    folded(label, "data-queries-table", lambda: show_table(queries, hide_index=True))


def features(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw range and correlation with the grade for every feature."""
    data = fold.parts[part]
    table = _features(data)
    show_figure(
        data_overview.features_figure(table),
        table,
        answer=words.features_reading(table),
        key="features",
        caption=words.FEATURES.format(described=words.described(spec, part), CORRELATION=CORRELATION),
    )
    shown = table.drop(columns=["label"] if data.feature_names else ["label", "name"])
    show_table(shown.round(4), hide_index=True)


def one_query(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw the documents of one query with their grades and features."""
    data = fold.parts[part]
    ids = [int(q) for q in data.query_ids]
    first = int((_queries(data)["pairs"].to_numpy() > 0).argmax())
    about = {"filter_mode": "contains", "help": "Of the part shown."}
    chosen = Bound().menu_of_data("query", "Query", ids, first, **about)
    table = data_overview.heatmap_data(data, ids.index(chosen))
    drawn = data_overview.thinned_documents(table)
    thinned = _thinned(len(drawn), len(table), "documents, evenly spaced")
    show_figure(
        data_overview.heatmap_figure(drawn, data.feature_names),
        table,
        key="query-heatmap",
        caption=f"{words.described(spec, part)}. "
        f"{words.HEATMAP.format(query=chosen, documents=len(table))}{thinned}",
    )
    folded(
        f"All {len(table):,} documents", "data-documents-table", lambda: show_table(table, hide_index=True)
    )


def normalisations(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw one feature in every query, before and after each normalisation."""
    labels = _features(fold.parts[part])["label"].tolist()
    about = {"filter_mode": "contains", "help": "The feature to draw."}
    chosen = Bound().menu("feature", "Feature", labels, **about)
    number = labels.index(chosen) + 1
    table = _normalisations(fold.digest, part, number, fold)
    total = fold.parts[part].n_queries
    drawn = int(table["place"].max())
    thinned = _thinned(drawn, total, "queries, evenly spaced by median")
    show_figure(
        data_overview.normalisation_figure(table, spec.normalisation),
        table,
        answer=words.normalisation_reading(table, chosen),
        key="normalisation",
        caption=f"{words.described(spec, part)}, {words.NORMALISED.format(feature=chosen)}{thinned}",
    )


def counts(spec: RunSpec, fold: Fold, part: str) -> None:
    """Draw counts of the three parts, important remarks, and a download of the part."""
    summaries = {PART_NAMES[key]: _summary(data) for key, data in fold.parts.items()}
    show_table(
        pd.DataFrame({name: words.rows(summary) for name, summary in summaries.items()}), height="content"
    )
    later, row = fold_later(spec), st.container(horizontal=True)
    row.download_button(
        f"The {PART_NAMES[part]} part as LETOR text",
        lambda: _written(write_letor, later().parts[part]),
        f"{spec.dataset.replace('/', '-')}-{spec.fold}-{part}.txt",
        "text/plain",
        key="download-letor",
        icon=":material/download:",
        on_click="ignore",
        help=words.DOWNLOAD,
    )
    row.download_button(
        "Its grades as TREC's qrels",
        lambda: _written(write_qrels, later().parts[part]),
        f"{spec.dataset.replace('/', '-')}-{spec.fold}-{part}.qrels",
        "text/plain",
        key="download-qrels",
        icon=":material/download:",
        on_click="ignore",
    )


def _written(write: Callable[[RankingData, io.BytesIO], object], data: RankingData) -> bytes:
    if bytes_of_downloads() > MOST_DOWNLOADS:
        raise SettingError(words.DOWNLOADS_FULL)
    text = io.BytesIO()
    write(data, text)
    return text.getvalue()


@st.cache_resource(max_entries=64, show_spinner="Normalising …")
def _normalisations(digest: str, part: str, feature: int, _fold: Fold) -> pd.DataFrame:
    return data_overview.normalisation_data(_fold, part, feature)
