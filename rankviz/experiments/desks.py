"""Worker processes of a store: a desk for each that waits for its next job, and new processes.

Importing the libraries takes a worker longer than many a job, so it stays when its job has ended. `.desks` in
the store has two files for such a process: NAME.idle says that it waits, and for what kind of work; NAME.next
says which job it was given. Desks are set up, given a job and cleared under the store's lock; only the worker
itself looks at its own without. Both say which process they are about, so that what is left of one that was
ended can be told.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rankviz.common.files import replace, write_synced
from rankviz.common.threads import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.experiments.job_files import belongs_to_a_store
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

FOLDER = ".desks"
WORKERS_ENVIRONMENT = "RANKVIZ_WORKERS"
SERVER_ENVIRONMENT = "RANKVIZ_SERVER"
"""In the environment of workers: the process that they work for, also where a worker started another."""
_OF_ONE_PROCESS = (THREADS_ENVIRONMENT, WORKERS_ENVIRONMENT, SERVER_ENVIRONMENT)
ASIDE = ".tmp"
LOOK_SECONDS = 0.05
"""This often a waiting worker looks for its next job."""
PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Desk:
    """Where a worker process waits for its next job.

    Attributes
    ----------
    folder : Path
        Of the store.
    process : ProcessId
    kind : str
        What decides which jobs it may take, see `kind_of`.
    """

    folder: Path
    process: ProcessId
    kind: str

    @cached_property
    def _idle(self) -> Path:
        return self.folder / FOLDER / f"{self.process.pid}-{self.process.began}.idle"

    @property
    def _next(self) -> Path:
        return self._idle.with_suffix(".next")

    def set_up(self) -> None:
        """Say that this process waits; under the lock."""
        self._idle.parent.mkdir(exist_ok=True, mode=0o700)
        self._write(self._idle, kind=self.kind)

    def give(self, run: RunFolder) -> None:
        """Have the waiting process work on a run; under the lock.

        The job is written down before the process is named in it: whoever is ended in between leaves a worker
        that finds its job, not a job that waits for a worker who knows nothing of it.
        """
        self._write(self._next, run=run.path.name)
        run.claim(self.process)
        self._idle.unlink(missing_ok=True)

    def clear(self) -> None:
        """The process does not wait any more; under the lock."""
        self._idle.unlink(missing_ok=True)

    def given(self) -> RunFolder | None:
        """The run that this process was given, which is told once; None where that cannot be read."""
        if not self._next.exists():
            return None
        run = self.folder / str(_read(self._next).get("run", ""))
        self.clear()
        self._next.unlink(missing_ok=True)
        return RunFolder(run) if belongs_to_a_store(run) and run.is_dir() else None

    def wait(self, seconds: float) -> RunFolder | None:
        """The run that this process was given meanwhile; None at once where nobody wants it any more.

        That is where its desk was cleared, where the store is gone, and where the program that it works for
        has ended.
        """
        server = _server()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (run := self.given()) is not None:
                return run
            if not self._idle.exists() or not server.alive():
                return None
            time.sleep(LOOK_SECONDS)
        return None

    def _write(self, path: Path, **values: str) -> None:
        """Write a file about this process that appears whole."""
        aside = path.with_suffix(path.suffix + ASIDE)
        try:
            write_synced(aside, json.dumps({"process": asdict(self.process)} | values))
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        replace(aside, path)


def waiting(folder: Path) -> Iterator[Desk]:
    """The desks at which a process waits that is still alive and was given nothing; under the lock.

    Files are removed that were left by who was ended, or cannot be read.
    """
    for path in sorted((folder / FOLDER).glob("*")):
        desk = _desk(folder, path)
        if desk is None or (path == desk._idle and desk._next.exists()):
            path.unlink(missing_ok=True)
        elif path == desk._idle:
            yield desk


def _desk(folder: Path, path: Path) -> Desk | None:
    """The desk that a file belongs to; None where its process is gone, or the file is not what it was."""
    values = _read(path)
    try:
        desk = Desk(folder, ProcessId(**values["process"]), str(values.get("kind", "")))
        return desk if path in (desk._idle, desk._next) and desk.process.alive() else None
    except (KeyError, TypeError):
        return None


def _read(path: Path) -> dict[str, Any]:
    """The values in a file, none where it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(values, dict):
            return values
    return {}


def _server() -> ProcessId:
    """The process that this worker works for: who started it, where nothing says so."""
    try:
        return ProcessId(**json.loads(os.environ[SERVER_ENVIRONMENT]))
    except (KeyError, ValueError, TypeError):
        return ProcessId.of(os.getppid())


def kind_of(threads: int) -> str:
    """What a worker process is made of: its threads, the code it has read, what its environment says.

    A job is given only to a process of the kind that would be started for it: after a change of the code
    or of the settings in the environment, those that wait are of another.
    """
    environment = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("RANKVIZ_") and name not in _OF_ONE_PROCESS
    )
    return _digest((threads, sys.executable, code(), environment))


def code() -> str:
    """What stands for the code of this package as its files are now: another one after any change."""
    return _digest(sorted((str(path), path.stat().st_mtime_ns) for path in PACKAGE.rglob("*.py")))


def _digest(said: object) -> str:
    return hashlib.blake2b(repr(said).encode(), digest_size=16).hexdigest()


def assign(run: RunFolder, threads: int, workers: int) -> None:
    """Have a process work on a run: one that waits, of the right kind, or a new one; under the lock."""
    kind = kind_of(threads)
    for desk in waiting(run.path.parent):
        if desk.kind == kind:
            desk.give(run)
            return
        desk.clear()  # so that it ends: nobody will have a job for it
    launch(run, threads, workers)


def environment_of_worker(threads: int, workers: int) -> dict[str, str]:
    """The environment of a worker process: its threads, this code, how many of them work at once."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_ENVIRONMENT)
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | dict.fromkeys(names, str(threads))
    return environment | {"PYTHONPATH": path, WORKERS_ENVIRONMENT: str(workers)}


def launch(run: RunFolder, threads: int, workers: int) -> None:
    """Start the worker of a run and write down which process it is; it will start the next one."""
    environment = environment_of_worker(threads, workers)
    environment.setdefault(SERVER_ENVIRONMENT, json.dumps(asdict(ProcessId.of(os.getpid()))))
    command = [sys.executable, "-m", "rankviz.experiments.worker", str(run.path)]
    process = start(command, environment, run.log_file())
    try:
        run.claim(process)
    except OSError:  # nobody would know of it, and another would be started at the next look
        process.terminate()
        raise
