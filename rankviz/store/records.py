"""Records of runs, the means of their metrics, and the marks of visitors on runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, delete, exists, select, update

from rankviz.common.errors import DataError, SettingError
from rankviz.runs.record import RunRecord, check_record
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.room import (
    MARK_BYTES,
    ROW_BYTES,
    charge,
    check_shared,
    make_room,
    make_room_and_share,
    new_mark_bytes,
    tag_bytes,
)
from rankviz.store.study import CANCELLED, DONE, FAILED, IMPORTED
from rankviz.store.tables import (
    ensure_runs,
    ids_by_digest,
    in_batches,
    insert_with_conflict,
    marks,
    metric_sets,
    records,
    rows_among,
    runs,
    sealed,
    tags,
)

TRAINING = ("features", "pairs", "start", "newton")
"""Stages that count as training; reading and evaluation do not."""


class Records:
    """The records of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unreadable = frozenset[RunSpec]()

    def save(
        self, record: RunRecord, report: Callable[[Connection], object] = lambda _: None, owner: str = ""
    ) -> bool:
        """Save the record of a requested run; return False if another worker was faster.

        `report` writes in the same transaction, such as the name of the worker's next run. If an owner is
        given, room is made for them: raises `StoreError` and saves nothing if there is none. Raises
        `SettingError` for a record that could not be read again.
        """
        content = _content_of(record)
        with self._database.writing() as connection:
            report(connection)
            saved = _save(connection, record, content)
            if owner:
                make_room_and_share(connection, owner)
            return saved

    def keep(self, found: Iterable[RunRecord], owner: str, address: str = "") -> int:
        """Save records that nobody requested, as this visitor's runs; return the number of new ones.

        Specs without the digest of their data are left out, and records that could not be read again.
        `address` is as in `Study`. Raises `StoreError` if there is no room.
        """
        made = dict[RunSpec, tuple[RunRecord, bytes]]()
        for record in found:
            with suppress(SettingError):
                made |= {record.spec: (record, _content_of(record))} if record.spec.digest else {}
        again = self._unreadable & made.keys()
        with self._database.writing() as connection:
            discard_unreadable(connection, list(again))
            if made:
                needed = sum(ROW_BYTES + MARK_BYTES + len(content) for _, content in made.values())
                make_room(connection, owner, needed, address)
            ids = ensure_runs(connection, list(made))
            new = sum(_save(connection, record, content) for record, content in made.values())
            mark_owned(connection, owner, list(ids.values()), time.time(), address)
        self._unreadable -= again
        return new

    def claim(self, digests: Sequence[str], owner: str, address: str = "") -> None:
        """Make runs this visitor's too, except imported ones. Raises `StoreError` if there is no room."""
        here = select(runs.c.id).where(runs.c.state != IMPORTED)
        with self._database.writing() as connection:
            ids = [row.id for row in rows_among(connection, here, runs.c.digest, digests)]
            if new := new_mark_bytes(connection, owner, ids):
                make_room(connection, owner, new, address)
                ids = [row.id for row in rows_among(connection, here, runs.c.digest, digests)]
            mark_owned(connection, owner, ids, time.time(), address)

    def fail(self, spec: RunSpec, reason: str) -> None:
        """Record that a run cannot be made, with the reason."""
        with self._database.writing() as connection:
            connection.execute(
                update(runs)
                .where(runs.c.digest == spec.hash, runs.c.state != DONE)
                .values(state=FAILED, reason=reason, ended=time.time(), family=None)
            )

    def find(self, specs: Sequence[RunSpec]) -> dict[RunSpec, RunRecord]:
        """Return the existing records of these specs, without unreadable ones.

        An unreadable record also does not count in `made`, and `keep` replaces it.
        """
        wanted = {spec.hash: spec for spec in specs}
        found: dict[RunSpec, RunRecord] = {}
        asked = select(runs.c.digest, records.c.content).join(records, records.c.run == runs.c.id)
        asked = asked.where(runs.c.state == DONE)
        with self._database.reading() as connection:
            for digest, content in rows_among(connection, asked, runs.c.digest, wanted):
                with suppress(DataError):
                    record = RunRecord.from_bytes(content)
                    if record.spec.hash == digest:  # else two records are exchanged
                        found[wanted[digest]] = record
                        continue
                self._unreadable |= {wanted[digest]}
        self._unreadable -= found.keys()
        return found

    def content(self, digest: str) -> bytes:
        """Return the stored bytes of a run's record. Raises KeyError if there is none."""
        asked = select(records.c.content).join(runs, runs.c.id == records.c.run)
        with self._database.reading() as connection:
            found = connection.execute(asked.where(runs.c.digest == digest)).scalar()
        if found is None:
            raise KeyError(digest)
        return bytes(found)

    def of_data(self, digest: str) -> RunRecord | None:
        """Return the record of any run made here on the data of this digest; None without one."""
        named = runs.c.spec.contains(f'"digest": {json.dumps(digest)}', autoescape=True)
        asked = select(records.c.content).join(runs, runs.c.id == records.c.run)
        asked = asked.where(runs.c.state == DONE, named).order_by(runs.c.id.desc()).limit(5)
        with self._database.reading() as connection:
            for content in connection.execute(asked).scalars():
                with suppress(DataError):
                    record = RunRecord.from_bytes(content)
                    if record.spec.digest == digest:
                        return record
        return None

    def bytes_of(self, digests: Sequence[str]) -> int:
        """Return the bytes of the records of these runs."""
        asked = select(runs.c.size).where(runs.c.state.in_((DONE, IMPORTED)))
        with self._database.reading() as connection:
            return sum(row.size for row in rows_among(connection, asked, runs.c.digest, digests))

    def made(self, digests: Sequence[str]) -> set[str]:
        """Return those of these runs that were made."""
        asked = select(runs.c.digest).where(runs.c.state == DONE)
        with self._database.reading() as connection:
            found = {str(row.digest) for row in rows_among(connection, asked, runs.c.digest, digests)}
        return found - {spec.hash for spec in self._unreadable}


