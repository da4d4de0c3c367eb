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
import hashlib
import json
import os
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from rankviz.common.arrays import FloatArray
from rankviz.datasets import cache_files
from rankviz.datasets.cache_files import ENDING, InFolder
from rankviz.datasets.group_files import group_file
from rankviz.datasets.known import may_be_of_a_known_set
from rankviz.datasets.letor import read_letor, read_noting, warn_regrouped
from rankviz.datasets.textfile import Progress, StrPath, written_aside
from rankviz.datasets.types import RankingData

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
            if about["source"] != source or cache_files.state_of(matrix) != about["state"]:
                return None
            held = {name: arrays[name] for name in about["arrays"]}
            data = _unpacked(cache_files.mapped(matrix, *about["shape"]), held, about)
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
    matrix = cache_files.file_of(data.X)
    if matrix is None or _source(path) != source:
        return data
    vars(data)["digest"] = cache_files.digest_from(matrix, data)
    arrays = _packed(data)
    about = {
        "source": source,
        "note": note,
        "name": data.name,
        "digest": data.digest,
        "matrix": matrix.name,
        "shape": list(data.X.shape),
        "state": cache_files.state_of(matrix),
        "arrays": list(arrays),
    }
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    before = _named_by(entry)
    with written_aside(entry) as stream:
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
    left = cache_files.room(folder)
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
