"""One lock for threads and processes: a system file lock, or a file's existence if the system has none."""

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
"""Seconds between attempts to take a held lock."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Admit one thread of one process at a time; a process that dies loses its lock."""
    with _kind()(path, poll_interval=POLL_SECONDS):
        yield


@cache
def _kind() -> type[BaseFileLock]:
    """Return the lock class for this system; suppress the library's warning if only a soft lock works."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="only soft file lock", category=UserWarning)
        from filelock import FileLock
    return FileLock
