"""An app under load: started with folders of its own, watched from outside, ended with all it started."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil

from rankviz.experiments.jobs import belongs_to_a_store
from tools.browser import Server, serving

LOOK_SECONDS = 0.5
"""Between looks at processes and run folders."""
MB = 1 << 20
BEFORE_TRAINING = ("starting", "data", "finished")
"""Stages that a job also tells of a run that it takes over from another job."""


@dataclass(frozen=True)
class App:
    """A running app with its scratch folder, where the jobs are in `runs`."""

    server: Server
    scratch: Path

    @property
    def runs(self) -> Path:
        return self.scratch / "runs"


@contextmanager
def app_of(folder: Path, scratch: Path, environment: Mapping[str, str]) -> Iterator[App]:
    """Run the app of a checkout; at the end no process that it started is left."""
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py")]
    own = {"RANKVIZ_RUNS": str(scratch / "runs"), **environment}
    try:
        with serving(
            [*command, "--server.fileWatcherType=none", "--server.port"], scratch, folder, own
        ) as server:
            yield App(server, scratch)
    finally:
        end(list(started_with(scratch)))


def started_with(scratch: Path) -> Iterator[psutil.Process]:
    """The Python processes whose environment or command line names the scratch folder, but this one."""
    for process in psutil.process_iter(["name", "pid"]):
        if process.pid == os.getpid() or not process.info["name"].startswith("python"):
            continue
        try:
            told = [*process.cmdline(), *process.environ().values()]
        except psutil.Error:
            continue
        if any(str(scratch) in text for text in told):
            yield process


def end(processes: list[psutil.Process]) -> None:
    """Ask processes to end, and have them ended where they do not."""
    for process in processes:
        try:
            process.terminate()
        except psutil.Error:
            continue
    _, left = psutil.wait_procs(processes, timeout=5)
    for process in left:
        process.kill()


@dataclass
class Jobs:
    """The jobs that were ever seen in a run folder: they may be deleted while one looks."""

    folder: Path
    specs: dict[str, list[str]] = field(default_factory=dict)
    records: dict[str, set[int]] = field(default_factory=dict)
    trained: dict[str, set[int]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def look(self) -> None:
        """Look at the jobs that are there and had not ended at the last look."""
        if not self.folder.is_dir():
            return
        for job in self.folder.iterdir():
            if belongs_to_a_store(job) and job.name not in self.outcomes:
                self._look_at(job)

    def _look_at(self, job: Path) -> None:
        name, ended = job.name, _json(job / "outcome.json")
        if name not in self.specs:
            told = _json(job / "spec.json")
            if told is None:
                return
            self.specs[name] = [json.dumps(spec, sort_keys=True) for spec in told["specs"]]
        self.records[name] = {int(file.stem[-4:]) for file in job.glob("record-*.npz")}
        self.trained[name] = {
            row["index"] for row in _rows(job / "progress.jsonl") if row["stage"] not in BEFORE_TRAINING
        }
        if ended is not None:
            self.outcomes[name] = ended

    @property
    def live(self) -> int:
        """Jobs that have not ended."""
        return len(self.specs) - len(self.outcomes)

    def counts(self) -> dict[str, int]:
        """Jobs; records in them; specs in all records, each once; runs begun in jobs; the most of one spec."""
        made = [self.specs[job][place] for job, places in self.records.items() for place in places]
        begun = Counter(self.specs[job][place] for job, places in self.trained.items() for place in places)
        return {
            "jobs": len(self.specs),
            "records": len(made),
            "specs": len(set(made)),
            "trained": sum(begun.values()),
            "most of one spec": max(begun.values(), default=0),
            "failed jobs": sum(one["state"] == "failed" for one in self.outcomes.values()),
        }

    def last_end(self) -> float:
        """When the last job ended (seconds since 1970); 0 where none did."""
        return max((one["ended"] for one in self.outcomes.values()), default=0.0)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):  # not there yet, or just removed
        return None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue  # half written


@dataclass(frozen=True)
class Sample:
    """What server and workers held at a time (seconds since the watch began); sizes in MB."""

    seconds: float
    server: float
    workers: float
    threads: int
    files: int
    n_workers: int
    run_files: int
    run_mb: float


class Watch:
    """Looks at an app every half second in a thread of its own. Use as a context manager."""

    def __init__(self, app: App) -> None:
        self._app, self._over, self._began = app, Event(), time.monotonic()
        self._server = psutil.Process(app.server.process.pid)
        self._thread = Thread(target=self._look_on, daemon=True)
        self.jobs, self.samples = Jobs(app.runs), list[Sample]()
        self.workers: set[tuple[int, float]] = set()

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def cpu_seconds(self) -> float:
        """That the server has used, without its workers."""
        used = self._server.cpu_times()
        return float(used.user + used.system)

    def peak(self) -> tuple[float, float]:
        """The most MB that the server held, and that the workers held together."""
        return max(one.server for one in self.samples), max(one.workers for one in self.samples)

    def _look_on(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            try:
                self.samples.append(self._sample())
                self.jobs.look()
            except psutil.NoSuchProcess:
                return

    def _sample(self) -> Sample:
        held = []
        for process in started_with(self._app.scratch):
            if process.pid != self._server.pid:
                try:
                    held.append(process.memory_info().rss / MB)
                    self.workers.add((process.pid, process.create_time()))
                except psutil.Error:
                    continue
        sizes = [one.stat().st_size for one in _files(self._app.runs)]
        return Sample(
            time.monotonic() - self._began,
            self._server.memory_info().rss / MB,
            sum(held),
            self._server.num_threads(),
            self._server.num_fds(),
            len(held),
            len(sizes),
            sum(sizes) / MB,
        )


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _files(Path(entry.path))
                else:
                    yield entry
    except OSError:  # a job that was just deleted
        return
