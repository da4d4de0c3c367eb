"""The views of the Low rank page: spectra of the dual variables, one query's matrix, why its rank is low."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots import dim_histogram, dual_heatmap, energy_curve, rank_by_activity, singular_values
from rankviz.plots.style import describe, small
from rankviz.progress import Progress
from rankviz.spectra import MATRICES, RunDuals, Spectra, spectra
from ui.show import bold_sentence, show_figure

ORDER_NAMES = {"grade": "grade, then score", "score": "score"}


def matrix_choice() -> str:
    """Draw the choice of the matrix and say what it is; returns its name in `MATRICES`."""
    chosen = st.segmented_control(
        "Matrix of each query's dual variables α",
        list(MATRICES),
        format_func=lambda name: MATRICES[name].label,
        key="matrix",
        default="block",
        required=True,
        bind="query-params",
        help="xu2019 defines A. The ranks it prints fit A + Aᵀ, so both are here: see “Why so low?” below.",
    )
    name = str(chosen or "block")
    st.caption(f"{MATRICES[name].meaning}.")
    return name


def spectra_of(record: RunRecord, train: RankingData, matrix: str) -> Spectra:
    """The spectra of a run, computed once with progress shown meanwhile; ends the page if there are none."""
    kept = _kept(record.spec, matrix)
    if not kept:
        line = st.empty()

        def tell(progress: Progress) -> None:
            line.progress(progress.fraction or 0.0, "Taking singular values")

        kept.append(spectra(record, train, matrix, tell))
        line.empty()
    if len(kept[0].table) == 0:
        st.info(f"There are no singular values to show; {left_out(kept[0])}.")
        st.stop()
    return kept[0]


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept(spec: RunSpec, matrix: str) -> list[Spectra]:
    """A place for the spectra of a spec, empty at first."""
    return []


def left_out(found: Spectra) -> str:
    """Which queries the spectra leave out, in words."""
    parts = []
    if found.n_without_pairs:
        parts.append(f"{_queries(found.n_without_pairs)} without a preference pair")
    if found.n_zero:
        parts.append(f"{_queries(found.n_zero)} where every margin is at least 1, so that α = 0")
    return f"left out: {' and '.join(parts)}" if parts else "no query is left out"


def _queries(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"


def headline(record: RunRecord, found: Spectra) -> None:
    """Dim_90 and Dim_100 over the queries, with what the grades allow, and the sentence that answers."""
    table = dim_histogram.data(found)
    show_figure(
        dim_histogram.figure(table, record.spec.feature_map),
        table,
        key="dim-histogram",
        alt="Histogram over queries of the share of dimensions that the dual variables need.",
        caption=f"{describe(record.spec, 'train')}. {_queries(len(found.table))}; {left_out(found)}. After "
        "xu2019 Figure 2; singular values up to 10⁻⁶ of the largest count as zero.",
    )
    st.markdown(bold_sentence(reading(found.table)))
    st.markdown(_law_reading(record.spec, found.table))


def reading(table: pd.DataFrame) -> str:
    """How few singular values most queries need, and the median rank, from the table of spectra."""
    k, rank, documents = (int(table[name].quantile(0.5, "lower")) for name in ("k_90", "rank", "documents"))
    reached = int((table["k_90"] <= k).sum())
    with_k = "1 singular value" if k == 1 else f"at most {k} singular values"
    return (
        f"{reached} of {_queries(len(table))} reach 90 % of their energy with {with_k}; the median numerical "
        f"rank is {rank}, the median number of documents {documents}"
    )


def _law_reading(spec: RunSpec, table: pd.DataFrame) -> str:
    if spec.loss != "squared_hinge" or spec.costs is not None:
        return "The bound on the rank is that of the plain squared hinge; this model was trained otherwise."
    lawful = table[table["active"] == table["pairs"]]
    if len(lawful) == 0:
        return "In no query is every pair active (margin below 1), so the rank is bounded by the grades only."
    bound, largest = int(lawful["law"].max()), int(lawful["rank"].max())
    return (
        f"In {_queries(len(lawful))} every pair is active (margin below 1). The squared hinge then allows a "
        f"rank of at most {bound}, whatever the model has learned; the largest found there is {largest}."
    )


def one_query(record: RunRecord, train: RankingData, found: Spectra, matrix: str) -> None:
    """One query's matrix as a heat map beside its singular values."""
    queries = [int(q) for q in found.table["query"]]
    if st.session_state.get("block") not in queries:
        st.session_state["block"] = queries[0]
    left, right = st.columns(2)
    chosen = left.selectbox(
        "Query",
        queries,
        key="block",
        bind="query-params",
        help="A query of the training part that has dual variables.",
    )
    order = right.segmented_control(
        "Documents sorted by",
        list(ORDER_NAMES),
        format_func=ORDER_NAMES.__getitem__,
        key="order",
        default="grade",
        required=True,
        bind="query-params",
        help="By grade the blocks of two grades lie together; by score the border of the active pairs shows.",
    )
    position = queries.index(chosen)
    row = found.table.iloc[position]
    left, right = st.columns([3, 2])
    with left:
        _heatmap(record, train, row, matrix, str(order or "grade"))
    with right:
        _singular_values(record, found, position)


