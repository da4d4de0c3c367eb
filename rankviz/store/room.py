"""Space of a run store: the bytes of records are limited, and deleted runs are removed after a while.

A visitor's runs of the last day are never removed for another visitor: new requests are refused instead.

See docs/decisions/0020-bounds-and-uploads.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, func, literal, or_, select, true

from rankviz.common.bounds import bounds
from rankviz.common.memory import megabytes
from rankviz.store.study import IMPORTED, OPEN, StoreError
from rankviz.store.tables import (
    MOST_BYTES,
    families,
    in_batches,
    marks,
    members,
    records,
    runs,
    studies,
    tags,
)

DAY = 86400.0
UNDO_SECONDS = 30 * DAY
"""Deleted runs can be restored for this long."""
FOR_ALL = "rankviz"
"""Owner of the runs kept for all visitors, which are never removed."""
_TEXTS = [(marks.c.note,), (tags.c.tag,), (studies.c.design, studies.c.note, studies.c.title)]
ROW_BYTES = 1000
"""Bytes of a run without its record: its spec, its places in studies and the indexes."""
SPARE = 0.05
"""Share freed beyond the need, because the search for removable runs takes a while."""


IMPORTS = 0.5
"""Share of the room that imported runs may take: files cost nothing to make, and a star keeps their runs."""


def make_room(connection: Connection, owner: str, needed: int = 0, *, imported: bool = False) -> None:
    """Remove runs until a request of `owner` has room; `needed` are its bytes, if known.

    Deleted runs go first, then runs older than a day without star, tag, note, sharing or sweep, the oldest
    first; then the owner's own such runs. Raises `StoreError` if that is not enough. Imported runs also keep
    to their share, and make room among each other.
    """
    most = bounds().run_bytes
    if imported:
        held = select(func.sum(runs.c.size + ROW_BYTES)).where(
            runs.c.state == IMPORTED, runs.c.size.between(0, MOST_BYTES)
        )
        size = int(connection.execute(held).scalar() or 0) + needed
        if not _has_room(connection, owner, size, IMPORTS * most, runs.c.state == IMPORTED):
            raise StoreError(
                f"At most {megabytes(IMPORTS * most)} of imported runs are kept here. Delete some of yours "
                "on the Runs page, or ask who runs the app for more room (run_bytes)."
            )
    if _has_room(connection, owner, total_bytes(connection) + needed, most, true()):
        return
    raise StoreError(
        f"At most {megabytes(most)} of runs are kept here, and those there are of other visitors and younger "
        "than a day, or were starred, tagged, noted, shared or made in a sweep. Delete some on the Runs "
        "page, or ask who runs the app for more room (run_bytes)."
    )


def _has_room(connection: Connection, owner: str, size: int, most: float, of: ColumnElement[bool]) -> bool:
    """Remove runs of a kind until `size` is less than `most`; return False if that is not enough."""
    for which in (_deleted(), _unmarked(time.time() - DAY), _unmarked(time.time(), owner)):
        if size < most:
            break
        size -= _remove_until(connection, which.where(of), size - (1 - SPARE) * most)
    return size < most


def total_bytes(connection: Connection) -> int:
    """Return the bytes of all runs, records, designs, titles, notes and tags; damaged sizes do not count."""
    rows = select(ROW_BYTES * func.count()).select_from(runs)
    sizes = select(func.sum(runs.c.size)).where(runs.c.size.between(0, MOST_BYTES))
    texts = [
        select(func.sum(sum((func.length(column) for column in columns), start=literal(0))))
        for columns in _TEXTS
    ]
    return sum(int(connection.execute(asked).scalar() or 0) for asked in (rows, sizes, *texts))


def purge(connection: Connection) -> int:
    """Remove what was deleted more than `UNDO_SECONDS` ago; return the number of runs."""
    before = time.time() - UNDO_SECONDS
    gone = connection.execute(select(studies.c.id).where(studies.c.deleted < before)).scalars().all()
    forget_studies(connection, gone)
    found = connection.execute(_deleted(before).with_only_columns(runs.c.id)).scalars().all()
    remove_runs(connection, found)
    return len(found)


def remove_runs(connection: Connection, found: Sequence[int]) -> None:
    """Remove runs with their records and marks, and the studies that they were part of."""
    for portion in in_batches(found):
        of_them = select(members.c.study).where(members.c.run.in_(portion)).distinct()
        forget_studies(connection, connection.execute(of_them).scalars().all())
        for table in (records, marks, tags):
            connection.execute(delete(table).where(table.c.run.in_(portion)))
        connection.execute(delete(runs).where(runs.c.id.in_(portion)))


def forget_studies(connection: Connection, found: Sequence[str]) -> None:
    """Remove studies; their runs stay."""
    for portion in in_batches(found):
        connection.execute(delete(members).where(members.c.study.in_(portion)))
        connection.execute(delete(families).where(families.c.study.in_(portion)))
        connection.execute(delete(studies).where(studies.c.id.in_(portion)))


def _remove_until(connection: Connection, which: Select[Any], enough: float) -> int:
    """Remove runs in their order until `enough` bytes are free; return the freed bytes."""
    freed, gone = 0, list[int]()
    for number, size in connection.execute(which):
        if freed >= enough:
            break
        freed += size + ROW_BYTES
        gone.append(number)
    remove_runs(connection, gone)
    return freed


def _candidates(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Select ended runs outside kept studies, the oldest first."""
    kept = exists().where(
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.deleted.is_(None),
        or_(studies.c.background, _open_in_study()),
    )
    ended = runs.c.state.not_in(OPEN)
    return select(runs.c.id, runs.c.size).where(ended, ~kept, *conditions).order_by(runs.c.ended, runs.c.id)


def _open_in_study() -> ColumnElement[bool]:
    """Return the condition that a study has runs still to be made."""
    others, theirs = members.alias(), runs.alias()
    return exists().where(
        others.c.study == studies.c.id, others.c.run == theirs.c.id, theirs.c.state.in_(OPEN)
    )


def _deleted(before: float | None = None) -> Select[Any]:
    """Select runs that every visitor has deleted, before that time if given."""
    still = exists().where(
        marks.c.run == runs.c.id,
        marks.c.deleted.is_(None) if before is None else func.coalesce(marks.c.deleted, before + 1) > before,
    )
    return _candidates(~still)


def _unmarked(before: float, owner: str | None = None) -> Select[Any]:
    """Select unmarked runs that ended before that time; only an owner's if given."""
    said = exists().where(
        marks.c.run == runs.c.id,
        or_(marks.c.star, marks.c.shared, marks.c.note != "", marks.c.owner == FOR_ALL),
    )
    tagged = exists().where(tags.c.run == runs.c.id)
    conditions = [runs.c.ended < before, ~said, ~tagged]
    if owner is not None:
        others = exists().where(marks.c.run == runs.c.id, marks.c.owner != owner, marks.c.deleted.is_(None))
        conditions.append(~others)
    return _candidates(*conditions)
