"""Runs in files: export from a store, and import as runs of one visitor.

The file is an uncompressed zip of records and a list of them with star, note and tags. Import first checks
sizes and every record. An imported run belongs to its importer. Its key is no digest of a spec, and it has
its own state, so it never replaces a run of the store.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, Row, Select, and_, exists, select, update

from rankviz.common.errors import DataError, SettingError
from rankviz.common.files import open_zip, write_whole, zip_entry
from rankviz.common.npz import MAX_BYTES
from rankviz.common.settings import is_text
from rankviz.metrics.evaluation import COLUMNS
from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.records import (
    add_tags,
    check_note,
    checked_tags,
    figures_of,
    mark_owned,
    metric_set,
    set_marks,
    set_notes,
)
from rankviz.store.room import MARK_BYTES, ROW_BYTES, make_room, make_share, remove_runs, tag_bytes
from rankviz.store.studies import MOST_RUNS
from rankviz.store.study import DONE, IMPORTED, StoreError
from rankviz.store.tables import (
    ids_by_digest,
    insert_with_conflict,
    marks,
    metric_sets,
    parse_texts,
    records,
    rows_among,
    runs,
    tags,
)

if TYPE_CHECKING:
    from rankviz.store.run_store import RunStore

AGREE = 1e-3
"""Largest difference of metric means that agree: machines round differently."""
AT_ONCE, BYTES_AT_ONCE = 250, 16 << 20
"""Most runs, and about most bytes of records, in a transaction, for which all other writers wait."""


@dataclass(frozen=True)
class ImportedRun:
    """A checked run of a file, with its marks; `content` reads its record."""

    spec: RunSpec
    figures: dict[str, Any]
    content: Callable[[], bytes]
    size: int
    star: bool
    note: str
    tags: tuple[str, ...]

    @classmethod
    def of(
        cls, record: RunRecord, content: Callable[[], bytes], size: int, about: dict[str, Any]
    ) -> ImportedRun:
        """Return the parts of a record to keep; `about` has star, note and tags."""
        marks_ = about["star"], about["note"], tuple(about["tags"])
        return cls(record.spec, figures_of(record), content, size, *marks_)


@dataclass(frozen=True)
class Verdict:
    """Comparison of an imported run with the same run made here.

    Attributes
    ----------
    digest : str
        Digest of the run made here.
    agrees : bool
        True if the imported figures agree; then the run made here has replaced the imported one.
    sentence : str
    """

    digest: str
    agrees: bool
    sentence: str


class Imports:
    """The imported runs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, found: Iterable[ImportedRun], owner: str, address: str = "") -> None:
        """Keep the runs of a file with their marks as this visitor's, all or none.

        The runs are written in several transactions, and the last one makes all of them the visitor's.
        Raises `StoreError` if there is no room, `SettingError` for marks out of bounds, and the errors of
        reading a record.
        """
        brought = {_key(one, owner): one for one in found}
        with self._database.writing() as connection:
            there = ids_by_digest(connection, list(brought))
            new = dict.fromkeys(key for key in brought if key not in there)
            size = sum(brought[key].size + ROW_BYTES + MARK_BYTES for key in new)
            size += sum(len(one.note.encode()) + sum(map(tag_bytes, one.tags)) for one in brought.values())
            make_room(connection, owner, size, address, imported=True)
            make_share(connection, owner, size, [])
        try:
            for some in _portions(brought, new):
                contents = {key: brought[key].content() for key in some}  # read while others may write
                with self._database.writing() as connection:
                    _insert(connection, brought, owner, contents)
            with self._database.writing() as connection:
                _mark(connection, brought, new, owner, address)
        except BaseException:
            with suppress(StoreError), self._database.writing() as connection:
                remove_runs(connection, _unmarked(connection, list(new)))
            raise

    def opened(self, digest: str) -> RunRecord:
        """Return the record of an imported run; KeyError for none, `DataError` for a damaged one."""
        asked = select(records.c.content).join(runs, runs.c.id == records.c.run)
        with self._database.reading() as connection:
            own = runs.c.digest == digest, runs.c.state == IMPORTED
            content = connection.execute(asked.where(*own)).scalar()
        if content is None:
            raise KeyError(digest)
        return RunRecord.from_bytes(bytes(content))

    def compare(self, owner: str) -> list[Verdict]:
        """Compare a visitor's imported runs once with the same runs made here for them.

        If the means of all metrics agree to `AGREE`, the run made here replaces the imported one and gets its
        marks. Otherwise the imported run's reason says so.
        """
        asked = _uncompared(owner)
        with self._database.reading() as connection:
            if connection.execute(asked.limit(1)).first() is None:
                return []
        found = list[Verdict]()
        while True:  # in portions: all other writers wait for each
            with self._database.writing() as connection:
                rows = connection.execute(asked.limit(AT_ONCE)).all()
                found += [_compared(connection, row, owner) for row in rows]
            if len(rows) < AT_ONCE:
                return found


