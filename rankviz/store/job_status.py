"""Status of a job: which of its runs are there, which is made now, how it ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankviz.experiments.spec import RunSpec
from rankviz.store.study import HERE

STAGES = {"data": 0.0, "features": 0.05, "pairs": 0.4, "newton": 0.45, "evaluate": 0.9}
"""Where in a run each stage begins, as a share of it; for progress bars, so roughly."""


@dataclass(frozen=True)
class JobStatus:
    """Status of a job.

    Attributes
    ----------
    id, owner, title : str
    state : str
        "queued", "running", "finished", "stopped" or "failed".
    reason : str
        How it ended, as a sentence; "" before.
    finished : tuple of int
        Indices of the specs whose records are there.
    failed : tuple of int
        Indices of those that cannot be made, or whose workers died.
    place : str
        Who works on it, of `rankviz.store.study.PLACES`.
    specs : tuple of RunSpec
    news : tuple of mapping
        Of the runs that are being made: index of the spec, stage, fraction of it, seconds that remain.
    created, started, ended : float or None
        Seconds since 1970.
    stopping : bool
        A stop was asked for, and it has not ended yet.
    """

    id: str
    owner: str
    title: str
    state: str
    reason: str
    finished: tuple[int, ...]
    specs: tuple[RunSpec, ...]
    news: tuple[Mapping[str, Any], ...]
    created: float
    started: float | None
    ended: float | None
    stopping: bool = False
    failed: tuple[int, ...] = ()
    place: str = HERE

    @property
    def live(self) -> bool:
        """Queued or running."""
        return self.state in ("queued", "running")

    @property
    def total(self) -> int:
        """How many specs it has."""
        return len(self.specs)

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        if self.started is None:
            return 0.0
        return max(0.0, (time.time() if self.ended is None else self.ended) - self.started)

    @property
    def latest(self) -> Mapping[str, Any] | None:
        """What is told of the run that is being made, of several the first."""
        return self.news[0] if self.news and self.state == "running" else None

    @property
    def current(self) -> RunSpec | None:
        """The run that is being made."""
        return None if self.latest is None else self.specs[self.latest["index"]]

    @property
    def remaining(self) -> float | None:
        """Seconds that the current run is thought to take yet; None where nothing is known of that."""
        return None if self.latest is None else self.latest.get("remaining")

    @property
    def fraction(self) -> float:
        """Share of the job that is done: finished runs, and the stages of those that are being made."""
        within = sum(_share(one["stage"], one["fraction"]) for one in self.news)
        return min(1.0, (len(self.finished) + within) / max(self.total, 1))


def _share(stage: str, fraction: float | None) -> float:
    begins = sorted(STAGES.values())
    start = STAGES.get(stage, 0.0)
    end = next((b for b in begins if b > start), 1.0)
    return start + (end - start) * (fraction or 0.0)
