"""One lock for threads and processes: a file that the system locks, or that exists, where it locks none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL_SECONDS = 0.01
"""This often a lock that is held is asked for again."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One thread of one process at a time; a process that dies loses its lock."""
    with _kind()(path, poll_interval=POLL_SECONDS):
        yield


@cache
def _kind() -> type[BaseFileLock]:
    """What locks files here; where the system cannot, a file that exists does, of which the library warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="only soft file lock", category=UserWarning)
        from filelock import FileLock
    return FileLock
