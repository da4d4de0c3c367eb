"""A Dask scheduler and a worker, by the commands that docs/cluster.md names."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

WORKER_THERE = """
import sys
from distributed import Client
with Client(scheduler_file=sys.argv[1], timeout=300) as client:
    client.wait_for_workers(1, timeout=300)
"""
"""A busy machine takes its time to start one."""


@contextmanager
def cluster(
    programs: Path, folder: Path, environment: Mapping[str, str]
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler with a worker, and its process; both are of the environment with `programs`.

    They are ended afterwards; their files lie in `folder`.
    """
    file, dask = folder / "scheduler.json", str(programs / "dask")
    own = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file)]

    def start(*what: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([dask, *what, *own], cwd=folder, env=environment, stderr=subprocess.DEVNULL)

    with start("scheduler", "--port", "0") as scheduler, start("worker", "--no-nanny") as worker:
        try:
            wait = [str(programs / "python"), "-c", WORKER_THERE, str(file)]
            subprocess.run(wait, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)
            yield json.loads(file.read_text(encoding="utf-8"))["address"], scheduler
        finally:
            scheduler.kill()
            worker.kill()
