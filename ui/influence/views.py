"""The Influence page: a metric and seconds against C, and against costs of pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.numbers import counted, power_of_two
from rankviz.datasets import RankingData
from rankviz.experiments.description import in_a_sentence
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import DEFINITIONS
from rankviz.metrics.evaluation import some_of, unknown_grades
from rankviz.metrics.significance import Comparison, compare, queries_in_words, tied
from rankviz.plots import influence as plot
from rankviz.plots import ranked_list
from rankviz.plots.style import look_of
from rankviz.risk.costs import Costs, cost_words
from ui.influence.choices import Settings, about, has, path, warm
from ui.shared.controls import keep_held
from ui.shared.costs import table
from ui.shared.ends import end_page
from ui.shared.foreign import describe
from ui.shared.jobs import WAITING, run_what_comes
from ui.shared.runs import fold_of, normalised
from ui.shared.settings import baseline, baseline_is_set
from ui.shared.show import (
    definition_caption,
    say_if_nothing_was_learned,
    sentence,
    show_figure,
    show_table,
)

LAMBDAS = {"l10": ("λ₁₀", 1.0), "l20": ("λ₂₀", 2.0), "l21": ("λ₂₁", 1.3)}
"""Keys of the sliders, their names, and he2009's values (§4.2)."""
LAMBDA_GRID = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
LIST_LENGTH = 10
CHOSEN_HERE = "chosen as the highest on these same queries, which flatters it"


def of_C(spec: RunSpec, settings: Settings, part: str) -> None:
    """Draw metric and seconds against C; each run starts from the weights of the previous C."""
    if not has(spec, "C"):
        return
    Cs = path(spec)
    wanted = [spec.but(fold=fold, C=C) for fold in settings.folds for C in Cs]
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        found = run_what_comes(wanted, title=f"Influence of C, {spec.dataset}", together=lambda one: one.C)
    with figure:
        _against_C(spec, settings, part, Cs, found)


def _against_C(
    spec: RunSpec, settings: Settings, part: str, Cs: list[float], found: dict[RunSpec, RunRecord]
) -> None:
    """Draw the figure of the existing runs, and its numbers."""
    say_if_nothing_was_learned(next(iter(found.values())))
    groups = {C: [record for one, record in found.items() if one.C == C] for C in {one.C for one in found}}
    so_far = "" if len(groups) == len(Cs) else "so far "
    data = plot.data(groups, part, settings.metric)
    means = tied(data["mean"].to_numpy())
    highest = data["value"][means == means.max()]
    best = float(highest.iloc[0])
    others = plot.against(groups, best, part, settings.metric)
    data = plot.beside_best(data, others, best)
    show_figure(
        plot.figure_of_C(data, look_of(spec), settings.metric, spec.C),
        data,
        answer=sentence(so_far + _reading_of_C(others, best, len(highest), settings)),
        key="influence-of-c",
        alt=f"{settings.metric} and products with the features against C.",
        caption=f"{about(spec, settings, part).without('C')}. "
        f"The dashed line is the C that is set{_of_baseline(spec)}. Ring: the best C; hollow: worse than "
        "that by the paired interval, which decides also where bands overlap. "
        f"{'' if so_far else _effort(spec, settings, data)}Mean over {data['queries'].iloc[0]} queries; "
        f"{_definition(spec, settings, part)}.",
    )
    st.caption(f"The best C here is {CHOSEN_HERE}: choose on validation queries, then judge on others.")
    with st.expander("Numbers"):
        show_table(data, hide_index=True)


def _of_baseline(spec: RunSpec) -> str:
    """Say where to set the C of a linear model that is not the current one."""
    own = not baseline_is_set(st.session_state) and spec == baseline(st.session_state)
    return " for the linear baseline, below More settings" if own else ""


def _effort(spec: RunSpec, settings: Settings, data: pd.DataFrame) -> str:
    """Describe the products in the figure and the time of the path, if recorded."""
    start = "each C starting from the weights of the one before" if warm(spec) else "each C by itself"
    told = ""
    if data["products"].notna().all():
        told = f"Below: products with the features that training took, {_folds(settings)} together. "
    if data["seconds"].notna().all():
        told += (
            f"The whole path of {len(data)} values took {data['seconds'].sum():.2f} s of training, "
            f"{_folds(settings)} together, {start}, features not counted, in one run on this machine. "
        )
    return told


