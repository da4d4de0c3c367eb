"""Parsed data kept on disk, so that a file is parsed once and opened in milliseconds afterwards.

An entry is an npz file without pickles, named after the file's resolved path, so that a new version replaces
the old one. It says which path, size and modification time it was made from and is used only while all three
still hold. X is beside it in a raw file that the entry names (`cache_files`), written while the text is read
and mapped from then on, so that reading takes little memory and opening reads nothing. An entry is there when
its npz is, and that appears with one rename; files that no entry names are removed when they are an hour old.
Nothing about the cache can make reading fail: an entry that is missing, stale or damaged is made anew, and a
folder that cannot be written to is done without.

What answers for an entry: the zip format's checksums, verified on reading, for all but X, and the digest of
the data is among that. X is not read when it is opened, so no checksum of all of it is verified: its size,
the time of its last change and a digest of samples (of all of it, up to 1 MiB) must be what they were when it
had been brought to the disk. That finds what was cut short, exchanged or written to; a few bytes between the
samples that the disk gives back wrong it does not find.

See docs/decisions/0026-reading-data.md.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import platformdirs

from rankviz.common.arrays import FloatArray
from rankviz.common.files import sync, write_whole
from rankviz.datasets.group_files import group_file
from rankviz.datasets.known import may_be_of_a_known_set
from rankviz.datasets.letor import read_letor, read_noting, warn_regrouped
from rankviz.datasets.textfile import Progress, StrPath
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


FORMAT = 3
"""Raised whenever the reader or the entries change, so that older entries are made anew."""
STALE_SECONDS = 3600
"""A half-written file older than this was left by a process that died."""
_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}" + re.escape(ENDING))

_NOT_AN_ENTRY = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    MemoryError,
    RuntimeError,
    TypeError,
    zipfile.BadZipFile,
)


def cache_folder() -> Path:
    """Folder of the cache: RANKVIZ_CACHE from the environment, or else the user's cache folder."""
    return Path(os.environ.get("RANKVIZ_CACHE") or platformdirs.user_cache_dir("rankviz"))


def read_cached(
    path: StrPath, *, cache_dir: StrPath | None = None, progress: Progress | None = None
) -> RankingData:
    """Read a LETOR file, from the cache where the file is unchanged since it was last parsed.

    Warns and raises as `read_letor` does; trouble with the cache itself is never an error.
    """
    try:
        source = _source(path)
    except (OSError, ValueError):
        return read_letor(path, progress=progress)  # which says what is wrong with the path
    entry = _entry(path, cache_folder() if cache_dir is None else Path(cache_dir))
    loaded = _load(entry, source)
    if loaded is None:
        data, note = _made(entry, path, source, progress)
    else:
        data, note = loaded
        if progress is not None:
            progress(1.0)
    warn_regrouped(note)
    return data


def _entry(path: StrPath, folder: Path) -> Path:
    """Return where the entry of a file is kept; a subfolder, for `_drop_oldest` removes files around it."""
    key = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    return folder / "parsed" / f"{key}.npz"