def discard_unreadable(connection: Connection, specs: Sequence[RunSpec]) -> None:
    """Delete records that this version cannot read, so that their runs are made again."""
    asked = select(runs.c.id, records.c.content).join(records, records.c.run == runs.c.id, isouter=True)
    asked = asked.where(runs.c.state == DONE)
    rows = rows_among(
        connection, asked.add_columns(runs.c.digest), runs.c.digest, [one.hash for one in specs]
    )
    for bad in in_batches([row.id for row in rows if not _readable(row.content, row.digest)]):
        connection.execute(delete(records).where(records.c.run.in_(bad)))
        connection.execute(update(runs).where(runs.c.id.in_(bad)).values(state=CANCELLED, size=0))


def _readable(content: bytes | None, digest: str) -> bool:
    """Return True for the record of the run with this digest."""
    try:
        return content is not None and RunRecord.from_bytes(content).spec.hash == digest
    except DataError:
        return False


def _save(connection: Connection, record: RunRecord, content: bytes) -> bool:
    """Save a record in the row of its run, unless it has one."""
    figures = figures_of(record)
    names = metric_set(connection, figures.pop("names"))
    made = connection.execute(
        update(runs)
        .where(runs.c.digest == record.spec.hash, runs.c.state != DONE)
        .values(
            state=DONE,
            reason="",
            family=None,
            ended=time.time(),
            metric_set=names,
            size=len(content),
            **figures,
        )
        .returning(runs.c.id)
    ).scalar()
    if made is None:
        return False
    kept = insert_with_conflict(connection, records).values(run=made, content=content)
    # a damaged number can make a record that of a run without one
    connection.execute(kept.on_conflict_do_update(index_elements=[records.c.run], set_={"content": content}))
    return True


def _content_of(record: RunRecord) -> bytes:
    """Return the bytes of a record. Raises `SettingError` for one that could not be read again."""
    try:
        check_record(record)
    except ValueError as error:
        raise SettingError(
            f"The run has numbers that no record may have: {error}. Choose less extreme settings."
        ) from error
    return record.to_bytes()


