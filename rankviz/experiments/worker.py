"""A worker: `python -m rankviz.experiments.worker RUN_DIR` trains what its spec.json lists, then other jobs.

It says that it is there before it imports what it works with, for that takes a second, or several on a busy
machine, and ends at once where it is asked to stop meanwhile; then `work` begins. When the job has ended it
waits for the next one of the same store.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from rankviz.common.memory import go_first
from rankviz.common.system import WINDOWS
from rankviz.experiments.job_files import STARTING, JobFiles
from rankviz.experiments.processes import ProcessId

LOOK_SECONDS = 0.1
"""This often the stop file is looked for while the libraries are imported."""


def main(arguments: list[str]) -> int:
    """Work on the folder that the command line names; the exit status is 0 unless nothing could be done."""
    if len(arguments) != 1:
        print("usage: python -m rankviz.experiments.worker RUN_DIR", file=sys.stderr)  # noqa: T201
        return 2
    folder = JobFiles(Path(arguments[0]))
    named = next((own for pid in _numbers() if folder.claim(own := ProcessId.of(pid))), None)
    if named is None:
        print("another process works on this folder", file=sys.stderr)  # noqa: T201
        return 1
    go_first()  # the server stays, whose visitors' other work would be lost
    folder.tell(0, STARTING)
    with _stopping_meanwhile(folder):
        from rankviz.experiments.work import serve

    serve(folder.path, named)
    return 0


def _numbers() -> list[int]:
    """What this process may be known by: in a virtual environment Windows starts a launcher, its parent."""
    return [os.getpid(), os.getppid()] if WINDOWS else [os.getpid()]


@contextmanager
def _stopping_meanwhile(folder: JobFiles) -> Iterator[None]:
    """End this process once a stop is asked for: an import cannot be asked, and there is nothing to save."""
    over = Event()

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            if folder.stop_asked() is not None:
                if not folder.ended():
                    folder.end("stopped", "Stopped on request before the first run began.")
                os._exit(0)

    Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        over.set()


if __name__ == "__main__":
    getattr(os, "nice", int)(10)  # the server answers first; Windows has no such order
    sys.exit(main(sys.argv[1:]))
