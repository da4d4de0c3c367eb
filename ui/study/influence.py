"""The Influence page: a metric and seconds against C, and against costs of pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.learning.losses import LOSS
from rankviz.learning.pairs import Costs, cost_words
from rankviz.metrics.significance import compare, leader, tied
from rankviz.models.methods import METHODS
from rankviz.plots import metric_vs_setting as plot
from rankviz.plots import ranked_list
from rankviz.runs.description import Description, in_a_sentence, look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.navigation import CURRENT_MODEL
from ui.controls.setting_controls import table_of
from ui.controls.settings import baseline, baseline_is_set
from ui.controls.widgets import ALL, C_EXPONENTS, Bound, chosen_folds, metric_menu
from ui.shell.errors import end_page
from ui.shell.figures import Figures, capital, definition_caption, folded, report_untrained, show_table
from ui.shell.texts import describe, escaped
from ui.shell.words import SO_FAR
from ui.study import influence_words as words
from ui.work.folds import fold_of, normalised
from ui.work.jobs import WAITING, run_available

VARIED = {"C": "no C to vary", "costs": "no costs of pairs"}
"""Varied settings, and words for a model without them."""
FIGURES = Figures(captions=words.CAPTIONS)
LAMBDAS = {"l10": ("λ₁₀", 1.0), "l20": ("λ₂₀", 2.0), "l21": ("λ₂₁", 1.3)}
"""Keys of the sliders, their names, and he2009's values (§4.2)."""
LAMBDA_GRID = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
LIST_LENGTH = 10


@dataclass(frozen=True)
class Settings:
    """Controls that the page adds to the sidebar: metric and folds."""

    metric: str
    folds: tuple[str, ...]


def controls(spec: RunSpec) -> tuple[RunSpec, Settings]:
    """Draw the controls of both tabs: model, metric, and folds."""
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"), words.HELP)
    spec = _model(row, spec)
    metric = metric_menu(row.place, help=words.HELP["metric"])
    return spec, Settings(metric, chosen_folds(row, spec, "scope", ALL))


def _model(row: Bound, spec: RunSpec) -> RunSpec:
    """Return the linear model, whose paths are computed at once, or the sidebar's, as chosen."""
    plain, linear = baseline(st.session_state), FEATURE_MAPS[LINEAR].label
    chosen = row.buttons("model", "Model", [linear, CURRENT_MODEL], disabled=spec == plain)
    if chosen != linear:
        return spec
    if spec != plain:
        lacking = [told for name, told in VARIED.items() if name not in spec]
        why = f"has {' and '.join(lacking)}" if lacking else "is not chosen under Model"
        if len(lacking) < len(VARIED):
            why += f"; choose “{CURRENT_MODEL}” above to see it"
        st.container().caption(  # in a container, as a figure alone hides these
            words.CAPTIONS["other"].format(
                model=in_a_sentence(spec), why=why, shown=f"{linear} {plain.kind.label}"
            )
        )
    return plain


def has(spec: RunSpec, name: str) -> bool:
    """Return True if a model has a setting to vary; otherwise say so, and name models that have it."""
    if name in spec:
        return True
    able = [kind.label for method, kind in METHODS.items() if name in kind.resolve({})]
    st.info(
        words.INFOS["nothing"].format(
            model=capital(in_a_sentence(spec)),
            lacking=VARIED[name],
            linear=FEATURE_MAPS[LINEAR].label,
            able=", ".join(able),
        ),
        icon=":material/info:",
    )
    return False


def warm(spec: RunSpec) -> bool:
    """Return True if runs that differ in C share features and starting weights."""
    return "C" in spec.kind.varying(spec.values)


def path(spec: RunSpec) -> list[float]:
    """Return the values of C to draw, including the current one.

    Every exponent of the sidebar if a path is fast, else every second one.
    """
    quick = warm(spec) and spec.offers.input_weights
    every, (first, last) = 1 if quick else 2, C_EXPONENTS
    first += (round(np.log2(spec.C)) - first) % every
    return [2.0**c for c in range(first, last + 1, every)]


