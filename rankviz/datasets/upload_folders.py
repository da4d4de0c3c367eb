"""Folders of uploads, one for each visitor, and their disk limits.

Writing takes place in a hidden folder that `scan` ignores; one rename publishes the result. Visitors' folders
are removed after a month without a visit. All files count for the limits, also half-written ones. Only one
visitor writes at a time, so two at once cannot exceed a bound together. Nobody's data are deleted to make
room for others.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from rankviz.common.bounds import FOR_FEW, bounds, room_for
from rankviz.common.errors import DataError
from rankviz.common.files import NO_ROOM, locked
from rankviz.common.memory import megabytes

ENVIRONMENT = "RANKVIZ_UPLOADS"
STALE_SECONDS = 3600
"""Age beyond which a half-written upload belongs to a dead process."""
KEEP_DAYS = 30
"""A visitor's uploads are removed this many days after the last visit."""
LOCK, ADDRESS = ".lock", "address"
_FEWER = "Upload fewer folds, or use a data folder"


def uploads_folder() -> Path:
    """Return the folder of all uploads: RANKVIZ_UPLOADS, or one below the user's data folder."""
    return Path(os.environ.get(ENVIRONMENT) or Path(platformdirs.user_data_dir("rankviz")) / "uploads")


def visitor_root(visitor: str) -> Path:
    """Return the data root of one visitor's uploads; it may not exist yet.

    `visitor` is a secret (such as 32 hexadecimal digits of `secrets`); the folder's name does not reveal it.
    """
    key = hashlib.blake2b(visitor.encode(), digest_size=16, person=b"rankviz-uploads").hexdigest()
    return uploads_folder() / key / "uploaded"


def record_address(root: Path, address: str) -> None:
    """Record the network address, or a digest of it, from which a data root is filled; "" if unknown.

    Visitors can make up themselves, but hardly addresses. Raises `DataError` on a full disk.
    """
    with _disk_errors_as_data_errors():
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        (root.parent / ADDRESS).write_text(address, encoding="ascii")


def record_visit(root: Path) -> None:
    """Record a visit to this data root, if it can be written."""
    if root.is_dir():
        with suppress(OSError):
            os.utime(root)


def remove_expired(now: float | None = None) -> int:
    """Delete the folders of visitors absent for `KEEP_DAYS`, and those without data; return their number.

    An upload that is refused leaves a folder without data.
    """
    now = time.time() if now is None else now
    expired = [
        root.parent
        for root in uploads_folder().glob("*/uploaded")
        if root.stat().st_mtime < now - (KEEP_DAYS * 86400 if any(root.iterdir()) else STALE_SECONDS)
    ]
    for folder in expired:
        delete(folder)
    return len(expired)


def remove(folder: Path, root: Path) -> None:
    """Delete a data set directly below `root`. Raises `DataError` for anything else."""
    if folder.parent.resolve() != root.resolve() or folder.name.startswith("."):
        raise DataError(
            f"{folder.name} is not your upload", expected="one of yours", remedy="Choose another."
        )
    gone = folder.with_name(f".{secrets.token_hex(8)}.tmp")
    with _disk_errors_as_data_errors():
        folder.rename(gone)
    delete(gone)


def delete(path: Path) -> None:
    """Remove a file, or a folder with its contents, as far as the system permits."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def hidden_folder(root: Path) -> Iterator[Path]:
    """Give a hidden folder below `root`, deleted at the end unless publish; `DataError` on a full disk."""
    made = root / f".{secrets.token_hex(8)}.tmp"
    try:
        with _disk_errors_as_data_errors():
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            made.mkdir(mode=0o700)
            yield made
    finally:
        delete(made)


@contextmanager
def _disk_errors_as_data_errors() -> Iterator[None]:
    """Raise `DataError` if the disk of the uploads is full or not writable."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DataError(
            f"the folder of uploads cannot be written to ({error.strerror})",
            expected="a disk with free space",
            remedy="You can use existing data sets. Ask the operator of this server for more space.",
        ) from error


def publish(source: Path, root: Path, name: str, suffix: str) -> Path:
    """Rename to the first free name; never replace an existing data set.

    The caller must hold the lock of `exclusive`.
    """
    number, free = 1, name
    while any((root / f"{free}{ending}").exists() for ending in ("", ".txt")):
        number += 1
        free = f"{name} {number}"
    target = root / f"{free}{suffix}"
    source.rename(target)
    return target


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
def room_to_write(root: Path) -> Iterator[Room]:
    """Give the room of a visitor's data root; nobody else writes meanwhile."""
    with exclusive():
        remove_stale()
        yield room_left(root)


@contextmanager
def exclusive() -> Iterator[None]:
    """Exclude other threads and processes from counting and renaming.

    A file renamed during a count may be counted twice or not at all.
    """
    everyone = uploads_folder()
    everyone.mkdir(parents=True, exist_ok=True)
    with locked(everyone / LOCK):
        yield


def room_left(root: Path) -> Room:
    """Return the remaining room: the visitor's, of the visitor's address or of all, whichever is least."""
    given = bounds()
    own_bytes, near_bytes = folder_bytes(root), sum(map(folder_bytes, _of_same_address(root)))
    own = Room(
        given.upload_bytes_each - own_bytes,
        f"more than {megabytes(given.upload_bytes_each)} with your earlier uploads",
        f"{_FEWER}, or remove an earlier upload.",
    )
    near = Room(
        given.upload_bytes_address - near_bytes,
        f"more than {megabytes(given.upload_bytes_address)} with the uploads from your network address",
        f"{_FEWER}, or remove an earlier upload.",
    )
    shares = (given.upload_bytes_each, own_bytes), (given.upload_bytes_address, near_bytes)
    held = [size for most, size in shares if most < given.upload_bytes]
    of_all = Room(
        room_for(given.upload_bytes - folder_bytes(uploads_folder()), given.upload_bytes, held),
        f"more than {megabytes(given.upload_bytes)} with the uploads of all visitors"
        + (FOR_FEW if held else ""),
        f"{_FEWER}, remove an earlier upload, or try again later: data sets go when their visitor removes "
        f"them, or was last here {KEEP_DAYS} days ago.",
    )
    return min(own, near, of_all, key=lambda room: room.left)


def _of_same_address(root: Path) -> list[Path]:
    """Return the folders of visitors who filled them from the address of this one; [] if it is unknown."""
    address = _address_of(root.parent)
    return [one for one in uploads_folder().iterdir() if _address_of(one) == address] if address else []


def _address_of(folder: Path) -> str:
    with suppress(OSError):
        return (folder / ADDRESS).read_text(encoding="ascii", errors="replace")
    return ""


def remove_stale() -> None:
    """Remove half-written uploads of dead processes, of all visitors."""
    for left in uploads_folder().glob("*/uploaded/.*.tmp"):
        with suppress(FileNotFoundError):  # its process has just publish it
            if left.stat().st_mtime < time.time() - STALE_SECONDS:
                delete(left)


def folder_bytes(root: Path) -> int:
    """Return the size of all files below a folder, which may be missing; files may change meanwhile."""
    size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(FileNotFoundError):
                size += os.stat(os.path.join(folder, name)).st_size
    return size
