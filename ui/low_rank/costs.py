"""Seconds, objectives and metrics of the plain, the factorised and the regularised model."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from rankviz.analysis.model_duals import run_duals
from rankviz.common.numbers import power_of_two
from rankviz.metrics.significance import compare
from rankviz.models.dual_variables import Duals
from rankviz.models.hinge_values import hinge_values
from rankviz.models.methods import USUAL
from rankviz.plots.low_rank_style import MODELS, NAMES
from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec
from ui.low_rank import models_words as words
from ui.low_rank import words as texts
from ui.low_rank.work import Shown
from ui.shared.foreign import describe
from ui.shared.reveal import part_shown
from ui.shared.show import sentence, show_answer, show_table

METRICS = ("NDCG@10", "MAP")


def show(what: Shown, records: Mapping[str, RunRecord]) -> None:
    """Draw objectives, metrics, seconds and status of the three models, with significant differences."""
    part = part_shown(what.spec)
    table = costs_of(what, records, part)
    show_answer(sentence(words.gaps(table)))
    number = st.column_config.NumberColumn
    show_table(
        table,
        column_config={
            "objective": number(format="%.6g", help=texts.COLUMN_HELP["objective"]),
            "hinge": number("½‖w‖² + C·hinge", format="%.6g", help=texts.COLUMN_HELP["hinge"]),
            "dual": number(
                "Σα − ½‖w‖²",
                format="%.6g",
                help=texts.COLUMN_HELP["dual"],
            ),
            "gap": number("duality gap", format="percent", help=texts.COLUMN_HELP["gap"]),
            **{metric: number(f"{metric}, {PART_NAMES[part]}", format="%.4f") for metric in METRICS},
            "seconds": number(format="%.2f", help=texts.COLUMN_HELP["seconds"]),
        },
    )
    st.caption(words.ended({NAMES[model]: record.status for model, record in records.items()}))
    plain = records[USUAL]
    name = f"the plain one {words.with_loss(plain.spec)}"
    for model in MODELS[1:]:
        for metric in METRICS:
            result = compare(records[model].metrics[part][metric], plain.metrics[part][metric])
            st.markdown(f"- {sentence(result.sentence(f'the {NAMES[model]} model', name, metric))}")
    st.caption(texts.CAPTIONS["costs"].format(part=PART_NAMES[part], plain=describe(plain.spec, part)))


def costs_of(what: Shown, records: Mapping[str, RunRecord], part: str) -> pd.DataFrame:
    """Return one row per model, by its name: settings, objectives, gap, metrics, seconds."""
    rows = {}
    for model, record in records.items():
        hinge, dual = _values(record.spec, run_duals(record, what.train))
        certified = model != USUAL or words.is_plain_hinge(record.spec)
        rows[NAMES[model]] = {
            "settings": _settings(record.spec),
            "objective": record.objective,
            "hinge": hinge,
            "dual": dual if certified else math.nan,
            "gap": (hinge - dual) / hinge if certified and hinge > 0 else math.nan,
            **{metric: float(record.metrics[part][metric].mean()) for metric in METRICS},
            "seconds": training_seconds(record),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def _settings(spec: RunSpec) -> str:
    return ", ".join([f"C = {power_of_two(spec.C)}", *words.own_settings(spec)])


@st.cache_resource(max_entries=64, show_spinner=False)
def _values(spec: RunSpec, _duals: Duals) -> tuple[float, float]:
    return hinge_values(_duals)
