"""What a worker process is given: its environment, the code that it has read, whom it works for."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from rankviz.common.threads import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.experiments.processes import ProcessId
from rankviz.store.places import WORKERS_ENVIRONMENT

SERVER_ENVIRONMENT = "RANKVIZ_SERVER"
"""In the environment of workers: the process that they work for, also where a worker started another."""
PACKAGE = Path(__file__).resolve().parents[1]


def environment_of_worker(threads: int, workers: int) -> dict[str, str]:
    """The environment of a worker process: its threads, this code, how many of them work at once."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_ENVIRONMENT)
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | dict.fromkeys(names, str(threads))
    environment |= {"PYTHONPATH": path, WORKERS_ENVIRONMENT: str(workers)}
    environment.setdefault(SERVER_ENVIRONMENT, json.dumps(asdict(ProcessId.of(os.getpid()))))
    return environment


def server() -> ProcessId:
    """The process that this worker works for: who started it, where nothing says so."""
    try:
        return ProcessId(**json.loads(os.environ[SERVER_ENVIRONMENT]))
    except (KeyError, ValueError, TypeError):
        return ProcessId.of(os.getppid())


def code() -> str:
    """What stands for the code of this package as its files are now: another one after any change."""
    files = sorted((str(path), path.stat().st_mtime_ns) for path in PACKAGE.rglob("*.py"))
    return hashlib.blake2b(repr(files).encode(), digest_size=16).hexdigest()