def _reading_of_C(found: dict[float, Comparison], best: float, equal: int, settings: Settings) -> str:
    """Say which values of C differ significantly from the best one; `equal` values share its mean."""
    if equal > len(found) > 0:
        return f"{settings.metric} is the same at all {equal} values of C"
    worse = [C for C, one in found.items() if one.distinguishable]
    alike = sorted([best, *(C for C, one in found.items() if not one.distinguishable)])
    also = f" and {counted(equal - 1, 'other value')}" if equal > 1 else ""
    start = f"{settings.metric} is highest at C = {power_of_two(best)}{also}"
    few = next(iter(found.values()), None)
    if few is not None and few.n_queries < few.n_needed:
        are = "is" if few.n_queries == 1 else "are"
        said = f"{queries_in_words(few.n_queries)} {are} too few to tell any other value of C from it"
        return f"{start}, but {said}"
    if not worse:
        return f"{start}, and no other value of C can be told from it with these queries"
    ends = f"{power_of_two(alike[0])} and {power_of_two(alike[-1])}"
    return (
        f"{start}; {len(worse)} of the {len(found)} other values are worse by their paired intervals, and "
        f"those that cannot be told from it lie between {ends}"
    )


def of_costs(spec: RunSpec, settings: Settings, part: str) -> None:
    """Draw the metric against one λ, with sliders for others and a switch for μ; and the top of one list."""
    if not has(spec, "costs"):
        return
    grades = _grades(spec, settings)
    if len(grades) > 3 or max(grades, default=0) > 2:
        st.info(
            f"The sliders are for grades 0, 1 and 2; these data have grades up to {max(grades)}. Set the "
            "costs in the sidebar instead (More settings, “λ as below”), and compare on the Train page."
        )
        return
    if spec.get("costs") is not None:
        st.caption(
            f"The sidebar's costs, {cost_words(spec.costs)}, do not count in this tab: its sliders set them."
        )
    varied, values, by_query = _sliders(grades)
    plain = spec.but(costs=None)
    grid = sorted({*LAMBDA_GRID, values[varied]})
    costs = {value: _table(values | {varied: value}, by_query) for value in grid}
    specs = {value: [spec.but(fold=f, costs=cost) for f in settings.folds] for value, cost in costs.items()}
    bases = [plain.but(fold=f) for f in settings.folds]
    wanted = [*bases, *(one for group in specs.values() for one in group)]
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        found = run_what_comes(
            wanted, title=f"Influence of λ, {spec.dataset}", together=lambda one: one.but(fold="", digest="")
        )
        groups = {v: [found[one] for one in group] for v, group in specs.items() if group[0] in found}
        if bases[0] not in found or values[varied] not in groups:
            st.info("The run without costs, or that with the costs set, goes on.", icon=WAITING)
            end_page()
    base, words = [found[one] for one in bases], cost_words(costs[values[varied]])
    with figure:
        _against_cost(plain, settings, part, groups, base, varied, values[varied], words)
    if len(grades) == 2:
        st.caption("With two grades λ₁₀ multiplies every pair alike, so it only changes what C means.")
    at = settings.folds.index(spec.fold)
    _top(base[at], groups[values[varied]][at], normalised(spec).parts[part], part, words)


def _against_cost(
    plain: RunSpec,
    settings: Settings,
    part: str,
    groups: dict[float, list[RunRecord]],
    base: list[RunRecord],
    varied: str,
    at: float,
    words: str,
) -> None:
    """Draw the figure against one λ, currently `at` a value, and its numbers."""
    say_if_nothing_was_learned(base[0])
    data = plot.data(groups, part, settings.metric)
    level = float(plot.pooled(base, part, settings.metric).mean())
    one = compare(
        plot.pooled(groups[at], part, settings.metric), plot.pooled(base, part, settings.metric)
    ).sentence(f"{in_a_sentence(plain)} with {words}", "the same without costs", settings.metric)
    show_figure(
        plot.figure_of_cost(data, look_of(plain), settings.metric, LAMBDAS[varied][0], at, level),
        data,
        answer=sentence(one),
        key="influence-of-cost",
        alt=f"{settings.metric} against {LAMBDAS[varied][0]}.",
        caption=f"{about(plain, settings, part)}. Costs at the dashed line: {words}. "
        f"Mean over {data['queries'].iloc[0]} queries; {_definition(plain, settings, part)}.",
    )
    with st.expander("Numbers"):
        show_table(data, hide_index=True)


