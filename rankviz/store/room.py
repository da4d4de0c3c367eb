"""Room in a run store: records are bounded in bytes, and what was deleted goes for good after a while.

Nobody's runs of the last day make room for another's: then nothing new is asked for instead.

See docs/decisions/0020-bounds-and-uploads.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, func, or_, select

from rankviz.common.bounds import bounds
from rankviz.common.numbers import megabytes
from rankviz.store.study import OPEN, StoreError
from rankviz.store.tables import families, in_portions, marks, members, records, runs, studies, tags

DAY = 86400.0
UNDO_SECONDS = 30 * DAY
"""What was deleted can be restored for so long."""
FOR_ALL = "rankviz"
"""The owner of what is kept for all visitors, which makes room for nothing."""
SPARE = 0.05
"""Where room is made, a little more than is needed: looking for what may go takes a while."""


def make_room(connection: Connection, owner: str, needed: int = 0) -> None:
    """Remove runs until there is room for what `owner` asks for; `StoreError` where there is none.

    `needed` are the bytes that it takes, where they are known.

    First go runs that were deleted, then those older than a day that nobody has starred, tagged, noted,
    shared or made in a sweep, the oldest first; then the owner's own such runs.
    """
    most = bounds().run_bytes
    size = total_bytes(connection) + needed
    if size < most:
        return
    for which in (_deleted(), _unmarked(time.time() - DAY), _unmarked(time.time(), owner)):
        size -= _remove_until(connection, which, size - (1 - SPARE) * most)
        if size < most:
            return
    raise StoreError(
        f"At most {megabytes(most)} of runs are kept here, and those there are of other visitors and younger "
        "than a day, or were starred, tagged, noted, shared or made in a sweep. Delete some on the Runs "
        "page, or ask who runs the app for more room (run_bytes)."
    )


def total_bytes(connection: Connection) -> int:
    """Bytes of all records."""
    return int(connection.execute(select(func.coalesce(func.sum(runs.c.size), 0))).scalar_one())


def purge(connection: Connection) -> int:
    """Remove for good what was deleted more than `UNDO_SECONDS` ago; how many runs."""
    before = time.time() - UNDO_SECONDS
    gone = connection.execute(select(studies.c.id).where(studies.c.deleted < before)).scalars().all()
    forget_studies(connection, gone)
    found = connection.execute(_deleted(before).with_only_columns(runs.c.id)).scalars().all()
    remove_runs(connection, found)
    return len(found)


def remove_runs(connection: Connection, found: Sequence[int]) -> None:
    """Remove runs with all that is known of them, and the jobs and deleted studies that they were part of."""
    for portion in in_portions(found):
        of_them = select(members.c.study).where(members.c.run.in_(portion)).distinct()
        forget_studies(connection, connection.execute(of_them).scalars().all())
        for table in (records, marks, tags):
            connection.execute(delete(table).where(table.c.run.in_(portion)))
        connection.execute(delete(runs).where(runs.c.id.in_(portion)))


def forget_studies(connection: Connection, found: Sequence[str]) -> None:
    """Remove what is known of studies; their runs stay."""
    for portion in in_portions(found):
        connection.execute(delete(members).where(members.c.study.in_(portion)))
        connection.execute(delete(families).where(families.c.study.in_(portion)))
        connection.execute(delete(studies).where(studies.c.id.in_(portion)))


def _remove_until(connection: Connection, which: Select[Any], enough: float) -> int:
    """Remove runs, in their order, until so many bytes are free; how many are."""
    freed, gone = 0, list[int]()
    for number, size in connection.execute(which):
        if freed >= enough:
            break
        freed += size
        gone.append(number)
    remove_runs(connection, gone)
    return freed


def _candidates(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Runs that are not being made and in no study that is kept, the oldest first."""
    kept = exists().where(
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.deleted.is_(None),
        or_(studies.c.background, _open_in_study()),
    )
    ended = runs.c.state.not_in(OPEN)
    return select(runs.c.id, runs.c.size).where(ended, ~kept, *conditions).order_by(runs.c.ended, runs.c.id)


def _open_in_study() -> ColumnElement[bool]:
    """Whether runs of a study are still to be made."""
    others, theirs = members.alias(), runs.alias()
    return exists().where(
        others.c.study == studies.c.id, others.c.run == theirs.c.id, theirs.c.state.in_(OPEN)
    )


def _deleted(before: float | None = None) -> Select[Any]:
    """Runs that nobody has any more, since that time."""
    still = exists().where(
        marks.c.run == runs.c.id,
        marks.c.deleted.is_(None) if before is None else func.coalesce(marks.c.deleted, before + 1) > before,
    )
    return _candidates(~still)


def _unmarked(before: float, owner: str | None = None) -> Select[Any]:
    """Runs that ended before that time and that nobody has said anything of; an owner's only."""
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
