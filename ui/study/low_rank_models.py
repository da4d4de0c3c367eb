"""Comparison of the plain, the factorised and the regularised model on the Low rank page (Table 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.model_duals import run_duals, thresholded_blocks
from rankviz.analysis.spectra import Spectra, spectra_of
from rankviz.common.numbers import power_of_two
from rankviz.common.settings import Setting
from rankviz.datasets import DataError
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.solvers import SOLVER
from rankviz.metrics.significance import compare
from rankviz.models.dual_variables import Duals, hinge_values
from rankviz.models.low_rank_settings import COUPLING, DUAL_SOLVER, FACTOR_SOLVER, FACTORS, NUCLEAR
from rankviz.models.methods import METHODS, USUAL
from rankviz.plots import dual_ranks
from rankviz.plots.low_rank_models import MODEL_NAMES, MODELS, is_plain
from rankviz.runs.description import PART_NAMES, look_of
from rankviz.runs.estimate import check_budget
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec
from ui.controls import selection
from ui.controls.setting_controls import control_of, value_from
from ui.controls.settings import spec_from_state
from ui.controls.widgets import C_EXPONENTS, Bound, part_shown
from ui.shell.figures import Figures, capital, folded, sentence, show_answer, show_table
from ui.shell.page import progress_bar
from ui.shell.texts import describe, escaped
from ui.study import low_rank_models_words as words
from ui.study import low_rank_words as texts
from ui.study.low_rank_computations import HINGE, Shown, toolbar
from ui.work.jobs import predicted
from ui.work.metrics import measured, offered

FIGURES = Figures(captions=texts.CAPTIONS)

SHOWN = ("NDCG@10", "MAP")
"""Metrics that are shown at first."""
Records = Mapping[RunSpec, RunRecord | None]
"""The records of `specs`; None for missing ones."""
SIDEBAR = "the current model's C"
CS = (SIDEBAR, *range(C_EXPONENTS[0], C_EXPONENTS[1] + 1))
HERE = {
    FACTORS: replace(FACTORS, key="factors"),
    NUCLEAR: replace(NUCLEAR, key="nuclear"),
    COUPLING: replace(COUPLING, key="coupling"),
}
"""Settings of both models, with this page's own keys if it has controls for them."""
C_KEY = "clow"
PLAIN = {"hinge": "with the hinge, as the other two", "sidebar": "the current model"}
PLAIN_KEY = "plainmodel"
WIDTH = 175  # pixels: the longest label with its help fits in one line; the rest wraps
MATRICES = {"low_rank": "A, thresholded", "alpha": "α"}
AGAINST = {"largest_rank": "largest possible rank", "documents": "documents", "pairs": "pairs"}
PRINTED = pd.DataFrame(
    [(49, 109, 420, 8, 5, 5), (45, 205, 7482, 92, 5, 6), (35, 320, 27153, 234, 5, 15)],
    columns=["query", "documents", "pairs", "plain", "factorised", "regularised"],
)
"""xu2019 Table 6: OHSUMED fold 1."""


def costs(what: Shown, records: Mapping[str, RunRecord]) -> None:
    """Draw objectives, metrics, seconds and status of the three models, with significant differences."""
    part = part_shown(what.spec)
    metrics = Bound().several("costmetrics", "Metrics", offered(), SHOWN, help=words.METRICS_HELP)
    records = {model: reduce(measured, metrics, record) for model, record in records.items()}
    table = costs_of(what, records, part, metrics)
    show_answer(words.gaps(table))
    number = st.column_config.NumberColumn
    show_table(
        table,
        column_config={
            "objective": number(format="%.6g", help=texts.COLUMN_HELP["objective"]),
            "hinge": number("½‖w‖² + C·hinge", format="%.6g", help=texts.COLUMN_HELP["hinge"]),
            "dual": number("Σα − ½‖w‖²", format="%.6g", help=texts.COLUMN_HELP["dual"]),
            "gap": number("duality gap", format="percent", help=texts.COLUMN_HELP["gap"]),
            **{metric: number(f"{metric}, {PART_NAMES[part]}", format="%.3f") for metric in metrics},
            "seconds": number(format="%.2f", help=texts.COLUMN_HELP["seconds"]),
        },
    )
    st.caption(words.ended({MODEL_NAMES[model]: record.status for model, record in records.items()}))
    plain = records[USUAL]
    name = f"the plain one {words.with_loss(plain.spec)}"
    for model in MODELS[1:]:
        for metric in metrics:
            result = compare(records[model].metrics[part][metric], plain.metrics[part][metric])
            st.markdown(f"- {sentence(result.sentence(f'the {MODEL_NAMES[model]} model', name, metric))}")
    st.caption(texts.CAPTIONS["costs"].format(part=PART_NAMES[part], plain=describe(plain.spec, part)))


