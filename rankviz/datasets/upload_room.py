"""How much uploaded and generated data sets may take on the disk: one visitor's, and all visitors' together.

Whatever is written counts where it lies, half-written uploads too, and one at a time writes: two visitors at
once cannot go beyond a bound that each of them alone would keep. Nobody's data make room for another's.
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
    """Bytes that may still be written, and what is said to who wants more.

    Attributes
    ----------
    left : float
        Bytes.
    found, remedy : str
        What more than that comes to, and what to do then.
    """

    left: float
    found: str
    remedy: str

    def take(self, size: float, shown: str | None = None) -> None:
        """Count bytes before they are written; `DataError` where there is no room, naming the file."""
        self.left -= size
        if self.left < 0:
            raise DataError(self.found, expected="less text", remedy=self.remedy, path=shown)


@contextmanager
def writing(root: Path) -> Iterator[Room]:
    """The room that the visitor has whose data root this is; nobody else writes until it is left."""
    with undisturbed():
        clear_left()
        yield room_of(root)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No other thread or process counts, or gives names to what it has written, until this is left.

    What is renamed while somebody counts may be counted twice, or not at all.
    """
    everyone = uploads_folder()
    everyone.mkdir(parents=True, exist_ok=True)
    with locked(everyone / LOCK):
        yield


def room_of(root: Path) -> Room:
    """What is left just now: for this visitor, or for all, whichever is less."""
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
