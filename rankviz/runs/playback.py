"""Replay of a run: the training part's scores at every Newton iteration."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Progress
from rankviz.datasets.types import Fold
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec


@dataclass(frozen=True, eq=False)
class Playback:
    """A run with its scores at each iteration.

    Attributes
    ----------
    record : RunRecord
    scores : tuple of (n,) float64
        On the training part, at the start of each row of the trace.
    """

    record: RunRecord
    scores: tuple[FloatArray, ...]


def playable(spec: RunSpec) -> bool:
    """Return True if a run is trained by Newton steps, which report their scores."""
    return bool(getattr(spec.option("solver"), "newton", False))


def play(spec: RunSpec, fold: Fold, callback: Callback | None = None) -> Playback:
    """Train a spec from zero and keep the scores of every iteration.

    Raises `SettingError` if the solver does not report scores, and as `execute`.
    """
    if not playable(spec):
        raise SettingError("this run has no Newton steps to play: its solver is not a Newton method")
    scores: list[FloatArray] = []

    def keep(progress: Progress) -> bool | None:
        if progress.scores is not None:
            if progress.record is None and scores:  # narrower smoothing restarts at the last scores
                scores.pop()
            scores.append(progress.scores)
        return None if callback is None else callback(progress)

    record = execute(spec.but(start="zero") if "start" in spec else spec, keep, fold=fold)
    return Playback(record, tuple(scores[: len(record.trace)]))
