"""Matrix files of the cache: raw float64, row after row, mapped at use.

Each file has a unique name and never changes its content. It is read only once a cache entry names it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.files import sync
from rankviz.datasets.types import RankingData, digest_of

CACHE_BYTES = 16 << 30
"""Beyond this the least recently used entries are dropped; MSLR-WEB30K takes 4.1 GB per fold."""
DISK_SHARE = 0.5
"""Largest share of the disk space that would be free without a cache."""
ENDING = ".f64"
_SAMPLES, _SAMPLE_BYTES = 64, 16 << 10
_BLOCK_BYTES = 1 << 20


class InFolder:
    """Writes values to new files beside an entry, and removes files without a `keep`."""

    in_place = False

    def __init__(self, entry: Path) -> None:
        self._entry, self._room = entry, room(entry.parent)
        self._open: dict[Path, IO[bytes]] = {}
        self._kept: Path | None = None

    def __enter__(self) -> InFolder:
        return self

    def __exit__(self, *_: object) -> None:
        for path, stream in self._open.items():
            stream.close()
            if path != self._kept:
                with contextlib.suppress(OSError):  # some systems refuse to remove a mapped file
                    path.unlink(missing_ok=True)

    def stream(self) -> IO[bytes]:
        """Open a new file. Raises OSError if the folder is not writable."""
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        path = self._entry.with_name(f"{self._entry.stem}-{secrets.token_hex(8)}{ENDING}")
        self._open[path] = stream = open(path, "x+b")  # noqa: SIM115 - closed by __exit__
        return stream

    def take(self, bytes_: int) -> None:
        """Reserve bytes. Raises OSError beyond the free room."""
        self._room -= bytes_
        if self._room < 0:
            raise OSError(errno.ENOSPC, "no room in the cache")

    def check(self, n: int, d: int, path: str, line: int | None) -> None:
        """Accept any size: a file may exceed memory, and `take` checks the disk."""

    def matrix(self, stream: IO[bytes], n: int, d: int) -> FloatArray:
        """Return X, mapped, after a sync to disk: an entry must not name unwritten data."""
        sync(stream)
        return mapped(Path(stream.name), n, d)

    def let_go(self, stream: IO[bytes]) -> None:
        """Remove a file."""
        path = Path(stream.name)
        self._open.pop(path).close()
        path.unlink()

    def keep(self, path: Path) -> None:
        """Keep this file at the end."""
        self._kept = path


def mapped(path: Path, n: int, d: int) -> FloatArray:
    """Map the (n, d) matrix in a file, read-only."""
    return np.asarray(np.memmap(path, np.float64, "r", shape=(n, d)))


def file_of(X: Any) -> Path | None:
    """Return the file that X is mapped from, None for X in memory."""
    found = X.base
    return Path(found.filename) if isinstance(found, np.memmap) and found.filename is not None else None


def digest_from(path: Path, data: RankingData) -> str:
    """Digest data with X in a file, by reading the file: mapped pages would count as used memory."""
    return digest_of(data, _blocks(path))


def state_of(path: Path) -> list[Any]:
    """Return a file's fingerprint: its size, the time of its last change, a digest of samples.

    The samples are spread over the file, including both ends; a file of up to 1 MiB is digested whole.
    """
    status = os.stat(path)
    size, whole = status.st_size, _SAMPLES * _SAMPLE_BYTES
    starts = range(0, size, _SAMPLE_BYTES) if size <= whole else _spread(size)
    h = hashlib.blake2b(digest_size=16)  # size and time alone miss a quick rewrite of equal length
    with open(path, "rb") as stream:
        for start in starts:
            stream.seek(start)
            h.update(stream.read(_SAMPLE_BYTES))
    return [size, status.st_mtime_ns, h.hexdigest()]


def room(folder: Path) -> int:
    """Return the bytes that all entries together may take, given the free disk space."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    held = sum(path.stat().st_size for path in _files(folder))
    return int(min(CACHE_BYTES, DISK_SHARE * (shutil.disk_usage(there).free + held)))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):  # removed meanwhile
            if path.is_file():
                yield path


def _spread(size: int) -> list[int]:
    return [int(start) for start in np.linspace(0, size - _SAMPLE_BYTES, _SAMPLES)]


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block
