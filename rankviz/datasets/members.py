"""Members of an upload, the limits on all of them, and the errors for refusals."""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from rankviz.datasets.types import DataError

MB = 1 << 20
BYTES_PER_ENTRY = 1024
WANTED = "LETOR text, such text compressed with gzip, or a zip archive of such files"
PACKED = re.compile(
    r"\.(zip|rar|7z|tar|tgz|tbz2?|txz|bz2|xz|zst|lzma|cab|iso)$|\.tar\.[a-z0-9]+$", re.IGNORECASE
)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""Errors of zipfile and gzip for damaged or unknown archives."""


@dataclass(frozen=True)
class Limits:
    """Limits on one upload; `Bounds.upload_bytes` limits the stored data.

    Attributes
    ----------
    upload_bytes : int
        All files together, as sent.
    text_bytes : int
        All files together, unpacked.
    ratio : int
        Unpacked bytes per packed byte; LETOR text has 5 to 15.
    entries : int
        Files and folders in an archive, and files sent at once.
    cells : int
        Entries of all matrices together, documents times features; about as many as 1 GB of text lists.
    """

    upload_bytes: int = 200 * MB
    text_bytes: int = 1024 * MB
    ratio: int = 150
    entries: int = 500
    cells: int = 1 << 27


@dataclass(frozen=True)
class Upload:
    """One file as sent: its name, and its bytes as a seekable stream."""

    name: str
    stream: IO[bytes]

    @property
    def size(self) -> int:
        """Number of bytes."""
        self.stream.seek(0, os.SEEK_END)
        size = self.stream.tell()
        self.stream.seek(0)
        return size


@dataclass(frozen=True)
class Member:
    """One file of an upload, still packed.

    Attributes
    ----------
    shown : str
        Name in messages: "letor.zip: Fold1/train.txt".
    path : tuple of str
        Its folders and its name, only for recognition; never used as a path.
    packed : int
        Its size as sent.
    open : () -> stream
        Opens it; raises zipfile's errors.
    """

    shown: str
    path: tuple[str, ...]
    packed: int
    open: Callable[[], IO[bytes]]


def shown_name(name: str) -> str:
    """Return the last component of a sent name for messages, with "?" for unprintable characters."""
    last = re.split(r"[/\\]", name)[-1]
    text = "".join(c if c.isprintable() else "?" for c in last)
    return text if len(text) <= 80 else text[:77] + "…"


def too_many(number: int, limits: Limits, name: str) -> DataError:
    """Return the error for too many files."""
    return DataError(
        f"{number:,} files",
        expected=f"at most {limits.entries} at once",
        remedy="Keep only the folds' train, vali and test files.",
        path=name,
    )


def refused(shown: str, found: str, remedy: str) -> DataError:
    """Return the error for contents not allowed in a plain zip archive of LETOR files."""
    return DataError(found, expected="a plain zip archive of LETOR files", remedy=remedy, path=shown)


def damaged(shown: str, what: str, error: object) -> DataError:
    """Return the error for a damaged file."""
    return DataError(
        f"a damaged {what} ({error})",
        expected="a whole file",
        remedy="Pack or download it again, and upload it again.",
        path=shown,
    )