def costs_of(
    what: Shown, records: Mapping[str, RunRecord], part: str, metrics: Sequence[str] = SHOWN
) -> pd.DataFrame:
    """Return one row per model, by its name: settings, objectives, gap, metrics, seconds."""
    rows = {}
    for model, record in records.items():
        hinge, dual = _values(record.spec, run_duals(record, what.train))
        certified = not is_plain(record.spec) or words.is_plain_hinge(record.spec)
        rows[MODEL_NAMES[model]] = {
            "settings": _settings(record.spec),
            "objective": record.objective,
            "hinge": hinge,
            "dual": dual if certified else math.nan,
            "gap": (hinge - dual) / hinge if certified and hinge > 0 else math.nan,
            **{metric: float(record.metrics[part][metric].mean()) for metric in metrics},
            "seconds": training_seconds(record),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def _settings(spec: RunSpec) -> str:
    return ", ".join([f"C = {power_of_two(spec.C)}", *words.own_settings(spec)])


@st.cache_resource(max_entries=64, show_spinner=False)
def _values(spec: RunSpec, _duals: Duals) -> tuple[float, float]:
    return hinge_values(_duals)


@dataclass(frozen=True)
class Settings:
    """Settings of both models: K; nuclear and coupling (the paper's γ and λ); C."""

    factors: int
    nuclear: float
    coupling: float
    C: float

    @property
    def threshold(self) -> float:
        """The amount subtracted from the singular values of A."""
        return self.nuclear / (2.0 * self.coupling)


def settings(spec: RunSpec) -> Settings:
    """Return the settings: the sidebar's if its model has them, else those of the page's controls.

    Controls that are not drawn yet have their initial values.
    """
    state, has = st.session_state, set(spec.declared().values())
    own = {
        one.name: one.checked(spec.get(one.name) if one in has else value_from(here, state))
        for one, here in HERE.items()
    }
    C = state.get(C_KEY, SIDEBAR)
    if C == SIDEBAR:  # even if its model has none
        C = spec.get(LOSS_WEIGHT.name, value_from(LOSS_WEIGHT, state))
    else:
        C = LOSS_WEIGHT.checked(2.0 ** int(C))
    return Settings(**own, C=float(C))


def controls(spec: RunSpec) -> tuple[DeltaGenerator, Settings]:
    """Draw the row of controls of both models, without those of the sidebar; return it with the settings."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for setting, here in HERE.items():
        if setting not in spec.declared().values():
            with row.container(width=WIDTH):
                control_of(here).draw(False, here.help)
    with row.container(width=WIDTH):
        control_of_C()
    return row, settings(spec)


def control_of_C() -> None:
    """Draw the control of C of both models."""
    options = {c: c if c == SIDEBAR else power_of_two(2.0**c) for c in CS}
    Bound(helps=texts.HELP).menu(C_KEY, "C of both", options)


def usual(spec: RunSpec) -> RunSpec:
    """Return the plain model on the data and features of a run: itself if it is plain."""
    if is_plain(spec):
        return spec
    if FEATURE_MAP in spec.declared().values():
        return spec.but(method=USUAL)
    return spec_from_state(st.session_state, value_from(FEATURE_MAP, st.session_state), solver=SOLVER.default)


def plain_with(spec: RunSpec, loss: str, **changes: Any) -> RunSpec:
    """Return the plain model with a loss, with the solver that supports all losses."""
    return usual(spec).but(loss=loss, solver=SOLVER.default, **changes)


def plain_look(spec: RunSpec) -> str:
    """Return the look of the plain model on the features of a run."""
    return look_of(usual(spec))


def factorized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """Return the factorised model with these settings: the sidebar's own run if it is factorised."""
    return _low_rank(spec, FACTORS, C=chosen.C, factors=chosen.factors, solver=FACTOR_SOLVER.default)


def regularized(spec: RunSpec, chosen: Settings) -> RunSpec:
    """Return the regularised model with these settings: the sidebar's own run if it is regularised."""
    weights = {"nuclear": chosen.nuclear, "coupling": chosen.coupling}
    return _low_rank(spec, NUCLEAR, C=chosen.C, **weights, solver=DUAL_SOLVER.default)


def _low_rank(spec: RunSpec, declared: Setting, C: float, **values: Any) -> RunSpec:
    """Return the model of the method that declares a setting: the sidebar's own run if it is this one."""
    if declared in spec.declared().values():
        return spec.but(C=C)
    method = next(name for name, kind in METHODS.items() if declared in kind.settings)
    return usual(spec).but(method=method, C=C, **values)


def plain_hinge(spec: RunSpec, C: float) -> RunSpec | None:
    """Return the plain model with the loss and C of the other two; None if it is the sidebar's."""
    same = (spec.get("loss"), spec.get("costs"), spec.get("rank"), spec.get("C")) == (HINGE, None, None, C)
    if is_plain(spec) and same:
        return None
    cut = {"rank": None} if "rank" in usual(spec) else {}
    return plain_with(spec, HINGE, costs=None, C=C, **cut)


def chosen_plain(spec: RunSpec, C: float) -> RunSpec | None:
    """Return the plain model to train besides the sidebar's; None if that is the chosen one."""
    as_here = not is_plain(spec) or st.session_state.get(PLAIN_KEY, "hinge") == "hinge"
    return plain_hinge(spec, C) if as_here else None


def control_of_plain(spec: RunSpec, C: float) -> None:
    """Draw the choice of the plain model, if there are two."""
    if not is_plain(spec) or plain_hinge(spec, C) is None:
        return
    Bound(helps=texts.HELP).buttons(PLAIN_KEY, "Plain model", PLAIN)


def bare(spec: RunSpec) -> RunSpec:
    """Return a spec without the digest of its data, as the page requests it."""
    return spec.but(digest="")


def refusal(spec: RunSpec) -> str:
    """Explain why a run does not fit into memory; "" if it does."""
    try:
        check_budget(predicted(spec))
    except DataError as error:
        return str(error)
    return ""


def affordable(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Return the specs that fit into memory."""
    return [spec for spec in specs if not refusal(spec)]


def in_kernel_space(spec: RunSpec) -> bool:
    """Return True if an exact kernel is trained without rows of features."""
    return predicted(spec).sizes.in_kernel_space


def found(wanted: Sequence[RunSpec], records: Records) -> list[RunRecord | None]:
    """Return the records of specs; report those that do not fit, and rerun the page for unknown ones."""
    for reason in dict.fromkeys(filter(None, map(refusal, wanted))):
        st.warning(escaped(reason), icon=":material/memory:")
    if any(spec not in records for spec in affordable(wanted)):
        st.rerun()
    return [records.get(spec) for spec in wanted]


def wait(what: str = "This figure") -> None:
    """Say that a record is missing."""
    st.info(texts.APPEARS.format(what=what), icon=":material/hourglass_empty:")


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return the runs besides the page's own."""
    return affordable(_wanted(spec, settings(spec)))


def _wanted(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """Return the factorised and the regularised model, and the plain one unless it is the page's own run."""
    low_rank = [factorized(spec, chosen), regularized(spec, chosen)]
    plain = chosen_plain(spec, chosen.C)
    return low_rank if plain is None else [*low_rank, plain]


def show(what: Shown, others: Records) -> None:
    """Draw the ranks of the three models, and their costs and metrics."""
    row, chosen = controls(what.spec)
    own = bare(what.spec)
    with row.expander("What is drawn", type="compact"):
        control_of_plain(own, chosen.C)
        which, measure, against = _view()
    told = words.trained_losses if chosen_plain(own, chosen.C) is None else words.all_the_hinge
    st.markdown(told(what.spec, chosen.C))
    first, convex, *hinge = found(_wanted(own, chosen), others)
    plain = hinge[0] if hinge else what.record
    if first is None or convex is None or plain is None:
        wait()
        return
    records = dict(zip(MODELS, (plain, first, convex), strict=True))
    spectra = _spectra(what, records, which)
    table = dual_ranks.models_data(spectra, what.choice.share, what.choice.tolerance)
    dragmode = toolbar(what)
    if len(what.only_selected(table)):
        _ranks(what, records, table, chosen, (which, measure, against), dragmode)
    else:
        st.info(texts.none_counted(len(what.selected)), icon=":material/info:")
    st.markdown(texts.other_queries(what.needs["query"], table["query"]))
    if len(spectra["regularized"].table) == 0 and which == "low_rank":
        largest = max((values[0] for values in _alpha_spectra(what, convex).values), default=0.0)
        st.info(words.all_zero(chosen, float(largest)), icon=":material/info:")
    _printed(what, table, plain.spec)
    _per_query(what, table)
    costs(what, records)


def _view() -> tuple[str, str, str]:
    """Draw the menus; return the matrices of the regularised model, the measure, and the axis."""
    bound = Bound(helps=texts.HELP)
    measures = {"rank": "rank", "k": "k for the share of the energy"}
    which = bound.buttons("regmatrix", "Regularised: matrices counted", MATRICES)
    return which, bound.buttons("shown", "Shown", measures), bound.buttons("rankagainst", "Against", AGAINST)


def _spectra(what: Shown, records: Mapping[str, RunRecord], which: str) -> dict[str, Spectra]:
    """Return the spectra of the three models for the page's matrix."""
    matrix, train = what.choice.matrix, what.train
    plain = records[USUAL]
    return {
        USUAL: what.found if plain is what.record else _alpha_spectra(what, plain),
        "factorized": _alpha_spectra(what, records["factorized"]),
        "regularized": _alpha_spectra(what, records["regularized"])
        if which == "alpha"
        else _spectra_of(
            records["regularized"].spec, which, matrix, thresholded_blocks(records["regularized"], train)
        ),
    }


def _alpha_spectra(what: Shown, record: RunRecord) -> Spectra:
    return _spectra_of(record.spec, "alpha", what.choice.matrix, run_duals(record, what.train))


@st.cache_resource(max_entries=64, show_spinner=False)
def _spectra_of(spec: RunSpec, which: str, matrix: str, _duals: Duals) -> Spectra:
    with progress_bar(f"Singular values, {MODEL_NAMES[spec.method]} model") as tell:
        return spectra_of(_duals, matrix, tell)


def _ranks(
    what: Shown,
    records: Mapping[str, RunRecord],
    table: pd.DataFrame,
    chosen: Settings,
    view: tuple[str, str, str],
    dragmode: str,
) -> None:
    """Draw the figure of ranks with its sentences."""
    which, measure, against = view
    plain = records[USUAL].spec
    allowed = dual_ranks.rank_bounds(table, chosen.factors, what.choice.matrix)
    key = selection.chart_key("rank-by-model")
    figure = dual_ranks.models_figure(
        table,
        look_of(plain),
        measure=measure,
        against=against,
        allowed=allowed,
        selected=what.selected,
    )
    figure.update_layout(dragmode=dragmode)
    counted = {
        "rank": f"Zero: σ up to {texts.power_of_ten(what.choice.tolerance)} of the largest",
        "k": f"k: for {texts.percent(what.choice.share)} of the energy",
    }[measure]
    own = "; ".join(describe(records[model].spec).method for model in MODELS[1:])
    shown = what.only_selected(table)
    of = "selected " if what.selected else ""
    FIGURES.show(
        key,
        figure,
        table,
        words.ranks(shown, measure, plain, of),
        texts="rank-by-model",
        on_select=selection.on_bars(key, list),
        counted=counted,
        matrix=words.MATRIX_WORDS[which],
        factors=FACTORS.format(chosen.factors),
        own=capital(own),
        plain=describe(plain, "train"),
    )
    above = words.above_K(shown, chosen.factors) if measure == "rank" else ""
    law = words.law(allowed, chosen.factors, what.choice.matrix)
    st.markdown(f"{above} {law} {words.growth(shown, measure)}")


def _printed(what: Shown, table: pd.DataFrame, plain: RunSpec) -> None:
    """Draw the three queries of Table 6 if they are in the training part."""
    here = table.merge(PRINTED[["query"]], "inner", "query")
    if what.spec.dataset != "OHSUMED" or len(here) == 0:
        return
    both = PRINTED.merge(here, "inner", "query", suffixes=(" printed", ""))
    columns = {"documents": both["documents"], "pairs": both["pairs"], "largest rank": both["largest_rank"]}
    alike = all(both[name].equals(both[f"{name} printed"]) for name in ("documents", "pairs"))
    for name in ("plain", "factorised", "regularised"):
        columns |= {name: both[f"rank_{name}"], f"{name}, printed": both[name]}
    st.markdown("**xu2019's Table 6 beside ranks found here**")
    show_table(pd.DataFrame({"query": both["query"]} | columns), hide_index=True)
    st.caption(
        texts.CAPTIONS["printed"].format(
            alike="are" if alike else "are not", matrix=what.choice.matrix, plain=describe(plain, "train")
        )
    )


def _per_query(what: Shown, table: pd.DataFrame) -> None:
    """Draw every query's numbers under the three models."""
    number = st.column_config.NumberColumn
    share, zero = texts.percent(what.choice.share), texts.power_of_ten(what.choice.tolerance)
    config = {"largest_rank": number("largest rank", help=texts.COLUMN_HELP["largest_rank"])}
    for model in MODELS:
        name = MODEL_NAMES[model]
        config[f"rank_{name}"] = number(f"rank, {name}", help=texts.COLUMN_HELP["rank"].format(zero=zero))
        config[f"k_{name}"] = number(f"k, {name}", help=texts.COLUMN_HELP["k"].format(share=share))
    columns = ["query", "documents", "grades", "pairs", "largest_rank"]
    columns += [f"{measure}_{MODEL_NAMES[model]}" for measure in ("rank", "k") for model in MODELS]
    shown = what.only_selected(table)
    if len(shown) == 0:
        return

    def draw() -> None:
        show_table(shown[columns], hide_index=True, column_config=config)
        st.caption(texts.CAPTIONS["every"])

    label = f"Every query ({texts.queries(len(shown), 'selected ' if what.selected else '')})"
    folded(label, "low-rank-queries-table", draw)