def figures_of(record: RunRecord) -> dict[str, Any]:
    """Return a record's values for the row of its run.

    They are seconds of training, its status, and the means of all metrics by part, over the queries that have
    a value, with their `names`.
    """
    names, means = list[str](), list[float]()
    for part, frame in record.metrics.items():
        values = frame.to_numpy(np.float64)
        there = ~np.isnan(values)
        count = there.sum(axis=0)
        total = np.where(there, values, 0.0).sum(axis=0)
        means += np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0).tolist()
        names += [f"{part}:{name}" for name in frame.columns]
    seconds = sum(record.seconds.get(stage, 0.0) for stage in TRAINING)
    held = sealed(np.array(means, "<f8").tobytes(), json.dumps(names), seconds, record.status)
    return {"names": tuple(names), "means": held, "seconds": seconds, "status": record.status}


def metric_set(connection: Connection, names: tuple[str, ...]) -> int:
    """Return the id of a list of names."""
    text = json.dumps(names)
    asked = select(metric_sets.c.id).where(metric_sets.c.names == text)
    found = connection.execute(asked).scalar()
    if found is None:
        connection.execute(
            insert_with_conflict(connection, metric_sets).values(names=text).on_conflict_do_nothing()
        )
        found = connection.execute(asked).scalar_one()
    return int(found)


TAG_LENGTH, MOST_TAGS, NOTE_LENGTH = 80, 50, 2000
"""Characters of a tag, tags of one run, characters of a note."""


class Marks:
    """Marks of visitors on runs: stars, tags, notes, sharing; each visitor has their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def star(self, owner: str, digests: Iterable[str], star: bool = True) -> None:
        """Star runs, or remove the star."""
        self._set(owner, digests, star=star)

    def note(self, owner: str, digests: Iterable[str], note: str) -> None:
        """Set a note. Raises `SettingError` beyond `NOTE_LENGTH`."""
        self._set(owner, digests, note=note)

    def share(self, owner: str, digests: Iterable[str], shared: bool = True) -> None:
        """Share runs, or no longer; imported ones are never shared. Raises `StoreError` as `check_shared`."""
        self._set(owner, digests, shared=shared)

    def delete(self, owner: str, digests: Iterable[str]) -> None:
        """Hide runs until `restore`."""
        self._set(owner, digests, deleted=time.time())

    def restore(self, owner: str, digests: Iterable[str]) -> None:
        """Show deleted runs again. Raises `StoreError` if there is no room."""
        with self._database.writing() as connection:
            own = list(_own(connection, owner, list(digests)).values())
            mark_owned(connection, owner, own, time.time())

    def tag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Tag runs. Raises `SettingError` as `add_tags`."""
        with self._database.writing() as connection:
            ids = list(_own(connection, owner, list(digests)).values())
            make_room_and_share(connection, owner, tag_bytes(tag) * len(ids))
            add_tags(connection, owner, dict.fromkeys(ids, (tag,)))

    def untag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Remove a tag from runs."""
        with self._database.writing() as connection:
            for portion in in_batches(list(ids_by_digest(connection, list(digests)).values())):
                which = tags.c.run.in_(portion), tags.c.owner == owner, tags.c.tag == tag
                connection.execute(delete(tags).where(*which))

    def _set(self, owner: str, digests: Iterable[str], **values: Any) -> None:
        with self._database.writing() as connection:
            ids = list(ids_by_digest(connection, list(digests)).values())
            if values.get("note"):
                make_room_and_share(connection, owner, len(values["note"].encode()) * len(ids))
            set_marks(connection, owner, ids, **values)
            if values.get("shared"):
                check_shared(connection, owner)


def mark_owned(
    connection: Connection, owner: str, ids: Sequence[int], now: float, address: str = "", needed: int = 0
) -> None:
    """Make runs this visitor's too, and restore those that they had deleted; `StoreError` without room.

    `needed` are further bytes of the request.
    """
    charge(connection, owner, ids, address, needed)
    table = insert_with_conflict(connection, marks)
    shown = table.on_conflict_do_update(index_elements=["owner", "run"], set_={"deleted": None})
    rows = [
        {"owner": owner, "run": run, "since": now, "star": False, "note": "", "shared": False} for run in ids
    ]
    for portion in in_batches(rows):
        connection.execute(shown, list(portion))


def set_marks(connection: Connection, owner: str, ids: Sequence[int], **values: Any) -> None:
    """Set star, note, shared or deleted of a visitor's runs. Raises `SettingError` for a too long note."""
    check_note(values.get("note", ""))
    for portion in in_batches(ids):
        which = [marks.c.run.in_(portion), marks.c.owner == owner]
        if values.get("shared"):
            which.append(~exists().where(runs.c.id == marks.c.run, runs.c.state == IMPORTED))
        connection.execute(update(marks).where(*which).values(**values))


