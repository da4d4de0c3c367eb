"""Worker processes of a store: a desk for each that waits for its next job, and new processes.

Importing the libraries takes a worker longer than many a job, so it stays when its job has ended. `.desks` in
the store has two files for such a process: NAME.idle says that it waits, and for what kind of work; NAME.next
says which job it was given. Desks are set up, given a job and cleared under the store's lock; only the worker
itself looks at its own without.
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

from rankviz.common.files import replace, write_synced
from rankviz.common.threads import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

FOLDER = ".desks"
WORKERS_ENVIRONMENT = "RANKVIZ_WORKERS"
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
        _write(self._idle, json.dumps({"process": asdict(self.process), "kind": self.kind}))

    def give(self, run: RunFolder) -> None:
        """Have the waiting process work on a run; under the lock.

        The job is written down before the process is named in it: whoever is ended in between leaves a worker
        that finds its job, not a job that waits for a worker who knows nothing of it.
        """
        _write(self._next, run.path.name)
        run.claim(self.process)
        self._idle.unlink(missing_ok=True)

    def clear(self) -> None:
        """The process does not wait any more; under the lock."""
        self._idle.unlink(missing_ok=True)

    def given(self) -> RunFolder | None:
        """The run that this process was given, which is told once."""
        try:
            name = self._next.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        self.clear()
        self._next.unlink(missing_ok=True)
        return RunFolder(self.folder / name)

    def wait(self, seconds: float) -> RunFolder | None:
        """The run that this process was given meanwhile; None at once where nobody wants it any more.

        That is where its desk was cleared, where the store is gone, and where the program that started it
        has ended.
        """
        parent = ProcessId.of(os.getppid())
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (run := self.given()) is not None:
                return run
            if not self._idle.exists() or not parent.alive():
                return None
            time.sleep(LOOK_SECONDS)
        return None


def waiting(folder: Path) -> Iterator[Desk]:
    """The desks at which a process waits that is still alive and was given nothing; under the lock."""
    for path in sorted((folder / FOLDER).glob("*.idle")):
        with suppress(OSError, ValueError, TypeError, KeyError):
            values = json.loads(path.read_text(encoding="utf-8"))
            desk = Desk(folder, ProcessId(**values["process"]), values["kind"])
            if desk.process.alive() and not path.with_suffix(".next").exists():
                yield desk
                continue
        path.unlink(missing_ok=True)  # its process is gone, or it cannot be read


def kind_of(threads: int) -> str:
    """What a worker process is made of: its threads, the code it has read, what its environment says.

    A job is given only to a process of the kind that would be started for it: after a change of the code
    or of the settings in the environment, those that wait are of another.
    """
    environment = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.startswith("RANKVIZ_") and name not in (THREADS_ENVIRONMENT, WORKERS_ENVIRONMENT)
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


def launch(run: RunFolder, threads: int, workers: int) -> None:
    """Start the worker of a run and write down which process it is; it will start the next one."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_ENVIRONMENT)
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | dict.fromkeys(names, str(threads))
    environment |= {"PYTHONPATH": path, WORKERS_ENVIRONMENT: str(workers)}
    command = [sys.executable, "-m", "rankviz.experiments.worker", str(run.path)]
    process = start(command, environment, run.log_file())
    try:
        run.claim(process)
    except OSError:  # nobody would know of it, and another would be started at the next look
        process.terminate()
        raise


def _write(path: Path, text: str) -> None:
    """Write a file that appears whole."""
    aside = path.with_suffix(path.suffix + ".tmp")
    try:
        write_synced(aside, text)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    replace(aside, path)
