"""The views of the Train page: one function each, from records to figures with their sentences."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.common.numbers import power_of_two
from rankviz.datasets import RankingData
from rankviz.experiments.description import PART_NAMES, describe, in_a_sentence, method_label
from rankviz.experiments.record import RunRecord
from rankviz.metrics.margins import summary
from rankviz.metrics.significance import compare
from rankviz.plots import convergence as convergence_plot
from rankviz.plots import margins as margins_plot
from rankviz.plots import metric_curve, ranked_list
from rankviz.risk.losses import LOSSES
from ui.shared.show import (
    bold_sentence,
    capital,
    definition_caption,
    say_if_nothing_was_learned,
    show_figure,
    tiles,
)

TILES = ("NDCG@10", "MeanNDCG", "MAP", "P@10")
LIST_LENGTH = 15
CURVES = {
    "NDCG": "NDCG@k is 0 for a query with fewer than k documents",
    "P": "P@k divides by k also where a query has fewer documents",
}


def cost(record: RunRecord, predicted: object) -> str:
    """Seconds of the run, beside the prediction."""
    took = sum(record.seconds.values())
    return f"This run took {took:.2f} s; predicted: {predicted}, on top of the program itself."


def headline(baseline: RunRecord, record: RunRecord, data: RankingData, part: str) -> None:
    """NDCG@k of the model beside the linear one, the four means, and what the queries support."""
    say_if_nothing_was_learned(record)
    records = _distinct(baseline, record)
    metric = _curve()
    table = metric_curve.data(records, part, metric)
    means, linear = record.metrics[part].mean(), baseline.metrics[part].mean()
    for name, column in zip(TILES, tiles(len(TILES)), strict=True):
        delta = None if len(records) == 1 else f"{means[name] - linear[name]:+.4f} against linear"
        column.metric(name, f"{means[name]:.4f}", delta, delta_color="off", delta_arrow="off")
    show_figure(
        metric_curve.figure(table, metric),
        table,
        key="ndcg-at-k",
        alt=f"Mean {metric} at cut-offs 1 to 10 on the {PART_NAMES[part]} part.",
        caption=f"{describe(record.spec, part)}. Mean over queries; {definition_caption(data)}; "
        f"{CURVES[metric]}.",
    )
    st.markdown(_reading(baseline, record, part))


def _curve() -> str:
    return st.segmented_control(
        "Against the cut-off k",
        list(CURVES),
        default="NDCG",
        required=True,
        format_func=lambda name: f"{name}@k",
        key="curve",
        bind="query-params",
        help="NDCG@k rewards high grades at high ranks; P@k is the share of relevant documents among "
        "the first k.",
    )


def _reading(baseline: RunRecord, record: RunRecord, part: str) -> str:
    if record.spec.feature_map == "linear":
        return "This is the linear model itself. Choose a kernel to compare it with."
    metric = "NDCG@10"
    found = compare(record.metrics[part][metric], baseline.metrics[part][metric])
    name = in_a_sentence(record.spec.feature_map)
    linear = f"the linear model (C = {power_of_two(baseline.spec.C)})"
    return bold_sentence(found.sentence(name, linear, metric))


def one_query(baseline: RunRecord, record: RunRecord, data: RankingData, part: str) -> None:
    """One query's documents as the linear model and this one rank them."""
    queries = [int(q) for q in data.query_ids]
    if st.session_state.get("query") not in queries:
        st.session_state["query"] = queries[0]
    chosen = st.selectbox(
        "Query", queries, key="query", bind="query-params", help="A query of the part that is shown."
    )
    if record.spec.feature_map == "linear":
        st.caption("This is the linear model: both lists are its own.")
    left, right = baseline.scores[part], record.scores[part]
    table = ranked_list.data(left, right, data, queries.index(chosen))
    k = min(LIST_LENGTH, len(table))
    names = (f"linear, C = {power_of_two(baseline.spec.C)}", method_label(record.spec))
    ndcg = [r.metrics[part].loc[chosen, "NDCG@10"] for r in (baseline, record)]
    show_figure(
        ranked_list.figure(table, *names, k),
        table,
        key="ranked-list",
        alt=f"The first {k} documents of query {chosen} as ranked by the linear model and by this one.",
        caption=f"Query {chosen}, {len(table)} documents, first {k} of each list; a line that leaves "
        f"through the bottom goes to a rank below {k}. NDCG@10: linear {ndcg[0]:.4f}, "
        f"{method_label(record.spec)} {ndcg[1]:.4f}. {describe(record.spec, part)}.",
    )
    with st.expander(f"All {len(table)} documents"):
        st.dataframe(table, hide_index=True)


def margins(record: RunRecord, data: RankingData, part: str) -> None:
    """The losses and their derivatives over the margins of all preference pairs of the part."""
    spec = record.spec
    found = summary(record.scores[part], data)
    if found.n_pairs == 0:
        st.info("No query of this part has two documents of different grades, so there are no pairs.")
        return
    table = margins_plot.data(record.scores[part], data)
    lines = margins_plot.curves(table)
    loss, wrong, share = LOSSES[spec.loss], found.misordered, found.misordered / found.n_pairs
    costs = "" if spec.costs is None else " Costs multiply the loss of a pair; it is drawn for a cost of 1."
    show_figure(
        margins_plot.figure(table, lines, spec.feature_map, spec.loss),
        pd.concat([table, lines], axis=1),
        key="margins",
        alt=f"The losses, their derivatives, and the margins of {found.n_pairs:,} preference pairs.",
        caption=f"Bold: the loss of this model, {loss.label}, ℓ(t) = {loss.formula}. "
        f"All {found.n_pairs:,} preference pairs are counted.{costs} {describe(spec, part)}.",
    )
    st.markdown(
        bold_sentence(
            f"{wrong:,} of {found.n_pairs:,} preference pairs ({share:.1%}) are misordered or tied "
            "(margin at most 0)"
        )
    )


def convergence(baseline: RunRecord, record: RunRecord) -> None:
    """Objective and Newton decrement per iteration."""
    table = convergence_plot.data([record])
    spent = sum(record.seconds.get(stage, 0.0) for stage in ("features", "pairs", "newton"))
    steps = int((table["step"] > 0).sum())
    start = "" if record.start == "zero" else f" from {record.start} on"
    show_figure(
        convergence_plot.figure(table),
        table,
        key="convergence",
        alt="Objective and Newton decrement at each iteration.",
        caption=f"{capital(record.status)}. {steps} steps{start}, "
        f"{int(table['cg_iterations'].sum())} CG iterations, {spent:.2f} s, {record.n_pairs:,} preference "
        f"pairs, objective {record.objective:.6g}. {describe(record.spec, 'train')}.",
    )


def numbers(baseline: RunRecord, record: RunRecord, part: str) -> None:
    """Means and per-query values behind the figures, and what the run took."""
    records = _distinct(baseline, record)
    means = pd.DataFrame({method_label(r.spec): r.metrics[part].mean() for r in records})
    st.dataframe(means.T.round(4), height="content")
    st.markdown("**Per query**, this model")
    st.dataframe(record.metrics[part].round(4))
    used: dict[str, float] = {"feature dimensions used": record.n_components}
    used |= {"peak memory, MB": round(record.peak_memory / 1e6)}
    used |= {f"seconds, {stage}": round(value, 3) for stage, value in record.seconds.items()}
    st.markdown("**What the run took**")
    st.dataframe(pd.Series(used, name="value").to_frame())


def _distinct(baseline: RunRecord, record: RunRecord) -> list[RunRecord]:
    return [record] if record.spec.feature_map == "linear" else [baseline, record]