def set_notes(connection: Connection, owner: str, notes: Mapping[int, str]) -> None:
    """Set the notes of a visitor's runs, by their ids. Raises `SettingError` for a too long one."""
    which = marks.c.run == bindparam("of_run"), marks.c.owner == owner
    changed = update(marks).where(*which).values(note=bindparam("said"))
    for note in notes.values():
        check_note(note)
    for portion in in_batches([{"of_run": run, "said": note} for run, note in notes.items()]):
        connection.execute(changed, list(portion))


def check_note(note: str) -> None:
    """Raise `SettingError` for a note that is too long."""
    if len(note) > NOTE_LENGTH:
        raise SettingError(f"a note has at most {NOTE_LENGTH:,} characters, not {len(note):,}")


def checked_tags(given: Iterable[str]) -> list[str]:
    """Return the tags of one run, without duplicates.

    Raises `SettingError` for an empty tag, one longer than `TAG_LENGTH`, and more than `MOST_TAGS`.
    """
    found = list(dict.fromkeys(tag.strip() for tag in given))
    wrong = next((tag for tag in found if not 0 < len(tag) <= TAG_LENGTH), None)
    if wrong is not None:
        raise SettingError(f"a tag has from 1 to {TAG_LENGTH} characters, not {len(wrong):,}")
    if len(found) > MOST_TAGS:
        raise SettingError(f"a run has at most {MOST_TAGS} tags, not {len(found):,}")
    return found


def add_tags(
    connection: Connection, owner: str, given: Mapping[int, Iterable[str]], *, truncate: bool = False
) -> None:
    """Add tags to a visitor's runs, by their ids.

    Raises `SettingError` as `checked_tags`, also if a run would have more than `MOST_TAGS`; with `truncate`
    the tags beyond are left out.
    """
    wanted = {run: checked for run, some in given.items() if (checked := checked_tags(some))}
    held: dict[int, set[str]] = {run: set() for run in wanted}
    there = select(tags.c.run, tags.c.tag).where(tags.c.owner == owner)
    for run, tag in rows_among(connection, there, tags.c.run, wanted):
        held[run].add(tag)
    rows = list[dict[str, Any]]()
    for run, known_ in held.items():
        new, room = [tag for tag in wanted[run] if tag not in known_], MOST_TAGS - len(known_)
        if len(new) > room and not truncate:
            raise SettingError(f"a run has at most {MOST_TAGS} tags, not {len(known_) + len(new):,}")
        rows += [{"owner": owner, "run": run, "tag": tag} for tag in new[: max(0, room)]]
    for some in in_batches(rows):
        connection.execute(insert_with_conflict(connection, tags).on_conflict_do_nothing(), list(some))


def _own(connection: Connection, owner: str, digests: Sequence[str]) -> dict[str, int]:
    """Return the ids of those runs that a visitor has, by digest."""
    found, own = ids_by_digest(connection, digests), select(marks.c.run).where(marks.c.owner == owner)
    held = {row.run for row in rows_among(connection, own, marks.c.run, found.values())}
    return {digest: run for digest, run in found.items() if run in held}
