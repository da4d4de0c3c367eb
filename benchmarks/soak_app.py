"""An app under load: started with its own folders, watched from outside, ended with all its processes."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import psutil
from sqlalchemy import select

from rankviz.store import Database, StoreOutOfReach
from rankviz.store.study import DONE, JOB, WatchedStatus
from rankviz.store.tables import families, members, parse_object, runs, studies
from rankviz.store.watched import statuses
from tools.browser import Server, serving

LOOK_SECONDS = 0.5
MB = 1 << 20


@dataclass(frozen=True)
class App:
    """A running app with its scratch folder, where the run store is in `runs`."""

    server: Server
    scratch: Path

    @property
    def runs(self) -> Path:
        return self.scratch / "runs"


@contextmanager
def app_of(folder: Path, scratch: Path, environment: Mapping[str, str]) -> Iterator[App]:
    """Run the app of a checkout; at the end no process of it is left."""
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py")]
    command += ["--server.fileWatcherType=none", "--server.port"]
    try:
        own = {"RANKVIZ_RUNS": str(scratch / "runs"), **environment}
        with serving(command, scratch, folder, own) as server:
            yield App(server, scratch)
    finally:
        processes = list(started_with(scratch))
        for process in processes:
            with suppress(psutil.Error):
                process.terminate()
        for process in psutil.wait_procs(processes, timeout=5)[1]:
            process.kill()


def started_with(scratch: Path) -> Iterator[psutil.Process]:
    """Yield the other Python processes whose environment or command line names the scratch folder."""
    for process in psutil.process_iter(["name", "pid"]):
        if process.pid != os.getpid() and process.info["name"].startswith("python"):
            with suppress(psutil.Error):
                words = [*process.cmdline(), *process.environ().values()]
                if any(str(scratch) in text for text in words):
                    yield process


class Jobs:
    """The jobs that were ever seen in the store of a file, and the runs that they trained.

    `live` is the number of jobs that had not ended at the last look.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._database = file, None
        self._seen: dict[str, WatchedStatus] = {}
        self._trainings, self._made = set[tuple[str, int, float]](), set[str]()
        self.live = 0

    def look(self) -> None:
        """Look at the jobs that had not ended at the last look, and at what is trained now."""
        if not self._file.is_file():  # the app makes it later
            return
        with suppress(StoreOutOfReach):  # the next look may work
            self._database = self._database or Database(self._file)
            ended = [name for name, job in self._seen.items() if not job.live]
            found = statuses(self._database, studies.c.id.not_in(ended), 1)
            asked = select(families.c.id, families.c.since, families.c.progress)
            asked = asked.join(studies, studies.c.id == families.c.study)
            made = select(runs.c.digest).join(members, members.c.run == runs.c.id)
            made = made.join(studies, studies.c.id == members.c.study).where(
                studies.c.id.in_([job.id for job in found]),
                runs.c.state == DONE,
                runs.c.ended > studies.c.created,
            )
            with self._database.reading() as connection:
                self._made |= set(connection.execute(made).scalars())
                for row in connection.execute(
                    asked.where(studies.c.kind == JOB, families.c.worker.is_not(None))
                ):
                    progress = parse_object(row.progress)
                    if progress.get("stage", "") not in ("data", ""):
                        self._trainings.add((progress["digest"], row.id, row.since))
            self._seen |= {job.id: job for job in found}
            self.live = sum(job.live for job in found)

    def close(self) -> None:
        """Close the store."""
        if self._database:
            self._database.close()

    def counts(self) -> dict[str, int]:
        """Count jobs, records, and trainings: all of them, and the most of one run.

        A look sees a training that takes longer than the time between looks. Of the others, each run that was
        made since a job asked for it counts as one.
        """
        made = [job.specs[index].hash for job in self._seen.values() for index in job.finished]
        begun = Counter(digest for digest, _, _ in self._trainings)
        begun.update(self._made - begun.keys())
        return {
            "jobs": len(self._seen),
            "records": len(made),
            "specs": len(set(made)),
            "trained": sum(begun.values()),
            "the same at most": max(begun.values(), default=0),
            "failed jobs": sum(job.state == "failed" for job in self._seen.values()),
        }

    def last_end(self) -> float:
        """Return when the last job ended (seconds since 1970); nan without one."""
        return max((job.ended for job in self._seen.values() if job.ended is not None), default=math.nan)


@dataclass(frozen=True)
class Sample:
    """What server and workers hold at a time (seconds since the watch began); sizes in MB."""

    seconds: float
    server: float
    workers: float
    threads: int
    files: int
    n_workers: int
    run_files: int
    run_mb: float


class Watch:
    """Looks at an app every half second in its own thread. Use as a context manager."""

    def __init__(self, app: App) -> None:
        self._app, self._over, self._began = app, Event(), time.monotonic()
        self._server = psutil.Process(app.server.process.pid)
        self._thread = ThreadPoolExecutor(1)
        self.jobs, self.samples = Jobs(app.runs / "runs.sqlite"), list[Sample]()
        self.workers: set[tuple[int, float]] = set()

    def __enter__(self) -> Watch:
        self._looking = self._thread.submit(self._look_on)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.result()
        self._thread.shutdown()
        self.jobs.close()

    def cpu_seconds(self) -> float:
        """Return the processor seconds of the server, without its workers."""
        used = self._server.cpu_times()
        return float(used.user + used.system)

    def _look_on(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            try:
                self.samples.append(self._sample())
                self.jobs.look()
            except psutil.NoSuchProcess:
                return

    def _sample(self) -> Sample:
        held, sizes = [], []
        for process in started_with(self._app.scratch):
            if process.pid != self._server.pid:
                with suppress(psutil.Error):
                    held.append(process.memory_info().rss / MB)
                    self.workers.add((process.pid, process.create_time()))
        for path, _, names in os.walk(self._app.runs):
            for name in names:
                with suppress(OSError):  # removed meanwhile
                    sizes.append(os.stat(os.path.join(path, name)).st_size)
        server = self._server
        now, memory = time.monotonic() - self._began, server.memory_info().rss / MB
        counts = server.num_threads(), server.num_fds(), len(held), len(sizes)
        return Sample(now, memory, sum(held), *counts, sum(sizes) / MB)
