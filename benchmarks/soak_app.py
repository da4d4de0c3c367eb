"""An app under load: started with folders of its own, watched from outside, ended with all it started."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import psutil

from benchmarks.soak_jobs import Jobs
from tools.browser import Server, serving

LOOK_SECONDS = 0.5
"""Between looks at processes and run folders."""
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
        """That the server has used, without its workers."""
        used = self._server.cpu_times()
        return float(used.user + used.system)

    def peaks(self, first: int = 0) -> dict[str, float]:
        """The most MB that the server held, and that its workers held together, from a sample on."""
        samples = self.samples[first:]
        return {
            "server, MB": max((one.server for one in samples), default=math.nan),
            "workers, MB": max((one.workers for one in samples), default=math.nan),
        }

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
        sizes = list(_sizes(self._app.runs))
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


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of all files below a folder; what is removed meanwhile is passed over."""
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield os.stat(os.path.join(path, name)).st_size
