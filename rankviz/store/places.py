"""Environment variables for the folder of runs and for the workers that make them."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from rankviz.common.threads import cores

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
