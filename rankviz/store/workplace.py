"""A worker process's environment, its code version, and its server."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from rankviz.common.threads import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.runs.processes import ProcessId
from rankviz.store.places import WORKERS_ENVIRONMENT

SERVER_ENVIRONMENT = "RANKVIZ_SERVER"
"""In a worker's environment: the server process, also if another worker started it."""
PACKAGE = Path(__file__).resolve().parents[1]


def environment_of_worker(threads: int, workers: int) -> dict[str, str]:
    """Return a worker's environment: its threads, this code, and the number of workers."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_ENVIRONMENT)
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | dict.fromkeys(names, str(threads))
    environment |= {"PYTHONPATH": path, WORKERS_ENVIRONMENT: str(workers)}
    environment.setdefault(SERVER_ENVIRONMENT, json.dumps(asdict(ProcessId.of(os.getpid()))))
    return environment


def server() -> ProcessId:
    """Return the server of this worker; its parent process if the environment names none."""
    try:
        return ProcessId(**json.loads(os.environ[SERVER_ENVIRONMENT]))
    except (KeyError, ValueError, TypeError):
        return ProcessId.of(os.getppid())


def code() -> str:
    """Return a digest of this package's files, which changes with any edit."""
    files = sorted((str(path), path.stat().st_mtime_ns) for path in PACKAGE.rglob("*.py"))
    return hashlib.blake2b(repr(files).encode(), digest_size=16).hexdigest()