def about(spec: RunSpec, settings: Settings, part: str) -> Description:
    """Describe the page's subject, like `describe`, for all folds."""
    described = describe(spec, part)
    if len(settings.folds) == 1:
        return described
    return replace(described, data=f"{escaped(spec.dataset)}, {len(settings.folds)} folds pooled")


def of_C(spec: RunSpec, settings: Settings, part: str) -> None:
    """Draw metric and seconds against C; each run starts from the weights of the previous C."""
    if not has(spec, "C"):
        return
    Cs = path(spec)
    wanted = [spec.but(fold=fold, C=C) for fold in settings.folds for C in Cs]
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        found = run_available(wanted, title=f"Influence of C, {spec.dataset}", together=lambda one: one.C)
    with figure:
        _against_C(spec, settings, part, Cs, found)


def _against_C(
    spec: RunSpec, settings: Settings, part: str, Cs: list[float], found: dict[RunSpec, RunRecord]
) -> None:
    """Draw the figure of the existing runs, and its numbers."""
    report_untrained(next(iter(found.values())))
    groups = {C: [record for one, record in found.items() if one.C == C] for C in {one.C for one in found}}
    so_far = "" if len(groups) == len(Cs) else SO_FAR
    data = plot.setting_data(groups, part, settings.metric)
    means = pd.Series(tied(data["mean"].to_numpy()), data["value"])
    best = float(leader(means, settings.metric))
    equal = int((means == means[best]).sum())
    others = plot.compared_with(groups, best, part, settings.metric)
    data = plot.beside_best(data, others, best)
    FIGURES.show(
        "influence-of-c",
        plot.C_figure(data, look_of(spec), settings.metric, spec.C),
        data,
        so_far + words.reading_of_C(others, best, equal, settings.metric),
        about=about(spec, settings, part).without("C"),
        of=_of_baseline(spec),
        effort="" if so_far else _effort(spec, settings, data),
        definition=_definition(spec, settings, part),
    )
    st.caption(words.CAPTIONS["optimistic"])
    folded("Numbers", "influence-of-c-table", lambda: show_table(data, hide_index=True))


def _of_baseline(spec: RunSpec) -> str:
    """Say where to set the C of a linear model that is not the current one."""
    own = not baseline_is_set(st.session_state) and spec == baseline(st.session_state)
    return " of the linear baseline" if own else ""


def _effort(spec: RunSpec, settings: Settings, data: pd.DataFrame) -> str:
    """Describe the products in the figure and the time of the path, if recorded."""
    start = "each C from the previous weights" if warm(spec) else "each C by itself"
    text = ""
    if data["products"].notna().all():
        text = words.CAPTIONS["products"].format(folds=_folds(settings))
    if data["seconds"].notna().all():
        text += words.CAPTIONS["seconds"].format(
            n=len(data), seconds=data["seconds"].sum(), folds=_folds(settings), start=start
        )
    return text


def of_costs(spec: RunSpec, settings: Settings, part: str) -> None:
    """Draw the metric against one λ, with sliders for others and a switch for μ; and the top of one list."""
    if not has(spec, "costs"):
        return
    loss = spec.option(LOSS.name)
    if loss is not None and not loss.of_pairs:
        st.info(words.INFOS["no pairs"].format(loss=loss.label), icon=":material/info:")
        return
    grades = _grades(spec, settings)
    if len(grades) > 3 or max(grades, default=0) > 2:
        st.info(words.INFOS["grades"].format(most=max(grades)))
        return
    if spec.get("costs") is not None:
        st.caption(words.CAPTIONS["sidebar"].format(costs=cost_words(spec.costs)))
    varied, values, by_query = _sliders(grades)
    plain = spec.but(costs=None)
    grid = sorted({*LAMBDA_GRID, values[varied]})
    costs = {value: _table(values | {varied: value}, by_query) for value in grid}
    specs = {value: [spec.but(fold=f, costs=cost) for f in settings.folds] for value, cost in costs.items()}
    bases = [plain.but(fold=f) for f in settings.folds]
    wanted = [*bases, *(one for group in specs.values() for one in group)]
    figure, training = st.container(), st.container()  # the figure keeps its place
    with training:
        found = run_available(
            wanted, title=f"Influence of λ, {spec.dataset}", together=lambda one: one.but(fold="", digest="")
        )
        groups = {v: [found[one] for one in group] for v, group in specs.items() if group[0] in found}
        if bases[0] not in found or values[varied] not in groups:
            st.info(words.INFOS["waiting"], icon=WAITING)
            end_page()
    base, text = [found[one] for one in bases], cost_words(costs[values[varied]])
    with figure:
        _against_cost(plain, settings, part, groups, base, varied, values[varied], text)
    if len(grades) == 2:
        st.caption(words.CAPTIONS["two grades"])
    at = settings.folds.index(spec.fold)
    _top(base[at], groups[values[varied]][at], normalised(spec).parts[part], part, text)


