"""Status of a job: finished runs, current runs, and outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankviz.runs.spec import RunSpec
from rankviz.store.study import HERE

STAGES = {"data": 0.0, "features": 0.05, "pairs": 0.4, "newton": 0.45, "evaluate": 0.9}
"""Start of each stage as a share of a run; approximate, for progress bars."""


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
        Indices of the specs with records.
    failed : tuple of int
        Indices of those that cannot be made, or whose workers died.
    place : str
        The workers that make it, of `rankviz.store.study.PLACES`.
    specs : tuple of RunSpec
    news : tuple of mapping
        For each current run: index of its spec, stage, fraction of it, remaining seconds.
    created, started, ended : float or None
        Seconds since 1970.
    stopping : bool
        A stop was requested, and it has not ended yet.
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
        """True if queued or running."""
        return self.state in ("queued", "running")

    @property
    def total(self) -> int:
        """Number of specs."""
        return len(self.specs)

    @property
    def seconds(self) -> float:
        """Seconds since the start, up to the end if it has ended."""
        if self.started is None:
            return 0.0
        return max(0.0, (time.time() if self.ended is None else self.ended) - self.started)

    @property
    def latest(self) -> Mapping[str, Any] | None:
        """Progress of the current run, the first if there are several."""
        return self.news[0] if self.news and self.state == "running" else None

    @property
    def current(self) -> RunSpec | None:
        """The spec of the current run."""
        return None if self.latest is None else self.specs[self.latest["index"]]

    @property
    def remaining(self) -> float | None:
        """Estimated remaining seconds of the current run; None if unknown."""
        return None if self.latest is None else self.latest.get("remaining")

    @property
    def fraction(self) -> float:
        """Finished share of the job, with the stages of current runs."""
        within = sum(_share(one["stage"], one["fraction"]) for one in self.news)
        return min(1.0, (len(self.finished) + within) / max(self.total, 1))


def _share(stage: str, fraction: float | None) -> float:
    begins = sorted(STAGES.values())
    start = STAGES.get(stage, 0.0)
    end = next((b for b in begins if b > start), 1.0)
    return start + (end - start) * (fraction or 0.0)
