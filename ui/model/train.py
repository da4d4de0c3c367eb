"""The views of the Train page: each function turns records into figures with sentences."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from rankviz import save
from rankviz.common.numbers import as_csv, metric_in_words, percent, with_minus
from rankviz.datasets import Fold, RankingData, normalise
from rankviz.features import LINEAR
from rankviz.features.registry import N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.pairs import RULES, Costs, preference_pairs
from rankviz.metrics.pairwise import summary
from rankviz.metrics.significance import compare
from rankviz.models.ranksvm import THRESHOLDS
from rankviz.models.storage import can_save
from rankviz.plots import convergence as convergence_plot
from rankviz.plots import margins as margins_plot
from rankviz.plots import model_comparison, ranked_list
from rankviz.plots import rounds as rounds_plot
from rankviz.plots.style import style_of
from rankviz.runs.description import PART_NAMES, in_a_sentence, look_of, method_label
from rankviz.runs.given import WRITERS
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.run import model_from, model_of
from rankviz.runs.spec import RunSpec
from rankviz.store.study import SHARDS
from ui.controls import selection
from ui.controls.feature_names import names_of
from ui.controls.models import Option, Two, menu, pin_buttons, pinned_models, supports, system_options
from ui.controls.selection import QUERY
from ui.controls.setting_controls import value_from
from ui.controls.settings import BASELINE_C, baseline, baseline_is_set
from ui.controls.widgets import Bound, by_rank, metric_menu
from ui.model import train_words as words
from ui.model.why_choices import offer as offer_why
from ui.shell.figures import (
    capital,
    definition_caption,
    folded,
    link_to_definitions,
    once,
    report_ties,
    report_untrained,
    sentence,
    show_figure,
    show_table,
    tiles,
    zero_by_definition,
    zeros_by_definition,
)
from ui.shell.terms import meaning
from ui.shell.texts import describe
from ui.work.folds import fold_later
from ui.work.place import choose_place

TILES = ("NDCG@10", "MeanNDCG", "MAP", "P@10")
LIST_LENGTH = 15
NEWTON_COLUMNS = {"decrement", "cg_iterations", "step"}
"""Columns of a trace whose rows are steps with a Newton decrement."""


def controls(state: Any, spec: RunSpec) -> tuple[RunSpec, str, str]:
    """Draw the controls; return the model for comparison (linear or pinned), the metric, and the place."""
    usual = style_of(LINEAR).name
    options = {usual: Option("the linear model", lambda: baseline(state))}
    options |= system_options(state) | pinned_models(spec)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    chosen = menu(row.container(width=360), "Beside", options, usual, "beside", words.BESIDE)
    with row:
        metric = metric_menu(st, help=words.METRIC)
        pin_buttons(spec)
    return chosen.spec(), metric, choose_place(row, SHARDS)


def cost(record: RunRecord, predicted: object) -> str:
    """Compare the seconds of the run with the prediction."""
    took = sum(record.seconds.values())
    return words.COST.format(seconds=took, predicted=predicted)


def headline(other: RunRecord, record: RunRecord, data: RankingData, part: str, metric: str) -> None:
    """Draw the comparison: its sentence by a metric, NDCG@k or P@k of both models, and means."""
    report_untrained(record)
    records, curve = [record] if _two(other, record).same else [other, record], by_rank(metric)
    table = model_comparison.curve_data(records, part, curve)
    show_figure(
        once(model_comparison.curve_figure, table, curve),
        table,
        answer=_reading(other, record, part, metric),
        key="ndcg-at-k",
        caption=f"{describe(record.spec, part)}. Mean over queries; {definition_caption(data)}; "
        f"{words.CURVES[curve]}.",
    )
    if curve == "NDCG" and (why := zeros_by_definition(data, int(table["k"].max()))):
        st.caption(why)
    names = list(dict.fromkeys([metric, *TILES]))
    report_ties({part: records}, names)
    means, others = record.metrics[part].mean(), other.metrics[part].mean()
    against = "the pin" if look_of(other.spec) != LINEAR else style_of(LINEAR).name
    if other.spec.kind.named_by:
        against = _two(other, record).names_in_text[0]
    for name, column in zip(names, tiles(len(names)), strict=True):
        change = f"{with_minus(means[name] - others[name], '+.3f')} against {against}"
        delta = change if len(records) > 1 else None
        value = f"{means[name]:.3f}"
        column.metric(name, value, delta, delta_color="off", delta_arrow="off", help=meaning(name))
    link_to_definitions(st.container(), "tiles")


def _two(other: RunRecord, record: RunRecord) -> Two:
    return Two(other.spec, record.spec)


def _reading(other: RunRecord, record: RunRecord, part: str, metric: str) -> str:
    two = _two(other, record)
    if two.same:
        return words.SAME_MODEL.format(name=_with_own(record.spec)) + _reference(record.spec)
    found = compare(record.metrics[part][metric], other.metrics[part][metric])
    name = _with_own(other.spec) if len(set(two.looks)) > 1 else two.names_in_text[0]
    return sentence(found.sentence(two.names_in_text[1], name, metric))


def _with_own(spec: RunSpec) -> str:
    """Name a model within a sentence, with the settings that identify it: m and C, if it has them."""
    declared, names = spec.declared(), (N_COMPONENTS.name, LOSS_WEIGHT.name)
    own = ", ".join(declared[name].format(spec.get(name)) for name in names if name in spec)
    return in_a_sentence(spec) + (f" ({own})" if own else "")


def _reference(spec: RunSpec) -> str:
    """Name the C of the linear model beside other models, if this one is linear with another C."""
    state = st.session_state
    usual = LOSS_WEIGHT.format(value_from(BASELINE_C, state))
    differs = baseline_is_set(state) and spec.get(LOSS_WEIGHT.name) != value_from(BASELINE_C, state)
    return words.REFERENCE.format(C=usual) if differs else ""


def one_query(other: RunRecord, record: RunRecord, data: RankingData, part: str, metric: str) -> None:
    """Draw one query's documents as ranked by both models."""
    queries = [int(q) for q in data.query_ids]
    usual = _typical(record.metrics[part][metric] - other.metrics[part][metric])
    typical = f"{usual} (typical)"
    asked = Bound().optional_menu(QUERY, "Query", queries, typical, width=260, help=words.QUERY)
    chosen = usual if asked is None else int(asked)
    two = _two(other, record)
    if two.same:
        st.caption(words.SAME_LISTS.format(name=in_a_sentence(record.spec)))
    table = ranked_list.list_data(other.scores[part], record.scores[part], data, queries.index(chosen))
    k = min(LIST_LENGTH, len(table))
    values = [r.metrics[part].loc[chosen, metric] for r in (other, record)]
    ends = " and ".join(
        f"{metric_in_words(value)} with {name}" for value, name in zip(values, two.names_in_text, strict=True)
    )
    names, drawn = table["document"].tolist(), selection.document_chart_key("ranked-list")
    asked_about = selection.marked_documents(names)
    show_figure(
        once(ranked_list.list_figure, table, _with_C(two), two.labels[1], k, asked_about),
        table,
        answer=f"query {chosen} has {metric} {ends}",
        key=drawn,
        caption=f"{words.LISTS.format(query=chosen, n=len(table), k=k)} {describe(record.spec, part)}.",
        on_select=selection.on_document_click(drawn),
    )
    if why := zero_by_definition(metric, len(table)):
        st.caption(why)
    offer_why(chosen, names, key="train-why", marked=asked_about)
    folded(f"All {len(table)} documents", "train-table", lambda: show_table(table, hide_index=True))


