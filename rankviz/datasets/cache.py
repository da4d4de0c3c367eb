"""Parsed data on disk: a file is parsed once, and opened in milliseconds afterwards.

An entry is an npz file without pickles, named after the resolved path of its text. It states path, size and
modification time of the text, and is valid only while these hold. It names a raw float64 file beside it,
which holds X row after row and is mapped. The raw file has a unique name and never changes; the rename of
the npz publishes both. Files that no entry names are removed after an hour. No trouble with the cache makes
reading fail: a missing, stale or damaged entry is made again, and without a writable folder there is no
cache.

The zip format's checksums protect everything but X; the digest of the data is among it. X is not read when it
is opened, so its size, its modification time and a digest must agree: of all of it up to 16 MiB, of samples
beyond. This detects truncated, exchanged or rewritten files. In larger files it misses a few bytes that the
disk corrupts between the samples.

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

from rankviz.common.arrays import FloatArray, mapping_of
from rankviz.common.files import sync, write_whole
from rankviz.datasets.group_files import group_file
from rankviz.datasets.known import may_be_known
from rankviz.datasets.letor import read_letor, read_with_note, warn_regrouped
from rankviz.datasets.textfile import Progress, StrPath
from rankviz.datasets.types import RankingData, digest_of

CACHE_BYTES = 16 << 30
"""Beyond this the least recently used entries are dropped; MSLR-WEB30K takes 4.1 GB per fold."""
DISK_SHARE = 0.5
"""Largest share of the disk space that would be free without a cache."""
ENDING = ".f64"
_SAMPLES, _SAMPLE_BYTES = 64, 16 << 10
_DIGESTED_WHOLE = 16 << 20
"""Size up to which all bytes are digested, in 20 ms at most: OHSUMED and MQ2008 have 3 to 4 MB."""
_BLOCK_BYTES = 1 << 20
FORMAT = 4
"""Increase it when the reader or the entries change: older entries are then made again."""
STALE_SECONDS = 3600
"""Age beyond which a half-written file belongs to a dead process."""
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
    """Return the cache folder: RANKVIZ_CACHE, or one of the user's."""
    return Path(os.environ.get("RANKVIZ_CACHE") or platformdirs.user_cache_dir("rankviz"))


def read_cached(
    path: StrPath, *, cache_dir: StrPath | None = None, progress: Progress | None = None
) -> RankingData:
    """Read a LETOR file, from the cache if the file has not changed since it was parsed.

    Warns and raises like `read_letor`; trouble with the cache is never an error.
    """
    try:
        source = _source(path)
    except (OSError, ValueError):
        return read_letor(path, progress=progress)  # it raises the error for the path
    entry = _entry(path, cache_folder() if cache_dir is None else Path(cache_dir))
    loaded = _load(entry, source)
    if loaded is None:
        data, note = _read_into_cache(entry, path, source, progress)
    else:
        data, note = loaded
        if progress is not None:
            progress(1.0)
    warn_regrouped(note)
    return data


def _entry(path: StrPath, folder: Path) -> Path:
    """Return the entry of a file, in a subfolder of its own: `_drop_oldest` removes other files there."""
    key = hashlib.blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()
    return folder / "parsed" / f"{key}.npz"