def _heatmap(record: RunRecord, train: RankingData, row: pd.Series, matrix: str, order: str) -> None:
    spec, query = record.spec, int(row["query"])
    at = train.query_ids.tolist().index(query)
    block = RunDuals(record, train).block(at)
    table = dual_heatmap.data(block, matrix, order)
    sides = dual_heatmap.SIDES[matrix](block)
    drawn = int(table["row"].max()), int(table["column"].max())
    sampled = (
        f" Drawn: {drawn[0]} of {len(sides[0])} rows, {drawn[1]} of {len(sides[1])} columns, evenly spaced."
        if max(map(len, sides)) > dual_heatmap.MOST
        else ""
    )
    show_figure(
        dual_heatmap.figure(table, matrix, order),
        table,
        key="dual-heatmap",
        alt=f"Heat map of the dual variables of query {query}.",
        caption=f"Query {query}: {int(row['documents'])} documents, {int(row['pairs']):,} pairs, "
        f"{int(row['active']):,} of them active (α > 0). Blank where there is no pair.{sampled} "
        f"{describe(spec, 'train')}.",
    )


def _singular_values(record: RunRecord, found: Spectra, position: int) -> None:
    row, table = found.table.iloc[position], singular_values.data(found.values[position])
    query, drawn = int(row["query"]), len(singular_values.drawn(table))
    rest = f" The first {drawn} of {len(table)} are drawn." if drawn < len(table) else ""
    show_figure(
        singular_values.figure(table, record.spec.feature_map),
        table,
        key="singular-values",
        alt=f"Singular values of the dual variables of query {query} on a logarithmic axis.",
        caption=f"Query {query}: rank {int(row['rank'])} of at most {int(row['largest_rank'])} that its "
        f"grades allow; 90 % of the energy with {int(row['k_90'])}.{rest} {describe(record.spec, 'train')}.",
    )


def energy(record: RunRecord, found: Spectra) -> None:
    """The energy that the first k singular values keep."""
    table = energy_curve.data(found)
    show_figure(
        energy_curve.figure(table, record.spec.feature_map),
        table,
        key="energy",
        alt="Mean share of the energy kept by the first k singular values, with a band over queries.",
        caption=f"PE(k) of xu2019 §4, mean of {_queries(len(found.table))}; the band runs from the 10 % to "
        f"the 90 % quantile. {describe(record.spec, 'train')}.",
    )


def why(record: RunRecord, found: Spectra) -> None:
    """What is law, what is learned, and what the paper's printed ranks seem to be."""
    table = rank_by_activity.data(found)
    show_figure(
        rank_by_activity.figure(table, record.spec.feature_map),
        table,
        key="rank-by-activity",
        alt="Numerical rank of each query against the share of its pairs that are active.",
        caption=f"One marker per query, hollow where every pair is active; {left_out(found)}. Lower C leaves "
        f"more pairs active. {describe(record.spec, 'train')}.",
    )
    st.markdown(WHY)


WHY = """
**The loss alone makes it so.** The squared hinge weighs a pair with margin t < 1 by α = 2C(1 − t). Where
every pair of two grades is active, αᵢⱼ = 2C(1 − fᵢ + fⱼ): something of the row plus something of the
column, a matrix of rank 2 at most. With R grades A then has rank 2(R − 1) at most, and A + Aᵀ has 2R (less
1 if R is odd), however many documents there are and whatever was learned.

**Pairs with a margin of 1 or more cut a staircase.** Their α is 0. Sorted by score, the border between
active and inactive pairs runs like stairs; every step may add to the rank, but steps are small, so the energy
stays in the first few singular values. A larger C pushes more pairs over the border.

**The paper's ranks seem to be those of A + Aᵀ.** xu2019 (Table 6) prints ranks 8, 92 and 234 for three
queries of OHSUMED. In fold 1 the grades of these queries allow A no rank above 4, 46 and 117, exactly half.
The paper trains with the plain hinge loss, where α is C, 0, or between them at the margin 1: there the rank
depends on how exactly the dual problem was solved.
"""


def numbers(record: RunRecord, found: Spectra) -> None:
    """The table behind the figures, one row per query."""
    st.dataframe(found.table, hide_index=True, column_config=_columns())
    gap = (
        0.5 * float(record.trace["gradient_norm"].iloc[-1]) ** 2 / record.objective
        if len(record.trace)
        else 0.0
    )
    st.caption(
        f"{describe(record.spec, 'train')}. {left_out(found).capitalize()}. Training: {record.status}; the "
        f"duality gap between the weights and these α, ½‖∇‖², is {small(gap)} of the objective."
    )


def _columns() -> dict[str, object]:
    number = st.column_config.NumberColumn
    return {
        "query": number("query", format="%d"),
        "active": number("active pairs", help="Pairs with α > 0, that is a margin below 1."),
        "rank": number("numerical rank", help="Singular values above 10⁻⁶ of the largest."),
        "k_90": number("k₉₀", help="Singular values that keep 90 % of the energy."),
        "Dim_90": number("Dim₉₀", format="percent", help="k₉₀ over the number of documents."),
        "Dim_100": number("Dim₁₀₀", format="percent", help="Numerical rank over the number of documents."),
        "largest_rank": number("largest rank", help="What the grades allow, were every α arbitrary."),
        "law": number(
            "rank if all active", help="Largest rank with the squared hinge if every pair is active."
        ),
    }
