"""RunRecord: what a run gave, enough to draw every figure of it again without training."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays, npz_bytes, read_npz, read_npz_bytes, unreadable, write_npz
from rankviz.runs.record_checks import check_record
from rankviz.runs.spec import RunSpec

FORMAT = 2
NOT_TRAINING = ("data", "evaluate")
"""Stages of a run that are no part of its training."""
NOT_MADE_HERE = "imported, not made here"
"""What a run is called, wherever it is shown, whose record somebody brought."""
SOLUTION = "solution_"
RECORD = "run record"


@dataclass(frozen=True, eq=False)
class RunRecord:
    """The result of `execute`.

    Attributes
    ----------
    spec : RunSpec
        What was run, with the digest of the data it was run on.
    status : str
        How training ended, as a sentence.
    objective : float
        What was minimised, ½‖w‖² + C·risk at the weights for most; NaN where there is no such thing.
    n_components : int
        Feature dimensions that were used (fewer than asked for where documents repeat); 0 where there are
        none.
    n_pairs : int
        Preference pairs of the training part.
    metrics : dict of DataFrame
        Part -> metrics per query, as `rankviz.evaluate` gives them in LETOR's definition.
    scores : dict of (n,) float64
        Part -> scores in the order of the part's documents; its `rows` say where these stand in the file.
    weights : (m,) float64
    trace : DataFrame
        One row per iteration.
    seconds : dict
        Stage -> seconds: what this run would have taken alone on the way it came. What it shares with other
        runs of a sweep is counted in each: reading data and listing pairs in full, features by its share of
        the columns computed, and as "start" the Newton steps up to the weights it started from.
    peak_memory : float
        Peak resident memory of the process during the run, bytes; NaN where the system does not tell.
    versions : dict
        Package -> version.
    stopped : bool
        Whether training was stopped on request.
    start : str
        What training started from, in words: "zero", or "the weights for m = 200".
    solution : dict of float64 arrays
        What a low-rank model has found beside its weights (see `LowRankRanker.solution`); empty for others.

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

    def save(self, path: str | Path) -> Path:
        """Write the record to one file (npz and JSON), complete or not at all."""
        return write_npz(Path(path), *self._content())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        return npz_bytes(*self._content())

    def _content(self) -> tuple[dict[str, Any], Arrays]:
        """Its description and arrays."""
        meta = {"format": FORMAT, "spec": self.spec.to_dict()}
        meta |= {name: getattr(self, name) for name in (*_PLAIN, "start", "stopped")}
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
        """Read a record that `save` wrote; `DataError` for anything else."""
        path = Path(path)
        return cls._of(*read_npz(path, RECORD), path)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read what `to_bytes` gave; `DataError` for anything else."""
        return cls._of(*read_npz_bytes(content, RECORD), None)

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
                objective=_perhaps(meta["objective"]),
                peak_memory=_perhaps(meta["peak_memory"]),
                **{name: meta[name] for name in _PLAIN},
            )
            check_record(found)
            _check_names(arrays, found)
            return found
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise unreadable(path, RECORD, error) from error


def training_seconds(record: RunRecord) -> float:
    """Seconds that training took, such as features, pairs, and the Newton steps from zero on; 0 if untold."""
    return sum(seconds for stage, seconds in record.seconds.items() if stage not in NOT_TRAINING)


_PLAIN = ("status", "n_components", "n_pairs", "seconds", "versions")
_PERHAPS = ("objective", "peak_memory")
"""Numbers that may be NaN."""


def _check_names(arrays: Arrays, found: RunRecord) -> None:
    """Raise ValueError for an array that is no part of a record."""
    own = {f"{kind}_{part}" for kind in ("metrics", "queries", "scores") for part in found.metrics}
    own |= {"weights", "trace", *(f"{SOLUTION}{name}" for name in found.solution)}
    if strangers := arrays.keys() - own:
        raise ValueError(f"array {min(strangers)[:40]!r} is no part of a record")


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
    frame = pd.DataFrame(values, columns=columns)
    whole = {name: np.int64 for name in ("iteration", "cg_iterations", "active_pairs") if name in frame}
    return frame.astype(whole)
