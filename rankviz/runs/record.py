"""RunRecord: the result of a run, complete enough to draw its figures without training; and its checks."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataWarning, SettingError
from rankviz.common.npz import Arrays, npz_bytes, read_npz, read_npz_bytes, unreadable, write_npz
from rankviz.common.settings import is_text
from rankviz.models.rounds import IMPORTANCE, KEPT, MEASURE, ROOTS, RoundRanker, other_library
from rankviz.models.rounds import PARTS as MEASURED_PARTS
from rankviz.runs.description import PART_NAMES, method_label
from rankviz.runs.spec import RunSpec

FORMAT = 3
SHARES, MEASURED, TREE_ROOTS, N_ROUNDS, ON_PARTS = IMPORTANCE, MEASURE, ROOTS, KEPT, MEASURED_PARTS
"""Names in records of rankers that grow by rounds, for figures."""
NOT_TRAINING = ("data", "evaluate")
"""Stages of a run outside its training."""
NOT_MADE_HERE = "imported, not made here"
"""Label of imported runs."""
SOLUTION = "solution_"
RECORD = "run record"


@dataclass(frozen=True, eq=False)
class RunRecord:
    """The result of `execute`.

    Attributes
    ----------
    spec : RunSpec
        The spec, with the digest of its data.
    status : str
        How training ended, as a sentence.
    objective : float
        The minimised value, for most methods ½‖w‖² + C·risk; NaN if there is none.
    n_components : int
        Feature dimensions used (fewer than requested if documents repeat); 0 if there are none.
    n_pairs : int
        Preference pairs of the training part.
    metrics : dict of DataFrame
        Part -> metrics per query by `rankviz.metrics.definitions.COMPARED`: LETOR's definition, but equal
        scores count at the mean over their orders. A system given by its scores may lack parts;
        `SettingError` for a missing one.
    scores : dict of (n,) float64
        Part -> scores in the order of the part's documents; its `rows` are their rows in the file.
    weights : (m,) float64
    trace : DataFrame
        One row per iteration.
    seconds : dict
        Stage -> seconds, as if this run had been made alone. Work shared with other runs of a sweep counts
        in each: reading data and listing pairs in full, features by this run's columns, and as "start" the
        Newton steps up to the weights it started from.
    peak_memory : float
        Peak resident memory of the process during the run, bytes; NaN if unknown.
    versions : dict
        Package -> version.
    stopped : bool
        True if training was stopped on request.
    start : str
        The start of training, in words: "zero", or "the weights for m = 200".
    solution : dict of float64 arrays
        A low-rank model's results beside its weights (see `LowRankRanker.solution`); empty for others.
    by_order : dict of dict
        Part -> metric -> its mean with equal scores in the order of the file, where that changes it by more
        than rounding (see `rankviz.metrics.evaluation.compared`).

    Examples
    --------
    >>> from rankviz import RunRecord, RunSpec, execute, execute_all
    >>> from rankviz.datasets import make_fold
    >>> fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    >>> record = execute(RunSpec("made", n_components=20), fold=fold)
    >>> again = RunRecord.load(record.save("run.npz"))
    >>> again.spec == record.spec, bool((again.weights == record.weights).all())
    (True, True)
    >>> for spec, record in execute_all([RunSpec("made", n_components=m) for m in (10, 20)], fold=fold):
    ...     print(spec.n_components, record.start)
    10 zero
    20 the weights for m = 10
    """

    spec: RunSpec
    status: str
    objective: float
    n_components: int
    n_pairs: int
    metrics: dict[str, pd.DataFrame]
    scores: dict[str, FloatArray]
    weights: FloatArray
    trace: pd.DataFrame
    seconds: dict[str, float]
    peak_memory: float
    versions: dict[str, str]
    start: str = "zero"
    stopped: bool = False
    solution: dict[str, FloatArray] = field(default_factory=dict)
    by_order: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Have missing parts explained."""
        for name in ("metrics", "scores"):
            object.__setattr__(self, name, _Parts(getattr(self, name), method_label(self.spec)))

    def save(self, path: str | Path) -> Path:
        """Write the record to one file (npz and JSON), complete or not at all."""
        return write_npz(Path(path), *self._content())

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes."""
        return npz_bytes(*self._content())

    def _content(self) -> tuple[dict[str, Any], Arrays]:
        """Return its description and arrays."""
        meta = {"format": FORMAT, "spec": self.spec.to_dict()}
        meta |= {name: getattr(self, name) for name in (*_PLAIN, "start", "stopped", "by_order")}
        for name in _PERHAPS:  # JSON has no NaN
            meta[name] = None if math.isnan(getattr(self, name)) else getattr(self, name)
        meta["columns"] = {part: list(frame.columns) for part, frame in self.metrics.items()}
        meta["trace"] = list(self.trace.columns)
        arrays: Arrays = {"weights": self.weights, "trace": self.trace.to_numpy(np.float64)}
        arrays |= {f"{SOLUTION}{name}": found for name, found in self.solution.items()}
        for part, frame in self.metrics.items():
            arrays |= {
                f"metrics_{part}": frame.to_numpy(np.float64),
                f"queries_{part}": frame.index.to_numpy(),
            }
            arrays[f"scores_{part}"] = self.scores[part]
        return meta, arrays

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a record from `save`. Raises `DataError` for anything else.

        Warns with `DataWarning` if the library that grew its trees has another version here.
        """
        path = Path(path)
        found = cls._of(*read_npz(path, RECORD), path)
        make = found.spec.kind.make
        if said := other_library(make, found.versions.get(getattr(make, "library", ""), "")):
            warnings.warn(said, DataWarning, stacklevel=2)
        return found

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a record from `to_bytes`. Raises `DataError` for anything else, and a long description."""
        return cls._of(*read_npz_bytes(content, RECORD, LONGEST_DESCRIPTION), None)

    @classmethod
    def _of(cls, meta: dict[str, Any], arrays: Arrays, path: Path | None) -> Self:
        try:
            if meta["format"] != FORMAT:
                raise ValueError(f"format {meta['format']}; this version reads {FORMAT}")
            found = cls(
                spec=RunSpec.from_dict(meta["spec"]),
                metrics={part: _metrics(arrays, part, names) for part, names in meta["columns"].items()},
                scores={part: arrays[f"scores_{part}"] for part in meta["columns"]},
                weights=arrays["weights"],
                trace=_trace(arrays["trace"], meta["trace"]),
                start=str(meta["start"]),
                stopped=bool(meta["stopped"]),
                solution=_solution(arrays),
                by_order=meta["by_order"],
                objective=_perhaps(meta["objective"]),
                peak_memory=_perhaps(meta["peak_memory"]),
                **{name: meta[name] for name in _PLAIN},
            )
            check_record(found)
            _check_names(arrays, found)
            return found
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise unreadable(path, RECORD, error) from error


class _Parts(dict[str, Any]):
    """Values by part; `SettingError` for a part that the run lacks.

    Each access gets a table of its own on the same numbers: pandas notes the columns that were read, up to
    500, as long as the table lives.
    """

    def __init__(self, values: Mapping[str, Any], label: str) -> None:
        super().__init__(values)
        self._label = label

    def __getitem__(self, part: str) -> Any:
        found = super().__getitem__(part)
        if not isinstance(found, pd.DataFrame):
            return found
        index = pd.Index(found.index.array, name=found.index.name, copy=False)
        return pd.DataFrame(found.to_numpy(), index, found.columns, copy=False)

    def __missing__(self, part: str) -> Any:
        there, missing = " and ".join(PART_NAMES.get(name, name) for name in self), PART_NAMES.get(part, part)
        raise SettingError(
            f"{self._label} has no scores of the {missing} part, only of {there}. Show that part "
            "(“Reveal test” at the top of the page), or add the missing scores on Data"
        )


def training_seconds(record: RunRecord) -> float:
    """Return the seconds of training, such as features, pairs and all Newton steps; 0 if unknown."""
    return sum(seconds for stage, seconds in record.seconds.items() if stage not in NOT_TRAINING)


_PLAIN = ("status", "n_components", "n_pairs", "seconds", "versions")
_PERHAPS = ("objective", "peak_memory")
"""Numbers that may be NaN."""


def _check_names(arrays: Arrays, found: RunRecord) -> None:
    """Raise ValueError for an unknown array."""
    own = {f"{kind}_{part}" for kind in ("metrics", "queries", "scores") for part in found.metrics}
    own |= {"weights", "trace", *(f"{SOLUTION}{name}" for name in found.solution)}
    if strangers := arrays.keys() - own:
        raise ValueError(f"array {min(strangers)[:40]!r} is not part of a record")


def _perhaps(value: Any) -> float:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"{str(value)[:40]!r} is no number")
    return math.nan if value is None else float(value)


def _solution(arrays: Arrays) -> dict[str, FloatArray]:
    names = [name for name in arrays if name.startswith(SOLUTION)]
    return {name.removeprefix(SOLUTION): arrays[name] for name in names}


def _metrics(arrays: Arrays, part: str, columns: list[str]) -> pd.DataFrame:
    index = pd.Index(arrays[f"queries_{part}"], name="query")
    return pd.DataFrame(arrays[f"metrics_{part}"], index=index, columns=columns)


def _trace(values: FloatArray, columns: list[str]) -> pd.DataFrame:
    if not columns:
        return pd.DataFrame()
    if values.shape != (len(values), len(columns)) or len({*columns}) < len(columns):
        raise ValueError(f"a trace of shape {values.shape} for {len(columns)} columns")
    found = dict(zip(columns, np.ascontiguousarray(values.T), strict=True))
    for name in {"iteration", "cg_iterations", "active_pairs"} & found.keys():
        if not (np.abs(found[name]) < 2.0**53).all():
            raise ValueError(f"{name} of the trace are not whole numbers")
        found[name] = found[name].astype(np.int64)
    return pd.DataFrame(found)


PARTS = ("train", "vali", "test")


MOST_COLUMNS, LONGEST = 500, 1000
"""Most columns of a table, and characters of a text."""
LONGEST_DESCRIPTION = 1 << 18
"""Most bytes of a description in a store or an exported file; runs have 2 to 5 kB."""
MOST_SECONDS = 1e9
"""Most seconds of a stage, 32 years; the run store takes more for a damaged row."""


def check_record(record: RunRecord) -> None:
    """Raise ValueError if fields of a record have impossible values or do not fit together.

    Metrics lie in [0, 1], seconds and memory are ≥ 0, scores and weights are finite. A part has one row of
    metrics for each of its queries, and one score at least. There are weights for all features, and no more
    preference pairs than pairs of training documents.
    """
    _check_text("status", record.status)
    _check_text("start", record.start)
    for package, version in _mapping("versions", record.versions).items():
        _check_text("versions", package)
        _check_text("versions", version)
    for stage, seconds in _mapping("seconds", record.seconds).items():
        _check_text("seconds", stage)
        _number(f"seconds of {stage}", seconds, MOST_SECONDS)
    if not math.isnan(record.peak_memory):
        _number("peak_memory", record.peak_memory)
    if math.isinf(record.objective):
        raise ValueError("objective is infinite")
    for name in ("n_components", "n_pairs"):
        _whole(name, getattr(record, name))
    own = tuple(record.metrics)
    if own != PARTS if record.spec.kind.trains else not own or own != tuple(p for p in PARTS if p in own):
        raise ValueError(f"parts {', '.join(map(str, record.metrics))}; a run has {', '.join(PARTS)}")
    for part, table in record.metrics.items():
        _part(part, table, record.scores[part])
    for part, means in _mapping("by_order", record.by_order).items():
        for name, value in _mapping(f"by_order of {str(part)[:40]}", means).items():
            if part not in record.metrics or name not in record.metrics[part]:
                raise ValueError(f"by_order has no metric {str(name)[:40]!r} of {str(part)[:40]!r}")
            _number(f"by_order of {name}", value)
    n = len(record.scores.get("train", ()))
    if record.n_pairs > n * (n - 1) // 2:
        raise ValueError(f"{record.n_pairs} preference pairs of {n} training documents")
    _finite("weights", record.weights, 1)
    if record.n_components not in (0, len(record.weights)):
        raise ValueError(f"{len(record.weights)} weights of {record.n_components} features")
    for name, found in record.solution.items():
        _finite(f"solution {name}", found, 0, 1, 2)
    _check_trace(record.trace)
    model: Any = record.spec.kind.model(record.spec.values)
    if isinstance(model, RoundRanker):
        model.restore(record.solution, len(record.solution[IMPORTANCE]), record.trace, record.status)


def _part(part: str, table: pd.DataFrame, scores: Any) -> None:
    values = table.to_numpy()
    _columns(f"metrics of {part}", table)
    if table.index.dtype.kind not in "iuOT" or not table.index.is_unique or table.empty:
        raise ValueError(f"query names of {part} are not unique texts")
    if values.dtype != np.float64 or not ((values >= 0) & (values <= 1)).all():  # NaN is not
        raise ValueError(f"metrics of {part} are not all numbers from 0 to 1")
    _finite(f"scores of {part}", scores, 1)
    if len(scores) < len(table):
        raise ValueError(f"{len(scores)} scores of {part}, which has {len(table)} queries")


def _check_trace(trace: pd.DataFrame) -> None:
    if trace.empty and not len(trace.columns):
        return
    _columns("trace", trace)
    for name, column in trace.items():
        values = column.to_numpy()
        if values.dtype not in (np.float64, np.int64):
            raise ValueError(f"{name} of the trace are not numbers")
        if values.dtype == np.int64 and (values < 0).any():
            raise ValueError(f"{name} of the trace is below 0")
    if "iteration" in trace and not trace["iteration"].is_monotonic_increasing:
        raise ValueError("iterations of the trace do not increase")
    if "seconds" in trace and not (trace["seconds"] >= 0).all():
        raise ValueError("seconds of the trace are below 0")


def _columns(what: str, table: pd.DataFrame) -> None:
    names = list(table.columns)
    for name in names:
        _check_text(f"a column of {what}", name)
    if not 0 < len(names) <= MOST_COLUMNS or len(set(names)) < len(names):
        raise ValueError(f"columns of {what} are missing, too many, or have equal names")


def _finite(what: str, values: Any, *dimensions: int) -> None:
    if values.dtype != np.float64 or values.ndim not in dimensions or not np.isfinite(values).all():
        raise ValueError(f"{what} are {values.dtype}{values.shape}, expected finite float64")


def _mapping(what: str, values: Any) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} is {type(values).__name__}, expected an object")
    return values


def _check_text(what: str, value: Any) -> None:
    if not is_text(value, LONGEST):
        raise ValueError(f"{what} is not a text of at most {LONGEST} characters")


def _number(what: str, value: Any, most: float = sys.float_info.max) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"{what} is {str(value)[:40]!r}, expected a number from 0 to {most:g}")


def _whole(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(f"{what} is {str(value)[:40]!r}, expected a whole number of at least 0")