def _source(path: StrPath) -> dict[str, Any]:
    """Return the identity of this version of a file."""
    resolved = os.path.realpath(path)
    status, group = os.stat(resolved), group_file(path)
    source = {"format": FORMAT, "path": resolved, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    if group is not None:
        beside = os.stat(group)
        source["group"] = [str(group), beside.st_size, beside.st_mtime_ns]
    return source


def _load(entry: Path, source: dict[str, Any]) -> tuple[RankingData, str | None] | None:
    """Return data and warning text of an entry, None if it is missing, stale or damaged."""
    try:
        with open(entry, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            matrix = _matrix_of(entry, about)
            if about["source"] != source or state_of(matrix) != about["state"]:
                return None
            stored = {name: arrays[name] for name in about["arrays"]}
            data = _from_arrays(mapped(matrix, *about["shape"]), stored, about)
    except _NOT_AN_ENTRY:
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)  # `_drop_oldest` reads it
    return data, about["note"]


def _read_into_cache(
    entry: Path, path: StrPath, source: dict[str, Any], progress: Progress | None
) -> tuple[RankingData, str | None]:
    """Read the text into a file of the cache and add an entry; without room, read into memory."""
    try:
        with FileStorage(entry) as folder:
            data, note = read_with_note(path, progress, storage=folder)
            with contextlib.suppress(OSError):  # X may stay mapped from a removed file
                data = _add_entry(entry, path, source, data, note, folder)
            return data, note
    except OSError:
        return read_with_note(path, progress)


def _add_entry(
    entry: Path,
    path: StrPath,
    source: dict[str, Any],
    data: RankingData,
    note: str | None,
    folder: FileStorage,
) -> RankingData:
    """Write the entry of data with X in a file of the cache, unless the text has changed meanwhile."""
    mapping = mapping_of(data.X)
    if mapping is None or _source(path) != source:
        return data
    matrix = Path(str(mapping.filename))
    vars(data)["digest"] = digest_of(data, _blocks(matrix))  # mapped pages would count as used memory
    arrays = _to_arrays(data)
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
    before = _stored_matrix(entry)
    with write_whole(entry) as stream:
        np.savez(stream, about=text, **arrays)
    folder.keep(matrix)
    if before is not None:
        before.unlink(missing_ok=True)
    _drop_oldest(entry.parent)
    return data


def _to_arrays(data: RankingData) -> dict[str, Any]:
    """Return all arrays but X, with the digests of queries if the data may be a known set."""
    arrays: dict[str, Any] = {
        "y": data.y,
        "ptr": data.ptr,
        "query_ids": data.query_ids,
        "rows": data.rows,
    }
    if data.document_ids is not None:
        arrays["document_ids"] = data.document_ids
        with contextlib.suppress(UnicodeEncodeError):  # ASCII takes a quarter of the bytes
            arrays["document_ids"] = data.document_ids.astype(np.bytes_)
    if may_be_known(data):
        arrays["query_digests"] = data.query_digests
    return arrays


def _from_arrays(X: FloatArray, arrays: dict[str, Any], about: dict[str, Any]) -> RankingData:
    if "document_ids" in arrays:
        arrays["document_ids"] = arrays["document_ids"].astype(np.str_)
    digests = arrays.pop("query_digests", None)
    data = RankingData(X, **arrays, name=about["name"])
    vars(data)["digest"] = about["digest"]
    if digests is not None:
        vars(data)["query_digests"] = digests
    return data


def _matrix_of(entry: Path, about: dict[str, Any]) -> Path:
    """Return the file of X that an entry names. Raises ValueError for another entry's name."""
    name = about["matrix"]
    if not _NAME.fullmatch(name) or not name.startswith(entry.stem):
        raise ValueError(name)
    return entry.with_name(name)


def _stored_matrix(entry: Path) -> Path | None:
    """Return the file of X that the entry on disk names, None without an entry."""
    try:
        with open(entry, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return _matrix_of(entry, json.loads(arrays["about"].tobytes()))
    except _NOT_AN_ENTRY:
        return None


def _drop_oldest(folder: Path) -> None:
    """Remove files of dead processes, and the least recently used entries beyond the room."""
    left = cache_room(folder)
    for file in (*folder.glob(".*.tmp"), *folder.glob(f"*{ENDING}")):
        if file.stat().st_mtime < time.time() - STALE_SECONDS:
            entry = file.with_name(f"{file.stem.partition('-')[0]}.npz")
            if file.suffix != ENDING or _stored_matrix(entry) != file:
                file.unlink(missing_ok=True)
    for entry in sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_mtime_ns, reverse=True):
        files = [file for file in (entry, _stored_matrix(entry)) if file is not None and file.exists()]
        left -= sum(file.stat().st_size for file in files)
        if left < 0:
            for file in files:
                file.unlink(missing_ok=True)


class FileStorage:
    """Storage in new files beside an entry; all files are removed at the end, except a kept one."""

    in_place = False

    def __init__(self, entry: Path) -> None:
        self._entry, self._room = entry, cache_room(entry.parent)
        self._open: dict[Path, IO[bytes]] = {}
        self._kept: Path | None = None

    def __enter__(self) -> FileStorage:
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

    def reserve(self, bytes_: int) -> None:
        """Reserve bytes. Raises OSError beyond the free room."""
        self._room -= bytes_
        if self._room < 0:
            raise OSError(errno.ENOSPC, "the cache has no space")

    def check(self, n: int, d: int, path: str, line: int | None) -> None:
        """Accept any size: a file may exceed memory, and `reserve` checks the disk."""

    def matrix(self, stream: IO[bytes], n: int, d: int) -> FloatArray:
        """Return X, mapped, after a sync to disk: an entry must not name unwritten data."""
        sync(stream)
        return mapped(Path(stream.name), n, d)

    def discard(self, stream: IO[bytes]) -> None:
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


def state_of(path: Path) -> list[Any]:
    """Return a file's fingerprint: its size, the time of its last change, a digest of samples.

    The samples are spread over the file, including both ends; a file of up to 16 MiB is digested whole.
    """
    status = os.stat(path)
    size = status.st_size
    if size <= _DIGESTED_WHOLE:
        starts = list(range(0, size, _SAMPLE_BYTES))
    else:
        starts = [int(start) for start in np.linspace(0, size - _SAMPLE_BYTES, _SAMPLES)]
    h = hashlib.blake2b(digest_size=16)  # size and time alone miss a quick rewrite of equal length
    with open(path, "rb") as stream:
        for start in starts:
            stream.seek(start)
            h.update(stream.read(_SAMPLE_BYTES))
    return [size, status.st_mtime_ns, h.hexdigest()]


def cache_room(folder: Path) -> int:
    """Return the bytes that all entries together may take, given the free disk space."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    used = 0
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):  # removed meanwhile
            used += path.stat().st_size if path.is_file() else 0
    return int(min(CACHE_BYTES, DISK_SHARE * (shutil.disk_usage(there).free + used)))


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block
