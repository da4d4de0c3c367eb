"""A selection of runs as one file, to take along or to send: written from a store, read into another.

The file is a zip, not compressed, of the runs' records and a list of them with star, note and tags. What is
read is checked before it is kept: sizes against those of the file, every record as if it came from anywhere.
What is kept is an imported run of one visitor, whatever the file says of it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankviz.common.errors import DataError, SettingError
from rankviz.common.files import appearing
from rankviz.common.npz import MAX_BYTES
from rankviz.runs.record import RunRecord
from rankviz.store.imports import Brought
from rankviz.store.marks import check_note, checked_tags
from rankviz.store.runs import RunStore
from rankviz.store.studies import MOST_RUNS
from rankviz.store.study import DONE, IMPORTED

FORMAT = 1
LIST = "runs.json"
MAX_LIST_BYTES = 64 << 20


def export_runs(store: RunStore, digests: Sequence[str], owner: str, path: str | Path) -> int:
    """Write the runs to a file that a visitor may see, of those that have a record; how many.

    Imported ones keep their mark. An imported run is left out if the run that was made here is written.
    The file appears whole or not at all. Raises `DataError` if there are no such runs, the record of one
    cannot be read, or the file cannot be written.
    """
    path = Path(path)
    seen = store.listing.seen_by(owner)
    wanted = seen.loc[[digest for digest in dict.fromkeys(digests) if digest in seen.index]]
    wanted = wanted[wanted["state"].isin((DONE, IMPORTED))]
    wanted = wanted.sort_values("state", key=lambda state: state == IMPORTED, kind="stable")
    if wanted.empty:
        raise DataError("no run that was made", expected="at least one", remedy="Choose runs that are done.")
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for digest, row in wanted.to_dict("index").items():  # all are read once before one is written
        record = _check(str(digest), store.records.content(str(digest)))
        about = {"digest": record.spec.hash, "star": bool(row["star"]), "note": row["note"]}
        about |= {"tags": list(row["tags"])} | ({"imported": True} if row["state"] == IMPORTED else {})
        found.setdefault(record.spec.hash, (str(digest), about))
    try:
        with appearing(path) as file, zipfile.ZipFile(file, "w") as archive:
            listed = [about for _, about in found.values()]
            archive.writestr(LIST, json.dumps({"format": FORMAT, "runs": listed}))
            for name, (digest, _) in found.items():
                archive.writestr(f"{name}.npz", store.records.content(digest))
    except OSError as error:
        raise DataError(
            f"the file cannot be written: {error.strerror or error}",
            expected="a file in a folder that is there and has room",
            remedy="Name another file, or free space.",
            path=path,
        ) from error
    return len(found)


def _check(digest: str, content: bytes) -> RunRecord:
    try:
        return RunRecord.from_bytes(content)
    except DataError as error:
        raise DataError(
            f"the record of run {digest} cannot be read",
            expected="what was written when it was made",
            remedy="Leave that run out, or have it made again: open it in Train.",
        ) from error


def import_runs(store: RunStore, path: str | Path, owner: str) -> int:
    """Keep the runs of a file that `export_runs` wrote, as this visitor's imported runs; how many.

    They stand for no run of this store (`rankviz.store.imports`). All of them are kept, with their marks, or
    none. Raises `DataError` for a file that is not whole, for records that no run can have given, and for
    marks out of the bounds of `rankviz.store.marks`; `StoreError` where there is no room.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            sizes, listed = _listed(path, archive)
            shapes = dict[str, _Shape]()
            brought = [_brought(store, path, archive, about, sizes, shapes) for about in listed]
            store.imports.keep(brought, owner)
    except SettingError as error:
        raise _unreadable(path, str(error)) from error
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error
    return len(listed)


def _listed(path: Path, archive: zipfile.ZipFile) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The sizes of what is in a file, and what it says of its runs, checked."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    claimed, held = sum(entry.file_size for entry in archive.infolist()), path.stat().st_size
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
    if len({about["digest"] for about in listed}) < len(listed):
        raise _unreadable(path, "it lists a run twice")
    return sizes, listed


def _about(entry: Any) -> dict[str, Any]:
    """One entry of the list; TypeError or ValueError for anything else, and for marks out of their bounds."""
    about: dict[str, Any] = {name: entry[name] for name in ("digest", "star", "note", "tags")}
    kinds = {"digest": str, "star": bool, "note": str, "tags": list}
    wrong = [name for name, kind in kinds.items() if not isinstance(about[name], kind)]
    if wrong or not all(isinstance(tag, str) for tag in about["tags"]):
        raise ValueError(f"{wrong[0] if wrong else 'tags'} of a run have the wrong type")
    check_note(about["note"])
    about["tags"] = checked_tags(about["tags"])
    return about


@dataclass(frozen=True)
class _Shape:
    """Queries and documents of a part, as the runs of its data have them."""

    queries: dict[str, list[Any]]
    documents: dict[str, int]

    @classmethod
    def of(cls, record: RunRecord) -> _Shape:
        """Those of the data of a record."""
        queries = {part: table.index.tolist() for part, table in record.metrics.items()}
        return cls(queries, {part: len(scores) for part, scores in record.scores.items()})


def _brought(
    store: RunStore,
    path: Path,
    archive: zipfile.ZipFile,
    about: dict[str, Any],
    sizes: dict[str, int],
    shapes: dict[str, _Shape],
) -> Brought:
    """A record of a file, which is the run that the list says, and a possible one.

    Its parts have the queries and documents that runs of the same data have: those made here, else those of
    the same file. `shapes` has them by the digest of the data.
    """
    name = f"{about['digest']}.npz"
    record = RunRecord.from_bytes(archive.read(name))
    if record.spec.hash != about["digest"] or not record.spec.digest:
        raise _unreadable(path, f"{name} is another run")
    data, own = record.spec.digest, _Shape.of(record)
    if data not in shapes:
        here = store.records.of_data(data)
        shapes[data] = own if here is None else _Shape.of(here)
    for part, documents in own.documents.items():
        if documents != shapes[data].documents[part]:
            expected = f"{shapes[data].documents[part]:,} documents"
            raise _unreadable(path, f"{name} has {documents:,} scores of {part}, which has {expected}")
        if own.queries[part] != shapes[data].queries[part]:
            raise _unreadable(path, f"{name} has other queries in {part} than other runs of its data")
    return Brought.of(record, lambda: archive.read(name), sizes[name], about)


def _unreadable(path: Path, why: str) -> DataError:
    return DataError(
        f"not a readable file of runs ({why})",
        expected="a file that rankviz exported",
        remedy="Export the runs again.",
        path=path.name,
    )
