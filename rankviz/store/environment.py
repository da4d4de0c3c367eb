"""Environment variables of the run store and its workers, and the environment of a worker process."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import platformdirs

from rankviz.common.parallel import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.common.parallel import cores
from rankviz.common.processes import ProcessId

FOLDER_ENVIRONMENT = "RANKVIZ_RUNS"
WORKERS_ENVIRONMENT = "RANKVIZ_WORKERS"
CLUSTER_ENVIRONMENT = "RANKVIZ_CLUSTER"
NICE_ENVIRONMENT, USUAL_NICE, MOST_NICE = "RANKVIZ_NICE", 10, 19


def default_folder() -> Path:
    """Return RANKVIZ_RUNS from the environment, or "runs" in the user's data folder."""
    chosen = os.environ.get(FOLDER_ENVIRONMENT)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("rankviz")) / "runs"


def default_workers() -> int:
    """Return RANKVIZ_WORKERS from the environment, or half the cores, at least 2."""
    asked = os.environ.get(WORKERS_ENVIRONMENT, "")
    return max(1, int(asked)) if asked.isdecimal() else max(2, cores() // 2)


def cluster_address() -> str:
    """Return RANKVIZ_CLUSTER from the environment, the address of a Dask scheduler; "" if unset."""
    return os.environ.get(CLUSTER_ENVIRONMENT, "").strip()


def default_niceness() -> int:
    """Return RANKVIZ_NICE from the environment, or 10: the niceness of workers, 0 to 19."""
    asked = os.environ.get(NICE_ENVIRONMENT, "")
    return min(int(asked), MOST_NICE) if asked.isascii() and asked.isdecimal() else USUAL_NICE


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


def server_process() -> ProcessId:
    """Return the server of this worker; its parent process if the environment names none."""
    try:
        return ProcessId(**json.loads(os.environ[SERVER_ENVIRONMENT]))
    except (KeyError, ValueError, TypeError):
        return ProcessId.of(os.getppid())


def code_digest() -> str:
    """Return a digest of this package's files, which changes with any edit."""
    files = sorted((str(path), path.stat().st_mtime_ns) for path in PACKAGE.rglob("*.py"))
    return hashlib.blake2b(repr(files).encode(), digest_size=16).hexdigest()
