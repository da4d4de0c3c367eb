"""Parsed data kept on disk, so that a file is parsed once and opened in milliseconds afterwards.

An entry is an npz file without pickles, named after the file's resolved path, so that a new version replaces
the old one. It says which path, size and modification time it was made from and is used only while all three
still hold. Nothing about the cache can make reading fail: an entry that is missing, stale or damaged is made
anew, and a folder that cannot be written to is done without. The digest is stored beside the arrays it was
computed from; the zip format's checksums, verified on reading, answer for both.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from rankviz.datasets.group_files import group_file
from rankviz.datasets.letor import read_letor, read_noting, warn_regrouped
from rankviz.datasets.textfile import Progress, StrPath, written_aside
from rankviz.datasets.types import RankingData

FORMAT = 1
"""Raised whenever the reader or the entries change, so that older entries are made anew."""
CACHE_BYTES = 2 << 30
"""Beyond this the entries used longest ago are dropped."""
STALE_SECONDS = 3600
"""A half-written file older than this was left by a process that died."""

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
        data, note = read_noting(path, progress)
        _store(entry, path, source, data, note)
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
            if about["source"] != source:
                return None
            data = _unpacked({name: arrays[name] for name in about["arrays"]}, about)
    except _NOT_AN_ENTRY:
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)  # the entry used longest ago is the first to be dropped
    return data, about["note"]


def _store(entry: Path, path: StrPath, source: dict[str, Any], data: RankingData, note: str | None) -> None:
    """Write an entry, unless it is too large, the file changed meanwhile or the folder is not writable."""
    arrays = _packed(data)
    if sum(array.nbytes for array in arrays.values()) > CACHE_BYTES:
        return
    about = {
        "source": source,
        "note": note,
        "name": data.name,
        "digest": data.digest,
        "arrays": list(arrays),
    }
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with contextlib.suppress(OSError):
        if _source(path) != source:
            return
        entry.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(entry) as stream:
            np.savez(stream, about=text, **arrays)
        _drop_oldest(entry.parent)


def _packed(data: RankingData) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "X": data.X,
        "y": data.y,
        "ptr": data.ptr,
        "query_ids": data.query_ids,
        "rows": data.rows,
    }
    if data.document_ids is not None:
        arrays["document_ids"] = data.document_ids
        with contextlib.suppress(UnicodeEncodeError):  # a quarter of the bytes where all are ASCII
            arrays["document_ids"] = data.document_ids.astype(np.bytes_)
    return arrays


def _unpacked(arrays: dict[str, Any], about: dict[str, Any]) -> RankingData:
    if "document_ids" in arrays:
        arrays["document_ids"] = arrays["document_ids"].astype(np.str_)
    data = RankingData(**arrays, name=about["name"])
    vars(data)["digest"] = about["digest"]
    return data


def _drop_oldest(folder: Path) -> None:
    """Remove what dead processes left, and the entries used longest ago while all exceed `CACHE_BYTES`."""
    for left in folder.glob(".*.tmp"):
        if left.stat().st_mtime < time.time() - STALE_SECONDS:
            left.unlink(missing_ok=True)
    room = CACHE_BYTES
    for entry in sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_mtime_ns, reverse=True):
        room -= entry.stat().st_size
        if room < 0:
            entry.unlink(missing_ok=True)
