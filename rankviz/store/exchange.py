"""A selection of runs as one file, to take along or to send: written from a store, read into another.

The file is a zip, not compressed, of the runs' records and a list of them with star, note and tags. What is
read is checked before it is kept: sizes against those of the file, every record as if it came from anywhere.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankviz.common.errors import DataError
from rankviz.common.files import appearing
from rankviz.common.npz import MAX_BYTES
from rankviz.experiments.record import RunRecord
from rankviz.store.marks import TAG_LENGTH
from rankviz.store.runs import RunStore
from rankviz.store.studies import MOST_RUNS

FORMAT = 1
LIST = "runs.json"
MAX_LIST_BYTES = 64 << 20
TOGETHER = 50
"""So many records are held in memory at once."""


def export_runs(store: RunStore, digests: Sequence[str], owner: str, path: str | Path) -> int:
    """Write the runs to a file that a visitor may see, of those that were made; how many.

    The file appears whole or not at all. Raises `DataError` where there are no such runs, the record of one
    cannot be read, or the file cannot be written.
    """
    path = Path(path)
    seen = store.listing.seen_by(owner)
    wanted = seen.loc[[digest for digest in dict.fromkeys(digests) if digest in seen.index]]
    wanted = wanted[wanted["state"] == "done"]
    if wanted.empty:
        raise DataError("no run that was made", expected="at least one", remedy="Choose runs that are done.")
    rows = list(zip(wanted.index, wanted["star"], wanted["note"], wanted["tags"], strict=True))
    about = [
        {"digest": digest, "star": bool(star), "note": note, "tags": list(given)}
        for digest, star, note, given in rows
    ]
    for digest, *_ in rows:  # all are read once before one is written
        _check(digest, store.records.content(digest))
    try:
        with appearing(path) as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr(LIST, json.dumps({"format": FORMAT, "runs": about}))
            for digest, *_ in rows:
                archive.writestr(f"{digest}.npz", store.records.content(digest))
    except OSError as error:
        raise DataError(
            f"the file cannot be written: {error.strerror or error}",
            expected="a file in a folder that is there and has room",
            remedy="Name another file, or free space.",
            path=path,
        ) from error
    return len(rows)


def _check(digest: str, content: bytes) -> None:
    try:
        RunRecord.from_bytes(content)
    except DataError as error:
        raise DataError(
            f"the record of run {digest} cannot be read",
            expected="what was written when it was made",
            remedy="Leave that run out, or have it made again: open it in Train.",
        ) from error


def import_runs(store: RunStore, path: str | Path, owner: str) -> int:
    """Keep the runs of a file that `export_runs` wrote, as this visitor's; how many.

    Nothing of a file is kept that is not whole. Raises `DataError` for anything else.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            listed = _listed(path, archive)
            for about in listed:  # all are read once before one is kept
                _record(path, archive, about)
            for start in range(0, len(listed), TOGETHER):
                part = listed[start : start + TOGETHER]
                store.records.keep([_record(path, archive, about) for about in part], owner)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error
    _mark(store, listed, owner)
    return len(listed)


def _mark(store: RunStore, listed: Sequence[dict[str, Any]], owner: str) -> None:
    for about in listed:
        if about["star"]:
            store.marks.star(owner, [about["digest"]])
        if about["note"]:
            store.marks.note(owner, [about["digest"]], about["note"])
        for tag in about["tags"]:
            store.marks.tag(owner, [about["digest"]], tag)


def _listed(path: Path, archive: zipfile.ZipFile) -> list[dict[str, Any]]:
    """What a file says is in it, checked."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    claimed, held = sum(sizes.values()), path.stat().st_size
    if claimed > min(held, MAX_BYTES):
        raise _unreadable(path, f"it claims {claimed} bytes, in a file of {held}")
    if not 0 < sizes.get(LIST, 0) <= MAX_LIST_BYTES:
        raise _unreadable(path, f"{LIST} is missing or too large")
    try:
        values = json.loads(archive.read(LIST))
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}; this version reads {FORMAT}")
        listed = [_about(entry) for entry in values["runs"]]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    missing = [about["digest"] for about in listed if f"{about['digest']}.npz" not in sizes]
    if missing or not 0 < len(listed) <= MOST_RUNS:
        raise _unreadable(path, f"{missing[0]}.npz is missing" if missing else f"it lists {len(listed)} runs")
    return listed


def _about(entry: Any) -> dict[str, Any]:
    """One entry of the list; TypeError or ValueError for anything else."""
    tags: list[Any] = list(entry["tags"])
    about: dict[str, Any] = {
        "digest": str(entry["digest"]),
        "star": bool(entry["star"]),
        "note": str(entry["note"]),
        "tags": [str(tag).strip() for tag in tags],
    }
    if not all(0 < len(tag) <= TAG_LENGTH for tag in about["tags"]):
        raise ValueError("a tag is empty or too long")
    return about


def _record(path: Path, archive: zipfile.ZipFile, about: dict[str, Any]) -> RunRecord:
    """A record of a file, which is the run that the list says."""
    record = RunRecord.from_bytes(archive.read(f"{about['digest']}.npz"))
    if record.spec.hash != about["digest"] or not record.spec.digest:
        raise _unreadable(path, f"{about['digest']}.npz is another run")
    return record


def _unreadable(path: Path, why: str) -> DataError:
    return DataError(
        f"not a readable file of runs ({why})",
        expected="a file that rankviz exported",
        remedy="Export the runs again.",
        path=path.name,
    )