def _against_cost(
    plain: RunSpec,
    settings: Settings,
    part: str,
    groups: dict[float, list[RunRecord]],
    base: list[RunRecord],
    varied: str,
    at: float,
    costs: str,
) -> None:
    """Draw the figure against one λ, currently `at` a value, and its numbers."""
    report_untrained(base[0])
    data = plot.setting_data(groups, part, settings.metric)
    level = float(plot.pooled(base, part, settings.metric).mean())
    one = compare(
        plot.pooled(groups[at], part, settings.metric), plot.pooled(base, part, settings.metric)
    ).sentence(f"{in_a_sentence(plain)} with {costs}", "the same without costs", settings.metric)
    name = LAMBDAS[varied][0]
    FIGURES.show(
        "influence-of-cost",
        plot.cost_figure(data, look_of(plain), settings.metric, name, at, level),
        data,
        one,
        about=about(plain, settings, part),
        costs=costs,
        definition=_definition(plain, settings, part),
    )
    folded("Numbers", "influence-of-cost-table", lambda: show_table(data, hide_index=True))


def _sliders(grades: list[int]) -> tuple[str, dict[str, float], bool]:
    """Draw the sliders; return the varied λ, all λ, and whether μ is on."""
    keys = [key for key in LAMBDAS if key == "l10" or len(grades) > 2]
    place = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    row = Bound(place, words.HELP)
    varied = row.buttons("vary", "Against", {key: LAMBDAS[key][0] for key in keys}, keys[-1])
    common = {"step": 0.1, "width": 150, "help": words.HELP["lambda"]}
    values = {
        key: row.slider(key, name, 0.0, 8.0, usual, disabled=key not in keys, **common)
        for key, (name, usual) in LAMBDAS.items()
    }
    by_query = row.switch("mu", "μ by query")
    return varied, {key: round(value, 4) for key, value in values.items()}, by_query


def _table(values: dict[str, float], by_query: bool) -> Costs:
    return table_of([values["l10"], values["l20"], values["l21"]], by_query=by_query)


def _top(base: RunRecord, chosen: RunRecord, data: RankingData, part: str, costs: str) -> None:
    """Draw the first documents of one query without and with costs."""
    queries = [int(q) for q in data.query_ids]
    query = Bound(helps=words.HELP).menu_of_data("query", "Query", queries, width=260)
    rows = ranked_list.list_data(base.scores[part], chosen.scores[part], data, queries.index(query))
    k = min(LIST_LENGTH, len(rows))
    ndcg = [record.metrics[part].loc[query, "NDCG@10"] for record in (base, chosen)]
    FIGURES.show(
        "influence-list",
        ranked_list.list_figure(rows, "every pair costs 1", "with costs", k),
        rows,
        f"query {query} has NDCG@10 {ndcg[0]:.3f} without costs, {ndcg[1]:.3f} with them",
        query=query,
        documents=len(rows),
        k=k,
        costs=costs,
        about=describe(base.spec, part),
    )


def _grades(spec: RunSpec, settings: Settings) -> list[int]:
    folds = [fold_of(spec.but(fold=fold)) for fold in settings.folds]
    return sorted({int(grade) for fold in folds for grade in np.unique(fold.train.y)})


def _folds(settings: Settings) -> str:
    return f"{len(settings.folds)} folds" if len(settings.folds) > 1 else "one fold"


def _definition(spec: RunSpec, settings: Settings, part: str) -> str:
    """Describe the definition of the metrics."""
    return definition_caption(*(fold_of(spec.but(fold=fold)).parts[part] for fold in settings.folds))
