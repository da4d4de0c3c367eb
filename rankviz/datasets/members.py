"""One file of an upload, the limits on all of them, and the words in which one is refused."""

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
"""Errors of zipfile and gzip for archives that are damaged or of a kind they do not know."""


@dataclass(frozen=True)
class Limits:
    """How much may be uploaded at once; what may be kept is bounded by the machine (`Bounds.upload_bytes`).

    Attributes
    ----------
    upload_bytes : int
        All files together, as they are sent.
    text_bytes : int
        All files together, unpacked.
    ratio : int
        Unpacked bytes for each packed one; LETOR text has 5 to 15.
    entries : int
        Files and folders in an archive, and files sent at once.
    cells : int
        Entries of all matrices together, documents times features; text of 1 GB lists about so many.
    """

    upload_bytes: int = 200 * MB
    text_bytes: int = 1024 * MB
    ratio: int = 150
    entries: int = 500
    cells: int = 1 << 27


@dataclass(frozen=True)
class Upload:
    """One file as it was sent: its name, and its bytes as a stream that can be sought."""

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
    """One file of an upload, not unpacked yet.

    Attributes
    ----------
    shown : str
        What messages call it: "letor.zip: Fold1/train.txt".
    path : tuple of str
        Its folders and its name. They say what it is and are never made a path.
    packed : int
        Its size as sent.
    open : () -> stream
        Opens it; raises what zipfile raises.
    """

    shown: str
    path: tuple[str, ...]
    packed: int
    open: Callable[[], IO[bytes]]


def shown_name(name: str) -> str:
    """The last component of a name that was sent, for messages, without characters that cannot be printed."""
    last = re.split(r"[/\\]", name)[-1]
    text = "".join(c if c.isprintable() else "?" for c in last)
    return text if len(text) <= 80 else text[:77] + "…"


def too_many(number: int, limits: Limits, name: str) -> DataError:
    """The error for more files than are taken at once."""
    return DataError(
        f"{number:,} files",
        expected=f"at most {limits.entries} at once",
        remedy="Keep only the folds' train, vali and test files.",
        path=name,
    )


def refused(shown: str, found: str, remedy: str) -> DataError:
    """The error for what no plain zip archive of LETOR files holds."""
    return DataError(found, expected="a plain zip archive of LETOR files", remedy=remedy, path=shown)


def damaged(shown: str, what: str, error: object) -> DataError:
    """The error for a file that is not whole."""
    return DataError(
        f"a damaged {what} ({error})",
        expected="a whole file",
        remedy="Pack or download it again, and upload it again.",
        path=shown,
    )
