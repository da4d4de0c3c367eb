"""Downloads of the Train page: scores, margins, weights, the model and the run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz import save
from rankviz.datasets import RankingData, write_scores
from rankviz.experiments.description import PART_NAMES
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run import model_from, model_of
from rankviz.experiments.spec import RunSpec
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.storage import can_save
from rankviz.risk.pairs import preference_pairs
from ui.shared.foreign import as_csv
from ui.shared.runs import normalised


def downloads(record: RunRecord, data: RankingData, part: str) -> None:
    """Buttons whose files are made when they are pressed."""
    st.markdown("**Take it with you**")
    row = st.container(horizontal=True)
    words, stem = PART_NAMES[part], f"rankviz-{record.spec.hash}"
    _button(row, f"Scores, {words} part", lambda: _scores(record, data, part), f"{stem}-{part}-scores.txt")
    _button(row, f"Margins, {words} part", lambda: margins(record, data, part), f"{stem}-{part}-margins.csv")
    if record.spec.offers.weights:
        _button(row, "Weights", lambda: weights(record, data), f"{stem}-weights.csv")
    if can_be_rebuilt(record.spec):
        _button(row, "Model", lambda: _model(record), f"{stem}-model.npz", "npz and JSON for rankviz.load")
    _button(row, "Run", lambda: _file(record.save, "run.npz"), f"{stem}-run.npz", "for RunRecord.load")
    _button(row, "Settings", record.spec.to_json, f"{stem}.json", "JSON for RunSpec.from_json")
    st.caption("Scores are in the order of the part's file, one to a line, as LETOR's scripts read them.")


def margins(record: RunRecord, data: RankingData, part: str) -> str:
    """CSV with one preference pair to a line: query, the two documents by position in the file, margin."""
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
    """CSV with one weight to a line; weights of the input features are named by them."""
    m = len(record.weights)
    numbers = [f"{k}" for k in range(1, m + 1)]
    names = data.feature_names if record.spec.offers.input_weights and data.feature_names else numbers
    return as_csv(pd.DataFrame({"feature": names, "weight": record.weights}))


def _scores(record: RunRecord, data: RankingData, part: str) -> bytes:
    return _file(lambda path: write_scores(path, data, record.scores[part]), "scores.txt")


def can_be_rebuilt(spec: RunSpec) -> bool:
    """Whether the fitted model can be made of the record's weights again, and written to a file."""
    model = model_of(spec)
    return isinstance(model, FeatureRanker) and can_save(model)


def _model(record: RunRecord) -> bytes:
    """The fitted model; records keep no landmarks, so they are drawn again."""
    model = model_from(record, normalised(record.spec).train)
    return _file(lambda path: save(model, path), "model.npz")


def _file(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _button(
    row: DeltaGenerator,
    label: str,
    data: Callable[[], str | bytes],
    name: str,
    about: str | None = None,
) -> None:
    row.download_button(label, data, name, key=f"save-{label}", on_click="ignore", help=about)
