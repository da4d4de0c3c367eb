"""Bounds of this machine: for all visitors together, for each visitor, for one job and for one worker.

RANKVIZ_BOUNDS names them: nothing for one person's own machine, "class" for a class on one machine, or a TOML
file. Its keys are the fields of `Bounds`. Missing ones default to one's own machine, or to the set that its
key `like` names.

See docs/decisions/0020-bounds-and-uploads.md.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rankviz.common.errors import SettingError

ENVIRONMENT = "RANKVIZ_BOUNDS"
GB = 1 << 30


@dataclass(frozen=True)
class Bounds:
    """Bounds of one machine; each is a positive number.

    Attributes
    ----------
    live_jobs, live_jobs_each : int
        Queued or running jobs: of all visitors, of one.
    live_jobs_address : int
        The same, of all visitors from one network address. A class often shares one.
    job_seconds : float
        Time that workers may spend on a job; it then ends with the records so far.
    sweep_runs : int
        Runs of one sweep.
    live_runs, live_runs_each, live_runs_address : int
        Unfinished runs of sweeps: of all visitors, of one, of all from one network address.
    kept_jobs, kept_jobs_each : int
        Ended jobs to keep: of all visitors, of one.
    run_bytes, run_bytes_each, run_bytes_address : int
        Runs in the run store: of all visitors, of one, of all from one network address.
    upload_bytes, upload_bytes_each, upload_bytes_address : int
        Uploaded or generated data sets: of all visitors, of one, of all from one network address.
    held_bytes, held_bytes_address : int
        Unchecked uploads in the server's memory: of all visitors, of all from one network address.
    fold_bytes : int
        Open folds in the server's memory, as read and as normalised.
    worker_jobs : int
        Families of runs after which a worker process is replaced.
    worker_bytes : int
        Memory beyond which a worker process is replaced after a family.
    idle_seconds : float
        Longest idle time of a worker process.
    """

    live_jobs: int = 100
    live_jobs_each: int = 8
    live_jobs_address: int = 100
    job_seconds: float = 12 * 3600.0
    sweep_runs: int = 20_000
    live_runs: int = 200_000
    live_runs_each: int = 100_000
    live_runs_address: int = 200_000
    kept_jobs: int = 1000
    kept_jobs_each: int = 30
    run_bytes: int = 10 * GB
    run_bytes_each: int = 10 * GB
    run_bytes_address: int = 10 * GB
    upload_bytes: int = 20 * GB
    upload_bytes_each: int = 4 * GB
    upload_bytes_address: int = 20 * GB
    held_bytes: int = 1 * GB
    held_bytes_address: int = 1 * GB
    fold_bytes: int = 2 * GB
    worker_jobs: int = 50
    worker_bytes: int = 1 * GB
    idle_seconds: float = 120.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise SettingError(f"{field.name} is {value!r}; it should be a positive number")


RESERVED = 0.1
"""Share of a room for those who, with all from their address, have little."""
FOR_FEW = ", the last tenth for those who have little"


def room_for(left: int, most: int, held: Sequence[int]) -> float:
    """Return how many of the bytes left of `most` one may take, who holds so many alone and by address.

    The last tenth is for who will hold at most left² / `most`: 1 % of the room while 10 % is left, and 0.01 %
    while 1 % is left. So n addresses that take all they can leave about 1 / (n + 10) of the room. Without
    limits of their own they may take all.
    """
    last = RESERVED * most
    return max(left - last, max(0, min(left, last)) ** 2 / most - max(held)) if held else left


SETS = {
    "own": Bounds(),
    "class": Bounds(
        live_jobs=60,
        live_jobs_each=2,
        live_jobs_address=50,
        job_seconds=600.0,
        sweep_runs=2_000,
        live_runs=40_000,
        live_runs_each=4_000,
        live_runs_address=20_000,
        kept_jobs=600,
        kept_jobs_each=10,
        run_bytes_each=1 * GB,
        run_bytes_address=5 * GB,
        upload_bytes_each=GB // 2,
        upload_bytes_address=10 * GB,
        held_bytes_address=GB // 2,
    ),
}
"""Sets of bounds by their names in RANKVIZ_BOUNDS."""


def bounds() -> Bounds:
    """Return the bounds in force. Raises `SettingError` for an invalid RANKVIZ_BOUNDS."""
    asked = os.environ.get(ENVIRONMENT, "") or "own"
    return SETS[asked] if asked in SETS else _read(asked)


@lru_cache(maxsize=8)
def _read(name: str) -> Bounds:
    """Read bounds from a TOML file."""
    path = Path(name).expanduser()
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = " or ".join(SETS)
        raise SettingError(
            f"{ENVIRONMENT} is {name}: neither {known} nor a file to read ({error})"
        ) from error
    except ValueError as error:
        raise SettingError(f"{name} is not TOML: {error}") from error
    like = values.pop("like", "own")
    if like not in SETS:
        raise SettingError(f"{name}: like = {like!r}; it should be {' or '.join(SETS)}")
    unknown = sorted(values.keys() - {field.name for field in fields(Bounds)})
    if unknown:
        known = ", ".join(field.name for field in fields(Bounds))
        raise SettingError(f"{name}: {', '.join(unknown)} is not a bound; the bounds are {known}")
    try:
        return replace(SETS[like], **values)
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from error