def _sliders(grades: list[int]) -> tuple[str, dict[str, float], bool]:
    """Draw the sliders; return the varied λ, all λ, and whether μ is on."""
    keys = [key for key in LAMBDAS if key == "l10" or len(grades) > 2]
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    varied = row.segmented_control(
        "Against",
        keys,
        default=keys[-1],
        required=True,
        format_func=lambda key: LAMBDAS[key][0],
        key="vary",
        bind="query-params",
        help="Which cost runs along the axis; the others stay at their sliders.",
    )
    values = {}
    for key, (name, usual) in LAMBDAS.items():
        values[key] = float(
            row.container(width=150).slider(
                name,
                0.0,
                8.0,
                usual,
                0.1,
                key=key,
                bind="query-params",
                disabled=key not in keys,
                help="Cost of ranking a document of the first grade below one of the second. he2009 has "
                "1, 2 and 1.3.",
            )
        )
    by_query = row.toggle(
        "μ by query",
        False,
        key="mu",
        bind="query-params",
        help="Weigh queries with few pairs more: μ = ln(1 + most pairs of any query/pairs of this one) "
        "(he2009 §4.2).",
    )
    return varied, {key: round(value, 4) for key, value in values.items()}, by_query


def _table(values: dict[str, float], by_query: bool) -> Costs:
    return table([values["l10"], values["l20"], values["l21"]], by_query=by_query)


def _top(base: RunRecord, chosen: RunRecord, data: RankingData, part: str, words: str) -> None:
    """Draw the first documents of one query without and with costs."""
    queries = [int(q) for q in data.query_ids]
    first = keep_held("query", queries)
    query = st.selectbox(
        "Query", queries, first, key="query", bind="query-params", width=260, help="Of this part."
    )
    rows = ranked_list.data(base.scores[part], chosen.scores[part], data, queries.index(query))
    k = min(LIST_LENGTH, len(rows))
    ndcg = [record.metrics[part].loc[query, "NDCG@10"] for record in (base, chosen)]
    show_figure(
        ranked_list.figure(rows, "every pair costs 1", "with costs", k),
        rows,
        answer=sentence(f"query {query} has NDCG@10 {ndcg[0]:.4f} without costs, {ndcg[1]:.4f} with them"),
        key="influence-list",
        alt=f"The first {k} documents of query {query} without and with costs.",
        caption=f"Query {query}, {len(rows)} documents, first {k} of each. With costs: {words}. "
        f"{describe(base.spec, part)}.",
    )


def _grades(spec: RunSpec, settings: Settings) -> list[int]:
    folds = [fold_of(spec.but(fold=fold)) for fold in settings.folds]
    return sorted({int(grade) for fold in folds for grade in np.unique(fold.train.y)})


def _folds(settings: Settings) -> str:
    return f"{len(settings.folds)} folds" if len(settings.folds) > 1 else "one fold"


def _definition(spec: RunSpec, settings: Settings, part: str) -> str:
    """Name the definition of the metrics, and count queries that count as 0."""
    if len(settings.folds) == 1:
        return definition_caption(normalised(spec.but(fold=settings.folds[0])).parts[part])
    parts = [fold_of(spec.but(fold=fold)).parts[part] for fold in settings.folds]
    empty = sum(not data.y[data.query_slice(q)].any() for data in parts for q in range(data.n_queries))
    letor = DEFINITIONS["letor"]
    unknown = unknown_grades(letor, sum(letor.unknown(data.y) for data in parts))
    none = some_of(empty, "without a relevant document", "counted as 0")
    return f"{letor.label} definition, {none}{unknown}"
