"""Status of a job: read from the files of its folder, with the share of it that is done."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rankviz.experiments.estimate import in_words
from rankviz.experiments.job_files import STARTING, Outcome, UnreadableFile, Worker
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.spec import RunSpec

STAGES = {"data": 0.0, "features": 0.05, "pairs": 0.4, "newton": 0.45, "evaluate": 0.9, "finished": 1.0}
"""Where in a run each stage begins, as a share of it; for progress bars, so roughly."""
UNKNOWN = "why is not known, because another program had started it"
"""Said where not the worker's parent looks: the server was restarted, or another one shares the store."""


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
    specs : tuple of RunSpec
    latest : dict or None
        The latest progress message.
    created, started, ended : float or None
        Seconds since 1970.
    stopping : bool
        A stop was asked for, and it has not ended yet.
    worked_before : float
        Seconds that processes have worked on it before the one that does now, or did last.
    """

    id: str
    owner: str
    title: str
    state: str
    reason: str
    finished: tuple[int, ...]
    specs: tuple[RunSpec, ...]
    latest: dict[str, Any] | None
    created: float
    started: float | None
    ended: float | None
    stopping: bool = False
    worked_before: float = 0.0

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
        """How long it has been running, or ran; what it waited in between apart."""
        if self.started is None:
            return self.worked_before
        return self.worked_before + (time.time() if self.ended is None else self.ended) - self.started

    @property
    def current(self) -> RunSpec | None:
        """The run that is being made."""
        return self.specs[self.latest["index"]] if self.latest and self.state == "running" else None

    @property
    def remaining(self) -> float | None:
        """Seconds that the current run is thought to take yet; None where nothing is known of that."""
        return self.latest.get("remaining") if self.latest and self.state == "running" else None

    @property
    def fraction(self) -> float:
        """Share of the job that is done: finished runs, and the stage of the current one."""
        within = 0.0
        if self.latest is not None and len(self.finished) < self.total:
            within = _share(self.latest["stage"], self.latest["fraction"])
        return min(1.0, (len(self.finished) + within % 1.0) / max(self.total, 1))


def _share(stage: str, fraction: float | None) -> float:
    begins = sorted(STAGES.values())
    start = STAGES.get(stage, 0.0)
    end = next((b for b in begins if b > start), 1.0)
    return start + (end - start) * (fraction or 0.0)


@lru_cache(maxsize=4096)
def job_of(path: Path) -> Job:
    """The job of a run folder: it never changes, and ids are never used twice."""
    return RunFolder(path).job()


def status_of(run: RunFolder) -> JobStatus:
    """Status of a job by its files as they are now; `UnreadableFile` where they do not tell.

    A job whose worker is gone has failed, also where nobody could write that down.
    """
    worker, outcome = run.worker(), run.outcome()
    if worker is not None and outcome is None and _is_gone(run, worker):
        outcome = Outcome(*how_it_died(run), time.time())
    state = "queued" if worker is None else "running"
    return replace(
        _without_files(run),
        state=state if outcome is None else outcome.state,
        reason="" if outcome is None else outcome.reason,
        started=run.works_since(),
        ended=None if outcome is None else outcome.ended,
        stopping=outcome is None and run.stop_asked() is not None,
        worked_before=run.worked_before(),
    )


def unreadable_status(run: RunFolder, why: UnreadableFile) -> JobStatus:
    """Status of a job that has failed, for a file of it cannot be read nor set aside."""
    return replace(_without_files(run), state="failed", reason=str(why))


def _without_files(run: RunFolder) -> JobStatus:
    """Status of a job as far as it does not depend on the files of its worker."""
    job = job_of(run.path)
    return JobStatus(
        id=run.path.name,
        owner=job.owner,
        title=job.title,
        state="queued",
        reason="",
        finished=run.finished(),
        specs=job.specs,
        latest=run.latest(),
        created=job.created,
        started=None,
        ended=None,
    )


def _is_gone(run: RunFolder, worker: Worker) -> bool:
    """Whether a worker has ended, and neither said how the job ended nor let it go meanwhile."""
    return not worker.process.alive() and run.worker() == worker and not run.ended()


def how_it_died(run: RunFolder) -> tuple[str, str]:
    """State and reason of a job whose worker is gone and has not said how it ended."""
    total, worker = len(job_of(run.path).specs), run.worker()
    if run.stop_asked() is not None:
        return "stopped", stopped_in_words(run)
    how = "" if worker is None else worker.process.ending()
    latest = run.latest()
    parts = ["The worker process ended without a result", how or UNKNOWN]
    if latest is not None and latest["stage"] == STARTING:
        parts.append("it was still starting")
    elif latest is not None:
        stage = "the end" if latest["stage"] == "finished" else latest["stage"]
        parts.append(f"last stage: {stage} of run {latest['index'] + 1} of {total}")
    said = run.last_words()
    return "failed", "; ".join(filter(None, parts)) + "." + (f" It said: {said}" if said else "")


def stopped_in_words(run: RunFolder) -> str:
    """The reason of a job that was stopped on request."""
    if not run.claimed() and run.released() is None:
        return "Stopped before it began."
    return f"Stopped on request; {_done(run)} runs had finished."


def time_is_up(run: RunFolder, most: float) -> str:
    """The reason of a job that has worked as long as a job may, `most` seconds."""
    return (
        f"Stopped after {in_words(most)}, the most that one job may work on this machine; {_done(run)} runs "
        "had finished, and are kept. Ask for fewer or shorter runs at once."
    )


def no_room(run: RunFolder, error: OSError) -> str:
    """The reason of a job whose records cannot be kept."""
    return (
        f"Nothing more can be written where jobs are kept ({error.strerror}); {_done(run)} runs had "
        "finished, and are kept. Who runs the app can free space there; then ask again."
    )


def _done(run: RunFolder) -> str:
    return f"{len(run.finished())} of {len(job_of(run.path).specs)}"