def _typical(differences: pd.Series[float]) -> int:
    """Return the query whose difference is closest to the mean; the first if there is none."""
    known = (differences - differences.mean()).abs().dropna()
    return int(known.idxmin() if len(known) else differences.index[0])


def _with_C(two: Two) -> str:
    """Return the title of the other model's list, with its C if the label does not show the difference."""
    label = two.labels[0]
    plain = not two.same and label == method_label(two.left) and LOSS_WEIGHT.name in two.left
    return f"{label}, {LOSS_WEIGHT.format(two.left.C)}" if plain else label


def margins(record: RunRecord, data: RankingData, part: str) -> None:
    """Draw the margins of all preference pairs of the part, with the losses that a model may minimise."""
    found = summary(record.scores[part], data)
    if found.n_pairs == 0:
        st.info(words.NO_PAIRS)
        return
    table = margins_plot.bins_data(record.scores[part], data)
    wrong, share = found.misordered, found.misordered / found.n_pairs
    answer = sentence(words.MISORDERED.format(wrong=wrong, of=found.n_pairs, share=percent(share, 1)))
    of_pairs = getattr(record.spec.option("loss"), "of_pairs", False)
    (_margins_and_losses if of_pairs else _margins_alone)(
        record.spec, table, answer, words.COUNTED.format(pairs=found.n_pairs), part
    )


