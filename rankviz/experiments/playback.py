"""A run again, with the scores of the training part at every Newton iteration, to be played step by step."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Progress
from rankviz.datasets.types import Fold
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run import execute
from rankviz.experiments.spec import RunSpec


@dataclass(frozen=True, eq=False)
class Playback:
    """A run and where it was at each iteration.

    Attributes
    ----------
    record : RunRecord
    scores : tuple of (n,) float64
        Of the training part, where each row of the trace begins.
    """

    record: RunRecord
    scores: tuple[FloatArray, ...]


def playable(spec: RunSpec) -> bool:
    """Whether a run is trained by Newton steps, which tell their scores."""
    return bool(getattr(spec.option("solver"), "newton", False))


def play(spec: RunSpec, fold: Fold, callback: Callback | None = None) -> Playback:
    """Train what a spec says from zero and keep the scores of every iteration.

    Raises `SettingError` for a solver that does not tell them, otherwise what `execute` raises.
    """
    if not playable(spec):
        raise SettingError("this run has no Newton steps to play: its solver is not a Newton method")
    scores: list[FloatArray] = []

    def keep(progress: Progress) -> bool | None:
        if progress.scores is not None:
            if progress.record is None and scores:  # a narrower smoothing begins where the last one ended
                scores.pop()
            scores.append(progress.scores)
        return None if callback is None else callback(progress)

    record = execute(spec.but(start="zero") if "start" in spec else spec, keep, fold=fold)
    return Playback(record, tuple(scores[: len(record.trace)]))
