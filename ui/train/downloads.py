"""Downloads of the Train page: scores, margins, weights, the model and the run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st

from rankviz import save
from rankviz.common.spreadsheets import as_csv
from rankviz.datasets import Fold, RankingData, normalise, write_scores
from rankviz.learning.pairs import preference_pairs
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.storage import can_save
from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord
from rankviz.runs.run import model_from, model_of
from rankviz.runs.spec import RunSpec
from ui.shared.runs import fold_later
from ui.train import words


def downloads(record: RunRecord, part: str) -> None:
    """Draw download buttons; files are made when they are pressed."""
    st.markdown("**Download**")
    row = st.container(horizontal=True)
    named, stem = PART_NAMES[part], f"rankviz-{record.spec.hash}"
    fold = fold_later(record.spec)

    def button(label: str, made: Callable[[], str | bytes], name: str, about: str | None = None) -> None:
        name = f"{stem}{name}"
        row.download_button(label, made, name, key=f"save-{label}", on_click="ignore", help=about)

    button(f"Scores, {named} part", lambda: _scores(record, fold().parts[part], part), f"-{part}-scores.txt")
    button(
        f"Margins, {named} part", lambda: margins(record, fold().parts[part], part), f"-{part}-margins.csv"
    )
    if record.spec.offers.weights:
        button("Weights", lambda: weights(record, fold().parts[part]), "-weights.csv")
    if can_be_rebuilt(record.spec):
        button("Model", lambda: _model(record, fold()), "-model.npz", "npz and JSON for rankviz.load")
    button("Run", lambda: _file(record.save, "run.npz"), "-run.npz", "for RunRecord.load")
    button("Settings", record.spec.to_json, ".json", "JSON for RunSpec.from_json")
    st.caption(words.SCORES)


def margins(record: RunRecord, data: RankingData, part: str) -> str:
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


def weights(record: RunRecord, data: RankingData) -> str:
    """Return CSV with one weight per line, with names of input features."""
    m = len(record.weights)
    numbers = [f"{k}" for k in range(1, m + 1)]
    names = data.feature_names if record.spec.offers.input_weights and data.feature_names else numbers
    return as_csv(pd.DataFrame({"feature": names, "weight": record.weights}))


def _scores(record: RunRecord, data: RankingData, part: str) -> bytes:
    return _file(lambda path: write_scores(path, data, record.scores[part]), "scores.txt")


def can_be_rebuilt(spec: RunSpec) -> bool:
    """Return True if the fitted model can be rebuilt from the record's weights, and saved."""
    model = model_of(spec)
    return isinstance(model, FeatureRanker) and can_save(model)


def _model(record: RunRecord, fold: Fold) -> bytes:
    """Return the fitted model; records have no landmarks, so they are drawn again."""
    model = model_from(record, normalise(fold, record.spec.normalisation).train)
    return _file(lambda path: save(model, path), "model.npz")


def _file(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
