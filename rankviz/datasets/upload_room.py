"""Disk limits of uploaded and generated data sets: one visitor's, and all visitors' together.

All files count, also half-written uploads. Only one visitor writes at a time, so that two at once cannot
exceed a bound that each alone would keep. Nobody's data are deleted to make room for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankviz.common.bounds import bounds
from rankviz.common.locks import locked
from rankviz.common.numbers import megabytes
from rankviz.datasets.types import DataError
from rankviz.datasets.upload_folders import KEEP_DAYS, bytes_below, clear_left, uploads_folder

LOCK = ".lock"
_FEWER = "Upload fewer folds, or use a data folder"


@dataclass
class Room:
    """Bytes that may still be written, and the error beyond them.

    Attributes
    ----------
    left : float
        Bytes.
    found, remedy : str
        The error's texts.
    """

    left: float
    found: str
    remedy: str

    def take(self, size: float, shown: str | None = None) -> None:
        """Count bytes before they are written. Raises `DataError`, naming the file, if there is no room."""
        self.left -= size
        if self.left < 0:
            raise DataError(self.found, expected="less text", remedy=self.remedy, path=shown)


@contextmanager
def writing(root: Path) -> Iterator[Room]:
    """Give the room of a visitor's data root; nobody else writes meanwhile."""
    with undisturbed():
        clear_left()
        yield room_of(root)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Exclude other threads and processes from counting and renaming.

    A file renamed during a count may be counted twice or not at all.
    """
    everyone = uploads_folder()
    everyone.mkdir(parents=True, exist_ok=True)
    with locked(everyone / LOCK):
        yield


def room_of(root: Path) -> Room:
    """Return the remaining room: the visitor's or that of all, whichever is less."""
    given = bounds()
    own = Room(
        given.upload_bytes_each - bytes_below(root),
        f"more than {megabytes(given.upload_bytes_each)} with your earlier uploads",
        f"{_FEWER}, or remove an earlier upload.",
    )
    of_all = Room(
        given.upload_bytes - bytes_below(uploads_folder()),
        f"more than {megabytes(given.upload_bytes)} with the uploads of all visitors",
        f"{_FEWER}, remove an earlier upload, or try again later: data sets go when their visitor removes "
        f"them, or was last here {KEEP_DAYS} days ago.",
    )
    return min(own, of_all, key=lambda room: room.left)
