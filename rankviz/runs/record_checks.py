"""Checks of a run record: what no run can have given is refused, whoever wrote the file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from rankviz.runs.record import RunRecord

PARTS = ("train", "vali", "test")
MOST_COLUMNS, LONGEST = 500, 1000
"""Columns of a table, and characters of a text."""


def check_record(record: RunRecord) -> None:
    """Raise ValueError where fields of a record have impossible values or do not fit together.

    Metrics lie in [0, 1], seconds and memory are ≥ 0, scores and weights are finite. A part has one row of
    metrics for each of its queries, and one score at least. There are weights for all features, and no more
    preference pairs than pairs of training documents.
    """
    _text("status", record.status)
    _text("start", record.start)
    for package, version in _mapping("versions", record.versions).items():
        _text("versions", package)
        _text("versions", version)
    for stage, seconds in _mapping("seconds", record.seconds).items():
        _text("seconds", stage)
        _number(f"seconds of {stage}", seconds)
    if not math.isnan(record.peak_memory):
        _number("peak_memory", record.peak_memory)
    if math.isinf(record.objective):
        raise ValueError("objective is infinite")
    for name in ("n_components", "n_pairs"):
        _whole(name, getattr(record, name))
    if tuple(record.metrics) != PARTS:
        raise ValueError(f"parts {', '.join(map(str, record.metrics))}; a run has {', '.join(PARTS)}")
    for part, table in record.metrics.items():
        _part(part, table, record.scores[part])
    n = len(record.scores["train"])
    if record.n_pairs > n * (n - 1) // 2:
        raise ValueError(f"{record.n_pairs} preference pairs of {n} training documents")
    _finite("weights", record.weights, 1)
    if record.n_components not in (0, len(record.weights)):
        raise ValueError(f"{len(record.weights)} weights of {record.n_components} features")
    for name, found in record.solution.items():
        _finite(f"solution {name}", found, 0, 1, 2)
    _trace(record.trace)


def _part(part: str, table: pd.DataFrame, scores: Any) -> None:
    values = table.to_numpy()
    _columns(f"metrics of {part}", table)
    if table.index.dtype.kind not in "iuOT" or not table.index.is_unique or table.empty:
        raise ValueError(f"queries of {part} are no names that are all different")
    if values.dtype != np.float64 or not ((values >= 0) & (values <= 1)).all():  # NaN is not
        raise ValueError(f"metrics of {part} are not all numbers from 0 to 1")
    _finite(f"scores of {part}", scores, 1)
    if len(scores) < len(table):
        raise ValueError(f"{len(scores)} scores of {part}, which has {len(table)} queries")


def _trace(trace: pd.DataFrame) -> None:
    if trace.empty and not len(trace.columns):
        return
    _columns("trace", trace)
    for name in trace:
        if trace[name].dtype not in (np.float64, np.int64):
            raise ValueError(f"{name} of the trace are no numbers")
        if trace[name].dtype == np.int64 and (trace[name] < 0).any():
            raise ValueError(f"{name} of the trace is below 0")
    if "iteration" in trace and not trace["iteration"].is_monotonic_increasing:
        raise ValueError("iterations of the trace do not rise")
    if "seconds" in trace and not (trace["seconds"] >= 0).all():
        raise ValueError("seconds of the trace are below 0")


def _columns(what: str, table: pd.DataFrame) -> None:
    names = list(table.columns)
    for name in names:
        _text(f"a column of {what}", name)
    if not 0 < len(names) <= MOST_COLUMNS or len(set(names)) < len(names):
        raise ValueError(f"columns of {what} are none, too many, or called alike")


def _finite(what: str, values: Any, *dimensions: int) -> None:
    if values.dtype != np.float64 or values.ndim not in dimensions or not np.isfinite(values).all():
        raise ValueError(f"{what} are {values.dtype}{values.shape}, expected finite float64")


def _mapping(what: str, values: Any) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} is {type(values).__name__}, expected an object")
    return values


def _text(what: str, value: Any) -> None:
    if not isinstance(value, str) or not len(value) <= LONGEST:
        raise ValueError(f"{what} is no text of at most {LONGEST} characters")


def _number(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{what} is {str(value)[:40]!r}, expected a number of at least 0")


def _whole(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(f"{what} is {str(value)[:40]!r}, expected a whole number of at least 0")