def _margins_and_losses(spec: RunSpec, table: pd.DataFrame, answer: str, counted: str, part: str) -> None:
    lines, loss = margins_plot.curves(table, chosen=spec.loss), spec.option("loss")
    show_figure(
        margins_plot.losses_figure(table, lines, look_of(spec), spec.loss),
        pd.concat([table, lines], axis=1),
        answer=answer,
        key="margins",
        caption=f"{words.LOSS.format(label=loss.label, formula=loss.formula)} {counted}"
        f"{_of_costs(spec.get('costs'))} {describe(spec, part)}.",
    )


def _of_costs(costs: Costs) -> str:
    """Describe the effect of costs of pairs on the drawn loss."""
    if costs is None:
        return ""
    if isinstance(costs, str) and RULES[costs].rescales_margins:
        return words.COSTS_RESCALE
    return words.COSTS_MULTIPLY


def _margins_alone(spec: RunSpec, table: pd.DataFrame, answer: str, counted: str, part: str) -> None:
    show_figure(
        margins_plot.histogram_figure(table, look_of(spec)),
        table,
        answer=answer,
        key="margins",
        caption=f"{words.NO_LOSS.format(model=capital(in_a_sentence(spec)))} {counted} "
        f"{describe(spec, part)}.",
    )


def convergence(record: RunRecord) -> None:
    """Draw the trace of iterations, and the cost of training."""
    if not supports(record.spec, "trace"):
        return
    if record.spec.offers.rounds:
        rounds([record], _spent(record))
        return
    newton = set(record.trace) >= NEWTON_COLUMNS
    table = convergence_plot.convergence_data([record]) if newton else convergence_plot.trace_data(record)
    if not newton and not convergence_plot.trace_quantities(table):
        show_table(record.trace, hide_index=True)
        st.caption(_spent(record))
        return
    show_figure(
        convergence_plot.objective_figure(table) if newton else convergence_plot.trace_figure(table),
        table,
        answer=record.status,
        key="convergence",
        caption=_spent(record),
    )


def rounds(records: list[RunRecord], caption: str) -> None:
    """Draw NDCG@10 by round, with the rounds that are kept."""
    table = rounds_plot.rounds_data(records)
    show_figure(
        rounds_plot.rounds_figure(table),
        table,
        answer=capital(records[0].status),
        key="rounds-figure",
        caption=f"{caption} {words.ROUNDS}",
    )


def importance(record: RunRecord, other: RunRecord, data: RankingData) -> None:
    """Draw each feature's share of what rounds gain, and its share of |w| of a linear model beside."""
    if not supports(record.spec, "importance"):
        return
    table = rounds_plot.importance_data(record, names_of(record.spec, data), other)
    first, beside = table.iloc[0], words.WEIGHTS * (rounds_plot.WEIGHTS in table)
    show_figure(
        rounds_plot.importance_figure(table, look_of(record.spec), look_of(other.spec)),
        table,
        answer=words.IMPORTANT.format(feature=first["feature"], share=percent(first["share"], 1)),
        key="importance",
        caption=f"{words.IMPORTANCE}{beside} {describe(record.spec, 'train')}.",
    )


def _spent(record: RunRecord) -> str:
    """Describe the final status and cost of training."""
    trace, spent = record.trace, training_seconds(record) - record.seconds.get("start", 0.0)
    start = "" if record.start == "zero" else f" from {record.start}"
    steps = int((trace["step"] > 0).sum()) if "step" in trace else max(len(trace) - 1, 0)
    parts = [f"{steps} steps{start}"]
    inner = int(trace["cg_iterations"].sum()) if "cg_iterations" in trace else 0
    parts += [f"{inner} CG iterations"] if inner else []
    parts += [f"{spent:.2f} s"]
    parts += [f"{record.n_pairs:,} preference pairs"] if record.spec.offers.pair_objective else []
    parts += [f"objective {with_minus(record.objective, '.6g')}"] if math.isfinite(record.objective) else []
    return f"{capital(record.status).rstrip('.')}. {', '.join(parts)}. {describe(record.spec, 'train')}."