def _source(path: StrPath) -> dict[str, Any]:
    """Return what an entry must have been made from to be used for this file."""
    resolved = os.path.realpath(path)
    status, group = os.stat(resolved), group_file(path)
    source = {"format": FORMAT, "path": resolved, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    if group is not None:
        beside = os.stat(group)
        source["group"] = [str(group), beside.st_size, beside.st_mtime_ns]
    return source


def _load(entry: Path, source: dict[str, Any]) -> tuple[RankingData, str | None] | None:
    """Return data and warning text of an entry, or None where it is missing, stale or damaged."""
    try:
        with open(entry, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            matrix = _matrix_of(entry, about)
            if about["source"] != source or state_of(matrix) != about["state"]:
                return None
            held = {name: arrays[name] for name in about["arrays"]}
            data = _unpacked(mapped(matrix, *about["shape"]), held, about)
    except _NOT_AN_ENTRY:
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)  # the entry used longest ago is the first to be dropped
    return data, about["note"]


def _made(
    entry: Path, path: StrPath, source: dict[str, Any], progress: Progress | None
) -> tuple[RankingData, str | None]:
    """Read the text into a file of the cache and make it an entry; where that cannot be, into memory."""
    try:
        with InFolder(entry) as folder:
            data, note = read_noting(path, progress, keep=folder)
            with contextlib.suppress(OSError):  # X may stay mapped from a file that has no name any more
                data = _stored(entry, path, source, data, note, folder)
            return data, note
    except OSError:
        return read_noting(path, progress)


def _stored(
    entry: Path, path: StrPath, source: dict[str, Any], data: RankingData, note: str | None, folder: InFolder
) -> RankingData:
    """Write an entry for data whose X is in a file of the cache, unless the text changed meanwhile."""
    matrix = file_of(data.X)
    if matrix is None or _source(path) != source:
        return data
    vars(data)["digest"] = digest_from(matrix, data)
    arrays = _packed(data)
    about = {
        "source": source,
        "note": note,
        "name": data.name,
        "digest": data.digest,
        "matrix": matrix.name,
        "shape": list(data.X.shape),
        "state": state_of(matrix),
        "arrays": list(arrays),
    }
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    before = _named_by(entry)
    with write_whole(entry) as stream:
        np.savez(stream, about=text, **arrays)
    folder.keep(matrix)
    if before is not None:
        before.unlink(missing_ok=True)
    _drop_oldest(entry.parent)
    return data


def _packed(data: RankingData) -> dict[str, Any]:
    """Return all arrays but X, and the digests of queries where a known set may have to be recognised."""
    arrays: dict[str, Any] = {
        "y": data.y,
        "ptr": data.ptr,
        "query_ids": data.query_ids,
        "rows": data.rows,
    }
    if data.document_ids is not None:
        arrays["document_ids"] = data.document_ids
        with contextlib.suppress(UnicodeEncodeError):  # a quarter of the bytes where all are ASCII
            arrays["document_ids"] = data.document_ids.astype(np.bytes_)
    if may_be_of_a_known_set(data):
        arrays["query_digests"] = data.query_digests
    return arrays


def _unpacked(X: FloatArray, arrays: dict[str, Any], about: dict[str, Any]) -> RankingData:
    if "document_ids" in arrays:
        arrays["document_ids"] = arrays["document_ids"].astype(np.str_)
    digests = arrays.pop("query_digests", None)
    data = RankingData(X, **arrays, name=about["name"])
    vars(data)["digest"] = about["digest"]
    if digests is not None:
        vars(data)["query_digests"] = digests
    return data


def _matrix_of(entry: Path, about: dict[str, Any]) -> Path:
    """The file of X that an entry names; ValueError where that is none that belongs to it."""
    name = about["matrix"]
    if not _NAME.fullmatch(name) or not name.startswith(entry.stem):
        raise ValueError(name)
    return entry.with_name(name)


def _named_by(entry: Path) -> Path | None:
    """The file of X that the entry here names, None where there is no entry."""
    try:
        with open(entry, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return _matrix_of(entry, json.loads(arrays["about"].tobytes()))
    except _NOT_AN_ENTRY:
        return None


def _drop_oldest(folder: Path) -> None:
    """Remove what dead processes left, and the entries used longest ago while all exceed their room."""
    left = room(folder)
    for file in _leftovers(folder):
        file.unlink(missing_ok=True)
    for entry in sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_mtime_ns, reverse=True):
        files = [file for file in (entry, _named_by(entry)) if file is not None and file.exists()]
        left -= sum(file.stat().st_size for file in files)
        if left < 0:
            for file in files:
                file.unlink(missing_ok=True)


def _leftovers(folder: Path) -> Iterator[Path]:
    """Files half-written, or of an X that no entry names, that nobody has written to for long."""
    for file in (*folder.glob(".*.tmp"), *folder.glob(f"*{ENDING}")):
        if file.stat().st_mtime < time.time() - STALE_SECONDS:
            entry = file.with_name(f"{file.stem.partition('-')[0]}.npz")
            if file.suffix != ENDING or _named_by(entry) != file:
                yield file
