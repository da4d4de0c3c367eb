"""Models that evaluate changes: the latest few, with cached outcomes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock

import pandas as pd
import streamlit as st

from rankviz.common.arrays import FloatArray
from rankviz.datasets import Fold, RankingData
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.ranker import Ranker
from rankviz.runs.record import RunRecord
from rankviz.runs.run import model_from, model_of
from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import Change
from rankviz.whatif.outcomes import Outcome, WhatIf, by_query
from ui.work.folds import IDLE_SECONDS, normalised
from ui.work.metrics import measured, metric_now

MODELS, OUTCOMES = 4, 64
MOST_BYTES = 1e9
"""Largest bytes of features of models besides the latest one."""


class SharedModel:
    """One model on one fold; simultaneous requests of visitors wait."""

    def __init__(self, make: Callable[[], WhatIf]) -> None:
        self._make, self._lock = make, Lock()
        self._what_if: WhatIf | None = None
        self._outcomes: OrderedDict[tuple[Change, ...], Outcome] = OrderedDict()
        self._model: tuple[tuple[Change, ...], Ranker] | None = None

    def knows(self, changes: Sequence[Change]) -> bool:
        """Return True if the outcome is cached."""
        return tuple(changes) in self._outcomes

    def before(self) -> dict[str, FloatArray]:
        """Return scores without a change, by part."""
        with self._lock:
            return self._model_of_changes().before

    def outcome(self, changes: Sequence[Change]) -> Outcome:
        """Return the outcome of changes, cached or computed now; `DataError` for invalid changes."""
        key = tuple(changes)
        with self._lock:
            if key not in self._outcomes:
                self._outcomes[key] = self._model_of_changes().outcome(key)
                while len(self._outcomes) > OUTCOMES:
                    self._outcomes.popitem(last=False)
            self._outcomes.move_to_end(key)
            return self._outcomes[key]

    def model(self, changes: Sequence[Change]) -> Ranker:
        """Return the model trained with the changes; the latest one is cached."""
        key = tuple(changes)
        with self._lock:
            if self._model is None or self._model[0] != key:
                self._model = key, self._model_of_changes().model(key)
            return self._model[1]

    def training(self, changes: Sequence[Change]) -> RankingData:
        """Return the training part with the changes."""
        with self._lock:
            return self._model_of_changes().training(changes)

    def margins_without_queries(
        self, A: FloatArray, B: FloatArray, most: int, seconds: float
    ) -> pd.DataFrame:
        """Return f(A) − f(B) without each training query; `SettingError` if it cannot be estimated."""
        with self._lock:
            return self._model_of_changes().margins_without_queries(A, B, most, seconds)

    def prepare(self) -> None:
        """Prepare shared computations for the first change."""
        with self._lock:
            self._model_of_changes().prepare()

    def _model_of_changes(self) -> WhatIf:
        if self._what_if is None:
            self._what_if = self._make()
        return self._what_if


class Memory:
    """The models used last, by spec, shared by all visitors; freed when idle, like folds."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[RunSpec, _Kept] = OrderedDict()

    def get(self, spec: RunSpec, make: Callable[[], WhatIf], size: float) -> SharedModel:
        """Return the model of a spec, whose features take about `size` bytes."""
        with self._lock:
            kept = self._kept.setdefault(spec, _Kept(SharedModel(make), size))
            kept.asked_at = time.monotonic()
            self._kept.move_to_end(spec)
            while len(self._kept) > 1 and self._too_much():
                self._kept.popitem(last=False)
            return kept.model

    def free_idle(self, now: float) -> bool:
        """Free models that were not used for a while, by the monotonic clock; return True if any were."""
        with self._lock:
            idle = [spec for spec, kept in self._kept.items() if now - kept.asked_at > IDLE_SECONDS]
            for spec in idle:
                del self._kept[spec]
        return bool(idle)

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self._kept)

    def _too_much(self) -> bool:
        return len(self._kept) > MODELS or sum(kept.size for kept in self._kept.values()) > MOST_BYTES


@dataclass
class _Kept:
    model: SharedModel
    size: float
    asked_at: float = 0.0


@cache
def memory() -> Memory:
    """Return the instance for the server."""
    return Memory()


def shared_model(record: RunRecord, fold: Fold) -> SharedModel:
    """Return the model of a record on its fold, normalised."""
    size = 16.0 * fold.train.n_documents * max(record.n_components, 1)
    return memory().get(record.spec, lambda: WhatIf(_model(record, fold), fold), size)


def at_optimum(record: RunRecord) -> RunRecord:
    """Return a record with the page's metric on validation queries, of the model that changes start from.

    Runs end at a larger tolerance, and their MAP can differ in the last decimal.
    """
    if not record.spec.offers.refits:
        return measured(record)
    metric = metric_now()
    scores = _scores_before(record.spec, lambda: record)
    own = by_query(scores, normalised(record.spec).vali, metric).to_numpy()
    table = record.metrics["vali"].assign(**{metric: own})
    return replace(record, metrics=record.metrics | {"vali": table})


@st.cache_resource(max_entries=64, show_spinner=False)
def _scores_before(spec: RunSpec, _opened: Callable[[], RunRecord]) -> FloatArray:
    """Return the scores of the validation part without a change."""
    return shared_model(_opened(), normalised(spec)).before()["vali"]


def _model(record: RunRecord, fold: Fold) -> Ranker:
    """Return the fitted model; train it again if it cannot be rebuilt from its record."""
    unfitted = model_of(record.spec)
    if record.spec.offers.rounds or (isinstance(unfitted, FeatureRanker) and record.spec.offers.weights):
        return model_from(record, fold.train)
    return unfitted.fit_watching(fold.train, fold.vali)
