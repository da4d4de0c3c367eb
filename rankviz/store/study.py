"""Studies as values: what somebody requests, how far it is, and the errors of the store.

The store has three words. A *run* is one spec and its record. A *study* is runs requested together: a sweep
in the background, or a job that a page watches. A *family* is the runs of a study that share features; a
worker leases one family at a time.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankviz.common.settings import one_of
from rankviz.runs.spec import RunSpec

QUEUED, LEASED, DONE, FAILED, CANCELLED, LOST = "queued", "leased", "done", "failed", "cancelled", "lost"
IMPORTED = "imported"
STATES = (QUEUED, LEASED, DONE, FAILED, CANCELLED, LOST, IMPORTED)
"""States of a run: it waits, is made, was made, cannot be made, is no longer wanted, killed its workers, was
made elsewhere."""
OPEN = (QUEUED, LEASED)
JOB, COMMON = "job", "common"
OF_PAGES = (JOB, COMMON)
"""Kinds of studies that lists omit: those that pages watch, and runs kept for all visitors."""
RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
HERE, TASKS, SHARDS = "here", "tasks", "shards"
PLACES = (HERE, TASKS, SHARDS)
"""Who makes a study: this machine's workers; a cluster's workers, each its own family; all of these together,
one run after another in shards."""


@dataclass(frozen=True)
class Study:
    """A request for runs, without the runs.

    Attributes
    ----------
    owner : str
        The visitor who may stop, change and delete it; others see it only if it is `shared`.
    title : str
    kind : str
        Its origin, such as "sweep".
    design : mapping
        The design of its runs, as plain values for JSON.
    roots : tuple of str
        Data roots of the specs' data sets.
    tries : int
        Workers that may die of a run before it is lost.
    threads : int
        Cores that each worker may use.
    shared : bool
        Others may see it.
    background : bool
        True if nobody waits for it: awaited studies go first.
    seconds : float or None
        Seconds that all workers together may spend before it is stopped; None for no limit.
    place : str
        Who makes it, one of `PLACES`.
    address : str
        A digest of the network address that requested it; "" if unknown. Visitors can make up owners, but
        hardly addresses.

    Raises `SettingError` for an unknown place.
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
    address: str = ""

    def __post_init__(self) -> None:
        """Check the place."""
        one_of("place", self.place, PLACES)


@dataclass(frozen=True)
class StudyStatus:
    """Status of a study.

    Attributes
    ----------
    id : str
    study : Study
    asked : str
        "running", "paused" or "stopped", as its owner requested.
    counts : mapping
        Number of runs by state.
    created : float
        Seconds since 1970.
    ended : float or None
        End of the latest run, once all have ended.
    news : tuple of mapping
        Progress reports of its workers: stage, fraction, digest.
    note : str
    baseline : str
        Digest of the run to compare with; "" for none.
    reason : str
        Reason for a stop that its owner did not request, as a sentence; "" otherwise.
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
        """Number of runs."""
        return sum(self.counts.values())

    @property
    def left(self) -> int:
        """Number of runs still to be made."""
        return sum(self.counts.get(state, 0) for state in OPEN)

    @property
    def done(self) -> int:
        """Number of runs made."""
        return self.counts.get(DONE, 0)

    @property
    def share(self) -> float:
        """Share of its runs that were made or failed; those stopped were not."""
        return 1 - (self.left + self.counts.get(CANCELLED, 0)) / max(self.total, 1)

    @property
    def live(self) -> bool:
        """True if runs of it are made, or will be."""
        return self.left > 0 and (self.asked == RUNNING or self.counts.get(LEASED, 0) > 0)

    @property
    def in_words(self) -> str:
        """Its status as a sentence."""
        words = [f"{self.done:,} of {self.total:,} runs made"]
        for state, said in _SAID.items():
            if self.counts.get(state):
                words.append(f"{self.counts[state]:,} {said}")
        if self.left:
            words.append("under way" if self.asked == RUNNING else self.asked)
        return ", ".join(words) + "." + (f" {self.reason}" if self.reason else "")


_SAID = {
    FAILED: "cannot be made",
    LOST: "lost: every worker that tried them died",
    CANCELLED: "stopped",
}


class StoreError(Exception):
    """An operation that the run store cannot do, as a sentence."""


class StoreOutOfReach(StoreError):  # noqa: N818
    """The database does not answer, cannot be written to, or is not one of ours.

    Its text never has the database's address, which may hold a password.
    """


class NoSuchStudy(StoreError):  # noqa: N818
    """No study has this id (any more)."""


class NotYours(StoreError):  # noqa: N818
    """Only the visitor who made it may do this."""


STAGES = {"data": 0.0, "features": 0.05, "pairs": 0.4, "newton": 0.45, "evaluate": 0.9}
"""Approximate start of each stage as a share of a run, for progress bars."""


MOST_OTHERS = 3
"""Most unfinished runs of a job, per wanted run, for which somebody else waits."""


@dataclass(frozen=True)
class WatchedStatus:
    """Status of a study that a page watches: a job.

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
    created, ended : float or None
        Seconds since 1970.
    stopping : bool
        A stop was requested, but it has not ended yet.
    address : str
        Its visitor's network address, "" if unknown.
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
    ended: float | None
    stopping: bool = False
    failed: tuple[int, ...] = ()
    place: str = HERE
    address: str = ""

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
        """Seconds since it was requested, up to the end if it has ended."""
        return max(0.0, (time.time() if self.ended is None else self.ended) - self.created)

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
        return min(1.0, (len(self.finished) + self.under_way(self.specs)) / max(self.total, 1))

    def makes_soon(self, wanted: Collection[RunSpec], address: str) -> bool:
        """Return True if it makes all of these now, or they and at most `MOST_OTHERS` times as many others.

        So nobody waits for hundreds of runs of somebody else. A job that waits counts only for visitors of
        its address: addresses take turns.
        """
        left = self.total - len(self.finished) - len(self.failed)
        now = {self.specs[one["index"]] for one in self.news}
        few = left <= (1 + MOST_OTHERS) * len(wanted) and (self.state == "running" or address == self.address)
        return now.issuperset(wanted) or (few and set(self.specs).issuperset(wanted))

    def under_way(self, specs: Collection[RunSpec]) -> float:
        """Return the finished shares of current runs among these specs, summed."""
        current = [one for one in self.news if self.specs[one["index"]] in specs]
        return sum(_share(one["stage"], one["fraction"]) for one in current)


def _share(stage: str, fraction: float | None) -> float:
    begins = sorted(STAGES.values())
    start = STAGES.get(stage, 0.0)
    end = next((b for b in begins if b > start), 1.0)
    return start + (end - start) * (fraction or 0.0)
