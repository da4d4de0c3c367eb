"""A study: runs that somebody asked for together, and how far they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankviz.common.settings import one_of

QUEUED, LEASED, DONE, FAILED, CANCELLED, LOST = "queued", "leased", "done", "failed", "cancelled", "lost"
IMPORTED = "imported"
STATES = (QUEUED, LEASED, DONE, FAILED, CANCELLED, LOST, IMPORTED)
"""Of a run: it waits, is made, was made; cannot be made; is not wanted any more; its workers died of it;
it was made elsewhere."""
OPEN = (QUEUED, LEASED)
JOB, COMMON = "job", "common"
OF_PAGES = (JOB, COMMON)
"""Kinds of studies that pages make for themselves: what they wait for, what is kept for all. Not listed."""
RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
HERE, TASKS, SHARDS = "here", "tasks", "shards"
PLACES = (HERE, TASKS, SHARDS)
"""Where a study is worked on: by worker processes of this machine; by the workers of a cluster, a family for
each; by all of them together, run after run in shards."""


@dataclass(frozen=True)
class Study:
    """What somebody asks for beside the runs themselves.

    Attributes
    ----------
    owner : str
        Whose it is: who may stop, change and delete it, and sees it unless it is `shared`.
    title : str
    kind : str
        What made it, such as "sweep".
    design : mapping
        What it was made of, plain values for JSON.
    roots : tuple of str
        Data roots in which the specs' data sets are looked up.
    tries : int
        So many workers may die of a run before it is lost.
    threads : int
        Cores that a worker may use for it.
    shared : bool
        Others may see it.
    background : bool
        Nobody sits and waits for it: its runs let those go first that somebody waits for.
    seconds : float or None
        So long workers may be at it, all together; it is then stopped. None: as long as it takes.
    place : str
        Who works on it, of `PLACES`.

    Raises `SettingError` for a place that is none.
    """

    owner: str
    title: str
    kind: str = "sweep"
    design: Mapping[str, Any] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    tries: int = 3
    threads: int = 1
    shared: bool = False
    background: bool = True
    seconds: float | None = None
    place: str = HERE

    def __post_init__(self) -> None:
        """Nobody would work on it elsewhere."""
        one_of("place", self.place, PLACES)


@dataclass(frozen=True)
class StudyStatus:
    """Status of a study.

    Attributes
    ----------
    id : str
    study : Study
    asked : str
        "running", "paused" or "stopped": what its owner wants.
    counts : mapping
        Number of runs by state.
    created : float
        Seconds since 1970.
    ended : float or None
        When the latest run ended, once none is left to be made.
    news : tuple of mapping
        What the workers tell that make its runs: stage, fraction, digest.
    note : str
    baseline : str
        Digest of the run that others are compared with; "" for none.
    reason : str
        Why it was stopped where its owner did not ask for that, as a sentence; "" otherwise.
    """

    id: str
    study: Study
    asked: str
    counts: Mapping[str, int]
    created: float
    ended: float | None
    news: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    baseline: str = ""
    reason: str = ""

    @property
    def total(self) -> int:
        """How many runs it has."""
        return sum(self.counts.values())

    @property
    def left(self) -> int:
        """How many are still to be made."""
        return sum(self.counts.get(state, 0) for state in OPEN)

    @property
    def done(self) -> int:
        """How many were made."""
        return self.counts.get(DONE, 0)

    @property
    def live(self) -> bool:
        """Whether runs of it are made, or will be."""
        return self.left > 0 and (self.asked == RUNNING or self.counts.get(LEASED, 0) > 0)

    @property
    def in_words(self) -> str:
        """How far it is, as a sentence."""
        words = [f"{self.done:,} of {self.total:,} runs made"]
        for state, said in _SAID.items():
            if self.counts.get(state):
                words.append(f"{self.counts[state]:,} {said}")
        if self.left:
            words.append("under way" if self.asked == RUNNING else self.asked)
        return ", ".join(words) + "." + (f" {self.reason}" if self.reason else "")


_SAID = {
    FAILED: "cannot be made",
    LOST: "lost, for every worker that tried died of them",
    CANCELLED: "not made, for it was stopped",
}