def numbers(other: RunRecord, record: RunRecord, part: str) -> None:
    """Draw means and per-query values behind the figures, and the cost of the run."""
    labels, records = _two(other, record).labels, (other, record)
    shown = dict(zip(labels, records, strict=True))
    means = pd.DataFrame({label: r.metrics[part].mean() for label, r in shown.items()})
    digits = dict.fromkeys(means.index, st.column_config.NumberColumn(format="%.3f"))
    show_table(means.T.round(4), height="content", column_config=digits)
    st.markdown("**Per query**, this model")
    show_table(record.metrics[part].round(4), column_config=digits)
    if THRESHOLDS in record.solution:
        st.markdown(words.THRESHOLDS)
        grades, at = record.solution[THRESHOLDS].T
        show_table(pd.DataFrame({"grade": grades.astype(int), "threshold": at}), hide_index=True)
    used: dict[str, float] = {}
    if record.spec.offers.weights:
        used |= {"features used": record.n_components}
    if known := not math.isnan(record.peak_memory):
        used |= {"peak memory, MB": round(record.peak_memory / 1e6)}
    used |= {f"seconds, {stage}": round(value, 3) for stage, value in record.seconds.items()}
    st.markdown("**Cost of the run**")
    show_table(pd.Series(used, name="value").to_frame())
    if not known:
        st.caption(words.NO_MEMORY)


def downloads(record: RunRecord, part: str) -> None:
    """Draw download buttons; files are made when they are pressed."""
    st.markdown("**Download**")
    row = st.container(horizontal=True)
    named, stem = PART_NAMES[part], f"rankviz-{record.spec.hash}"
    fold = fold_later(record.spec)

    def button(label: str, made: Callable[[], str | bytes], name: str, about: str | None = None) -> None:
        name = f"{stem}{name}"
        row.download_button(label, made, name, key=f"save-{label}", on_click="ignore", help=about)

    button(f"Scores, {named} part", lambda: _written(record, fold(), part, "scores"), f"-{part}-scores.txt")
    button(
        f"TREC run, {named} part", lambda: _written(record, fold(), part, "trec"), f"-{part}.run", words.TREC
    )
    button(f"qrels, {named} part", lambda: _written(record, fold(), part, "qrels"), f"-{part}.qrels")
    button(
        f"Margins, {named} part",
        lambda: margins_csv(record, fold().parts[part], part),
        f"-{part}-margins.csv",
    )
    if record.spec.offers.weights:
        button("Weights", lambda: weights_csv(record, fold().parts[part]), "-weights.csv")
    if can_be_rebuilt(record.spec):
        button("Model", lambda: _model(record, fold()), "-model.npz", "npz and JSON for rankviz.load")
    button("Run", lambda: _file(record.save, "run.npz"), "-run.npz", "for RunRecord.load")
    button("Settings", record.spec.to_json, ".json", "JSON for RunSpec.from_json")
    st.caption(words.SCORES)


def margins_csv(record: RunRecord, data: RankingData, part: str) -> str:
    """Return CSV with one preference pair per line: query, both documents by position in the file, margin."""
    pairs = preference_pairs(data.y, data.ptr)
    table = pd.DataFrame(
        {
            "query": data.qid[pairs.winner],
            "preferred": data.rows[pairs.winner] + 1,
            "other": data.rows[pairs.loser] + 1,
            "margin": pairs.margins(record.scores[part]),
        }
    )
    return as_csv(table)


def weights_csv(record: RunRecord, data: RankingData) -> str:
    """Return CSV with one weight per line, with names of input features."""
    m = len(record.weights)
    numbers = [f"{k}" for k in range(1, m + 1)]
    names = data.feature_names if record.spec.offers.input_weights and data.feature_names else numbers
    return as_csv(pd.DataFrame({"feature": names, "weight": record.weights}))


def _written(record: RunRecord, fold: Fold, part: str, form: str) -> bytes:
    """Return a part's scores, or its grades, in the form of another tool."""
    WRITERS[form](record, part, fold.parts[part], stream := io.BytesIO())
    return stream.getvalue()


def can_be_rebuilt(spec: RunSpec) -> bool:
    """Return True if the fitted model can be rebuilt from its record, and saved."""
    return can_save(model_of(spec))


def _model(record: RunRecord, fold: Fold) -> bytes:
    """Return the fitted model; records have no landmarks, so they are drawn again."""
    model = model_from(record, normalise(fold, record.spec.normalisation).train)
    return _file(lambda path: save(model, path), "model.npz")


def _file(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