def _key(one: ImportedRun, owner: str) -> str:
    """Return the key of an imported run, which is no digest of a spec."""
    key = f"{owner}\n{one.spec.hash}\n".encode() + one.content()
    return "i" + hashlib.blake2b(key, digest_size=8).hexdigest()[1:]


def _portions(brought: Mapping[str, ImportedRun], keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield the keys in parts that are written in a fraction of a second."""
    some, size = list[str](), 0
    for key in keys:
        some.append(key)
        size += brought[key].size
        if len(some) == AT_ONCE or size > BYTES_AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def _insert(
    connection: Connection, brought: Mapping[str, ImportedRun], owner: str, contents: Mapping[str, bytes]
) -> None:
    """Insert imported runs with their tags; without marks nobody sees them, and `purge` removes them."""
    rows = list[dict[str, Any]]()
    for key, content in contents.items():
        one, now, figures = brought[key], time.time(), dict(brought[key].figures)
        figures["metric_set"] = metric_set(connection, figures.pop("names"))
        texts = {"spec": one.spec.to_json(), "state": IMPORTED, "stands_for": one.spec.hash, "reason": ""}
        rows.append({"digest": key, "created": now, "ended": now, "size": len(content)} | texts | figures)
    if rows:
        new = insert_with_conflict(connection, runs).on_conflict_do_nothing(index_elements=["digest"])
        connection.execute(new, rows)
        ids = ids_by_digest(connection, list(contents))
        kept = insert_with_conflict(connection, records).on_conflict_do_nothing(index_elements=["run"])
        connection.execute(kept, [{"run": ids[key], "content": some} for key, some in contents.items()])
        add_tags(connection, owner, {ids[key]: brought[key].tags for key in contents})


def _mark(
    connection: Connection, brought: Mapping[str, ImportedRun], new: Collection[str], owner: str, address: str
) -> None:
    """Make imported runs this visitor's, with their marks; insert again what another has purged meanwhile."""
    there = ids_by_digest(connection, list(brought))
    gone = {key: one.content() for key, one in brought.items() if key not in there}
    _insert(connection, brought, owner, gone)
    ids = ids_by_digest(connection, list(brought))
    found = {ids[key]: one for key, one in brought.items()}
    mark_owned(connection, owner, list(found), time.time(), address)
    set_marks(connection, owner, [run for run, one in found.items() if one.star], star=True)
    set_notes(connection, owner, {run: one.note for run, one in found.items() if one.note})
    add_tags(connection, owner, {ids[key]: one.tags for key, one in brought.items() if key not in new})


def _unmarked(connection: Connection, keys: Sequence[str]) -> list[int]:
    """Return the ids of imported runs that nobody has."""
    marked = exists().where(marks.c.run == runs.c.id)
    asked = select(runs.c.id).where(runs.c.state == IMPORTED, ~marked)
    return [row.id for row in rows_among(connection, asked, runs.c.digest, keys)]


def _uncompared(owner: str) -> Select[Any]:
    """Select imported runs not compared yet, with the runs made here for the same visitor."""
    made, mine = runs.alias("made"), marks.alias("mine")
    own = and_(marks.c.run == runs.c.id, marks.c.owner == owner, marks.c.deleted.is_(None))
    ours = and_(mine.c.run == made.c.id, mine.c.owner == owner, mine.c.deleted.is_(None))
    return (
        select(runs.c.id, runs.c.spec, runs.c.metric_set, runs.c.means, marks.c.star, marks.c.note)
        .add_columns(made.c.id.label("made"), made.c.digest)
        .add_columns(made.c.metric_set.label("made_set"), made.c.means.label("made_means"))
        .add_columns(mine.c.star.label("made_star"), mine.c.note.label("made_note"))
        .join(made, and_(made.c.digest == runs.c.stands_for, made.c.state == DONE))
        .join(marks, own)
        .join(mine, ours)
        .where(runs.c.state == IMPORTED, runs.c.reason == "")
        .order_by(runs.c.id)
    )


def _compared(connection: Connection, row: Row[Any], owner: str) -> Verdict:
    theirs = _means(connection, row.metric_set, row.means)
    ours = _means(connection, row.made_set, row.made_means)
    gaps = {name: abs(value - ours[name]) for name, value in theirs.items() if name in ours}
    apart = [name for name, gap in gaps.items() if not gap <= AGREE]
    if gaps and not apart:
        _replace_by_made(connection, row, owner)
        words = f"agree with those of the run made here to {AGREE:g}. That run takes its place."
        return Verdict(row.digest, True, f"Imported figures {words}")
    # the validation part first, because it decides choices
    worst = max(apart, key=lambda name: (name.startswith("vali:"), gaps[name]), default="")
    part, _, name = worst.partition(":")
    reason = (
        f"The run made here has {PART_NAMES[part]} {name} {ours[worst]:.4f}, not {theirs[worst]:.4f}."
        if worst
        else "The run made here has none of its metrics."
    )
    connection.execute(update(runs).where(runs.c.id == row.id).values(reason=reason))
    return Verdict(row.digest, False, f"Imported figures do not agree. {reason}")


def _replace_by_made(connection: Connection, row: Row[Any], owner: str) -> None:
    """Give an imported run's marks to the run made here, and remove the imported one."""
    said = {"star": row.star or row.made_star, "note": row.made_note or row.note}
    set_marks(connection, owner, [row.made], **said)
    given = select(tags.c.tag).where(tags.c.owner == owner, tags.c.run == row.id).order_by(tags.c.tag)
    add_tags(connection, owner, {row.made: connection.execute(given).scalars().all()}, truncate=True)
    remove_runs(connection, [row.id])


def _means(connection: Connection, names: int, means: bytes) -> dict[str, float]:
    """Return the means of metrics by name."""
    text = connection.execute(select(metric_sets.c.names).where(metric_sets.c.id == names)).scalar_one()
    found = parse_texts(text)  # none if damaged; another number of names than of means is a fault
    return dict(zip(found, np.frombuffer(means[:-4], "<f8").tolist(), strict=True)) if found else {}


FORMAT = 1
FEWER = "Export fewer runs at once."
LIST = "runs.json"
MAX_LIST_BYTES = 4 << 20
"""Most bytes of the list: for 20,000 runs with some tags, or 1000 with notes of 1000 Chinese letters."""


def export_runs(store: RunStore, digests: Sequence[str], owner: str, path: str | Path) -> int:
    """Write those runs to a file that a visitor may see and that have a record; return their number.

    Imported runs are marked as such, and left out if the same run made here is written. The file appears
    complete or not at all. Raises `DataError` without such runs, for an unreadable record, for notes and tags
    beyond `MAX_LIST_BYTES`, and if the file cannot be written.
    """
    path = Path(path)
    seen = store.listing.seen_by(owner)
    wanted = seen.loc[[digest for digest in dict.fromkeys(digests) if digest in seen.index]]
    wanted = wanted[wanted["state"].isin((DONE, IMPORTED))]
    wanted = wanted.sort_values("state", key=lambda state: state == IMPORTED, kind="stable")
    if wanted.empty:
        raise DataError("no finished run", expected="at least one", remedy="Choose finished runs.")
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for digest, row in wanted.to_dict("index").items():  # read all before writing one
        record = _check(str(digest), store.records.content(str(digest)))
        about = {"digest": record.spec.hash, "star": bool(row["star"]), "note": row["note"]}
        about |= {"tags": list(row["tags"])} | ({"imported": True} if row["state"] == IMPORTED else {})
        found.setdefault(record.spec.hash, (str(digest), about))
    about_runs = {"format": FORMAT, "runs": [about for _, about in found.values()]}
    listed = json.dumps(about_runs, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if len(listed) > MAX_LIST_BYTES:
        raise DataError(
            f"the notes and tags of {len(found):,} runs are too long for a file: {len(listed):,} bytes",
            expected=f"at most {MAX_LIST_BYTES:,} bytes",
            remedy=FEWER,
        )
    try:
        with write_whole(path) as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr(zip_entry(LIST), listed)
            for name, (digest, _) in found.items():
                archive.writestr(zip_entry(f"{name}.npz"), store.records.content(digest))
    except OSError as error:
        raise DataError(
            f"the file cannot be written: {error.strerror or error}",
            expected="an existing folder with free space",
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
            expected="the record as it was written",
            remedy="Omit that run, or train it again: open it in Train.",
        ) from error


def import_runs(store: RunStore, path: str | Path, owner: str, address: str = "") -> int:
    """Keep the runs of a file from `export_runs` as this visitor's imported runs; return their number.

    All of them are kept with their marks, or none. Raises `DataError` for an incomplete file, impossible
    records, and marks out of the bounds of `rankviz.store.records`; `StoreError` if there is no room.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, open_zip(file, MOST_RUNS + 1) as archive:
            sizes, listed = _listed(path, archive)
            shapes = dict[str, _Shape]()
            brought = [_read_run(store, path, archive, about, sizes, shapes) for about in listed]
            store.imports.keep(brought, owner, address)
    except SettingError as error:
        raise _unreadable(path, str(error)) from error
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error
    return len(listed)


def _listed(path: Path, archive: zipfile.ZipFile) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Return the sizes of a file's entries and its checked list of runs."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    claimed, held = sum(entry.file_size for entry in archive.infolist()), path.stat().st_size
    if claimed > min(held, MAX_BYTES):
        raise _unreadable(path, f"it claims {claimed} bytes, in a file of {held}")
    size = sizes.get(LIST, 0)
    if size > MAX_LIST_BYTES:  # JSON may take 25 times its size, and no other thread runs meanwhile
        why = f"its list of runs has {size:,} bytes, of at most {MAX_LIST_BYTES:,}"
        raise _unreadable(path, why, FEWER)
    if not size:
        raise _unreadable(path, f"{LIST} is missing")
    try:
        values = json.loads(archive.read(LIST))
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}; this version reads {FORMAT}")
        listed = [_checked_entry(entry) for entry in values["runs"]]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    missing = [about["digest"] for about in listed if f"{about['digest']}.npz" not in sizes]
    if missing or not 0 < len(listed) <= MOST_RUNS:
        raise _unreadable(path, f"{missing[0]}.npz is missing" if missing else f"it lists {len(listed)} runs")
    if len({about["digest"] for about in listed}) < len(listed):
        raise _unreadable(path, "it lists a run twice")
    return sizes, listed


def _checked_entry(entry: Any) -> dict[str, Any]:
    """Return a checked entry of the list. Raises TypeError or ValueError for anything else."""
    about: dict[str, Any] = {name: entry[name] for name in ("digest", "star", "note", "tags")}
    kinds = {"digest": str, "star": bool, "note": str, "tags": list}
    wrong = [name for name, kind in kinds.items() if not isinstance(about[name], kind)]
    if wrong or not all(isinstance(tag, str) for tag in about["tags"]):
        raise ValueError(f"{wrong[0] if wrong else 'tags'} of a run have the wrong type")
    if not all(is_text(text, MAX_LIST_BYTES) for text in (about["note"], *about["tags"])):
        raise ValueError("the note or a tag of a run has half of a surrogate pair")
    check_note(about["note"])
    about["tags"] = checked_tags(about["tags"])
    return about


@dataclass(frozen=True)
class _Shape:
    """Queries and numbers of documents by part, the same for all runs of the same data."""

    queries: dict[str, list[Any]]
    documents: dict[str, int]

    @classmethod
    def of(cls, record: RunRecord) -> _Shape:
        """Return those of a record."""
        queries = {part: table.index.tolist() for part, table in record.metrics.items()}
        return cls(queries, {part: len(scores) for part, scores in record.scores.items()})


def _read_run(
    store: RunStore,
    path: Path,
    archive: zipfile.ZipFile,
    about: dict[str, Any],
    sizes: dict[str, int],
    shapes: dict[str, _Shape],
) -> ImportedRun:
    """Return a run of a file, after checking that it is the listed one and possible.

    Its parts must have the queries and documents of other runs of the same data, made here or in the same
    file. `shapes` has these by the digest of the data.
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
        # a system given by its scores may lack parts
        expected = shapes[data].documents.setdefault(part, documents)
        if documents != expected:
            raise _unreadable(
                path, f"{name} has {documents:,} scores of {part}, which has {expected:,} documents"
            )
        if tuple(record.metrics[part]) != COLUMNS:  # sets of names stay when their runs go
            raise _unreadable(path, f"{name} has other metrics in {part} than runs that are made here")
        if own.queries[part] != shapes[data].queries.setdefault(part, own.queries[part]):
            raise _unreadable(path, f"{name} has other queries in {part} than other runs of its data")
    return ImportedRun.of(record, lambda: archive.read(name), sizes[name], about)


def _unreadable(path: Path, why: str, remedy: str = "Export the runs again.") -> DataError:
    return DataError(
        f"not a readable file of runs ({why})",
        expected="a file that rankviz exported",
        remedy=remedy,
        path=path.name,
    )
