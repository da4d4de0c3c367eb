"""Space of a run store: the bytes of records are limited, and deleted runs are removed after a while.

A visitor's runs of the last day are never removed for another visitor: new requests are refused instead.
Visitors and network addresses have shares. A run counts for each visitor who has it, or a sweep with it.

See docs/decisions/0020-bounds-and-uploads.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    LargeBinary,
    Select,
    Table,
    and_,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    union,
    update,
)

from rankviz.common.bounds import FOR_FEW, RESERVED, bounds, room_for
from rankviz.common.memory import megabytes
from rankviz.store.study import IMPORTED, OPEN, StoreError
from rankviz.store.tables import (
    MOST_BYTES,
    add_owners,
    families,
    in_batches,
    insert_with_conflict,
    marks,
    members,
    owners,
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
ROW_BYTES, PLACE_BYTES = 1000, 300
"""Bytes of a run without its record, and of its place in a study, each with its indexes."""
MARK_BYTES, TAG_BYTES, OWNER_BYTES = 150, 120, 200
"""Bytes of a mark and a tag without their texts, and of an owner: at least those by which a file grows."""
_OWNED: list[tuple[Table, int, list[Column[str]]]] = [
    (marks, MARK_BYTES, [marks.c.note]),
    (tags, TAG_BYTES, [tags.c.tag, tags.c.tag]),  # also in its index
    (studies, 0, [studies.c.design, studies.c.note, studies.c.title]),
    (owners, OWNER_BYTES, []),
]
"""Tables of owners, with the bytes of a row and its texts."""
_BYTES = ROW_BYTES + case((runs.c.size.between(0, MOST_BYTES - ROW_BYTES), runs.c.size), else_=0)
"""Bytes of a run; a damaged size does not count."""
SPARE = 0.05
"""Share freed beyond the need, because the search for removable runs takes a while."""


IMPORTS = 0.5
"""Share of the room that imported runs may take: files cost nothing to make, and a star keeps their runs."""


def make_room(
    connection: Connection, owner: str, needed: int = 0, address: str = "", *, imported: bool = False
) -> None:
    """Remove runs until a request of `owner` has room; `needed` are its bytes, if known.

    The network address is noted if known. Deleted studies and runs go first, then runs older than a day
    without star, tag, note, sharing or sweep, the oldest first; then the owner's own such runs. Raises
    `StoreError` if that is not enough. Imported runs also keep to their share, and make room among each
    other. Shares of owners are separate: `charge` looks at them for runs, `make_room_and_share` for texts.
    """
    most, last = bounds().run_bytes, ""
    note_address(connection, owner, address)
    if imported:
        held = select(func.sum(_BYTES)).where(runs.c.state == IMPORTED)
        size = int(connection.execute(held).scalar() or 0) + needed
        of_them = _removable(owner, runs.c.state == IMPORTED)
        if not _has_room(connection, size, IMPORTS * most, of_them, remove_runs):
            raise StoreError(
                f"At most {megabytes(IMPORTS * most)} of imported runs are kept here. Delete some of yours "
                "on the Runs page, or ask who runs the app for more room (run_bytes)."
            )
    size = total_bytes(connection) + needed
    if size >= (1 - RESERVED) * most:
        theirs = [total_bytes(connection, one.group) for one in _shares(connection, owner)]
        if theirs and needed > room_for(most - size + needed, most, theirs):
            most, last = int((1 - RESERVED) * most), FOR_FEW
    if size >= most and forget_deleted(connection):
        size = total_bytes(connection) + needed
    if not _has_room(connection, size, most, _removable(owner), remove_runs):
        raise StoreError(
            f"At most {megabytes(bounds().run_bytes)} of runs are kept here{last}, and those there are of "
            "other visitors and younger than a day, or were starred, tagged, noted, shared or made in a "
            "sweep. Delete some on the Runs page, or ask who runs the app for more room (run_bytes)."
        )


def make_room_and_share(connection: Connection, owner: str, needed: int = 0) -> None:
    """Make room as `make_room`, also in the shares of the owner."""
    make_room(connection, owner, needed)
    make_share(connection, owner, needed)


def make_share(
    connection: Connection, owner: str, needed: int = 0, found: Sequence[int] | None = None
) -> None:
    """Take runs from an owner until the shares of the owner and their address have room, also for `found`.

    They become deleted runs of the owner, or of all owners of the address; others who have them keep them.
    Those of the address older than a day without star, tag, note, sharing or sweep go first, the oldest
    first; then the owner's own such runs. Raises `StoreError` if that is not enough.
    """
    now, shares = time.time(), _shares(connection, owner)
    whole = total_bytes(connection) + needed if shares else 0
    for share in shares:
        if whole < share.most:  # whatever the group holds; its own sum takes longer
            continue
        new = 0 if found is None else _bytes_not_held(connection, found, share.group)
        if found is not None and not new + needed:
            continue
        size = total_bytes(connection, share.group) + needed + new
        if size >= share.most and forget_deleted(connection, share.group):
            size = total_bytes(connection, share.group) + needed + new
        of_them = _unsaid(share.group, now - DAY), _unsaid(share.group, now, owner)
        if not _has_room(connection, size, share.most, of_them, partial(_let_go, group=share.group)):
            raise StoreError(
                f"{share.whose} at most {megabytes(share.most)} of runs are kept here. Delete some of yours "
                f"on the Runs page, or sweeps, or ask who runs the app for more room ({share.bound})."
            )


MOST_SHARED, STUDY_AS_RUNS = {"run_bytes_each": 4_000, "run_bytes_address": 12_000}, 20
"""Most runs that a visitor, and all from one address, share, alone or in studies: everyone's pages list them.
Listing a study takes as long as listing so many runs."""


def check_shared(connection: Connection, owner: str) -> None:
    """Raise `StoreError` if an owner, or all from their address, now share more than `MOST_SHARED`."""
    for share in _shares(connection, owner):
        alone = select(func.count()).where(marks.c.shared, marks.c.owner.in_(share.group))
        own = select(STUDY_AS_RUNS * func.count(studies.c.id.distinct()) + func.count())
        own = own.join_from(studies, members).where(studies.c.shared, studies.c.owner.in_(share.group))
        number = sum(int(connection.execute(asked).scalar_one()) for asked in (alone, own))
        if number > MOST_SHARED[share.bound]:
            raise StoreError(
                f"{share.whose} at most {MOST_SHARED[share.bound]:,} runs may be shared, alone or in sweeps. "
                "Stop sharing others first."
            )


def charge(
    connection: Connection, owner: str, found: Sequence[int], address: str = "", needed: int = 0
) -> None:
    """Make room in the shares of an owner for runs that they get, and note their network address if known.

    Raises `StoreError` as `make_share`.
    """
    note_address(connection, owner, address)
    make_share(connection, owner, needed + new_mark_bytes(connection, owner, found), found)


def new_mark_bytes(connection: Connection, owner: str, found: Sequence[int]) -> int:
    """Return the bytes of the marks that an owner lacks for these runs."""
    asked = select(func.count()).where(marks.c.owner == owner)
    held = (connection.execute(asked.where(marks.c.run.in_(one))).scalar_one() for one in in_batches(found))
    return MARK_BYTES * (len(found) - sum(held))


def tag_bytes(tag: str) -> int:
    """Return the bytes of a tag of a run."""
    return TAG_BYTES + 2 * len(tag.encode())


def note_address(connection: Connection, owner: str, address: str) -> None:
    """Note the network address of an owner, if known."""
    add_owners(connection)
    if address:
        new = insert_with_conflict(connection, owners).values(owner=owner, address=address)
        changed = new.on_conflict_do_update(index_elements=["owner"], set_={"address": address})
        connection.execute(changed)


class _Share(NamedTuple):
    """Most bytes that a group of owners may hold, with its words and the name of its bound."""

    group: Select[Any]
    most: int
    whose: str
    bound: str


def _shares(connection: Connection, owner: str) -> list[_Share]:
    """Return the shares of an owner that are less than the whole room."""
    add_owners(connection)
    most, address = bounds(), select(owners.c.address).where(owners.c.owner == owner)
    near = connection.execute(address).scalar()
    found = [_Share(select(literal(owner)), most.run_bytes_each, "Of one visitor", "run_bytes_each")]
    if near:
        group = select(owners.c.owner).where(owners.c.address == near)
        found.append(_Share(group, most.run_bytes_address, "From one network address", "run_bytes_address"))
    return [share for share in found if share.most < most.run_bytes]


def _has_room(
    connection: Connection,
    size: int,
    most: float,
    candidates: Iterable[Select[Any]],
    remove: Callable[[Connection, Sequence[int]], None],
) -> bool:
    """Remove candidates until `size` is less than `most`; return False if that is not enough."""
    for which in candidates:
        if size < most:
            break
        size -= _remove_until(connection, which, size - (1 - SPARE) * most, remove)
    return size < most


def total_bytes(connection: Connection, group: Select[Any] | None = None) -> int:
    """Return the bytes of runs, records, places, studies' texts, marks, tags and owners: of all or some."""
    sizes = select(func.sum(_BYTES)).where(true() if group is None else runs.c.id.in_(_held(group)))
    places = select(PLACE_BYTES * func.count()).select_from(members)
    if group is not None:
        places = places.join(studies, studies.c.id == members.c.study).where(studies.c.owner.in_(group))
    owned = [
        select(func.sum(sum((_length(connection, one) for one in texts), start=literal(row)))).where(
            table.c.owner.is_not(None) if group is None else table.c.owner.in_(group)
        )
        for table, row, texts in _OWNED
    ]
    return sum(int(connection.execute(asked).scalar() or 0) for asked in (sizes, places, *owned))


def _length(connection: Connection, text: ColumnElement[str]) -> ColumnElement[int]:
    """Return the bytes of a text; SQLite's length of a text counts letters, up to the first NUL."""
    if connection.dialect.name == "sqlite":
        return func.length(cast(text, LargeBinary))
    return func.octet_length(text)


def _bytes_not_held(connection: Connection, found: Sequence[int], group: Select[Any]) -> int:
    own = exists().where(marks.c.run == runs.c.id, marks.c.owner.in_(group), marks.c.deleted.is_(None))
    asked = select(func.sum(_BYTES)).where(~own, ~_swept(group).where(members.c.run == runs.c.id).exists())
    portions = [asked.where(runs.c.id.in_(portion)) for portion in in_batches(found)]
    return sum(int(connection.execute(one).scalar() or 0) for one in portions)


def _held(group: Select[Any]) -> CompoundSelect[Any]:
    """Select the runs that owners have, or that their sweeps keep."""
    own = select(marks.c.run).where(marks.c.owner.in_(group), marks.c.deleted.is_(None))
    return union(own, _swept(group))


def _swept(group: Select[Any]) -> Select[Any]:
    """Select the runs that sweeps of owners keep."""
    kept = studies.c.owner.in_(group), studies.c.background, studies.c.deleted.is_(None)
    return select(members.c.run).join(studies, studies.c.id == members.c.study).where(*kept)


def _unsaid(group: Select[Any], before: float, owner: str | None = None) -> Select[Any]:
    """Select ended runs of owners that none of them has marked; only those of one of them if given."""

    def have(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
        own = marks.c.run == runs.c.id, marks.c.owner.in_(group), marks.c.deleted.is_(None)
        return exists().where(*own, *conditions)

    said = have(or_(marks.c.star, marks.c.shared, marks.c.note != ""))
    tagged = exists().where(tags.c.run == runs.c.id, tags.c.owner.in_(group))
    ended = func.coalesce(runs.c.ended, runs.c.created)
    conditions = [have(), ~said, ~tagged, runs.c.id.not_in(_swept(group)), runs.c.state.not_in(OPEN)]
    if owner is not None:
        conditions.append(~have(marks.c.owner != owner))
    return select(runs.c.id, runs.c.size).where(ended < before, *conditions).order_by(ended, runs.c.id)


def _let_go(connection: Connection, found: Sequence[int], *, group: Select[Any]) -> None:
    """Make runs deleted ones of these owners; they can be restored like other deleted runs."""
    for portion in in_batches(found):
        which = and_(marks.c.run.in_(portion), marks.c.owner.in_(group), marks.c.deleted.is_(None))
        connection.execute(update(marks).where(which).values(deleted=time.time()))


def purge(connection: Connection) -> int:
    """Remove what was deleted more than `UNDO_SECONDS` ago; return the number of runs."""
    before = time.time() - UNDO_SECONDS
    add_owners(connection)
    still = [exists().where(table.c.owner == owners.c.owner) for table in (marks, studies)]
    connection.execute(delete(owners).where(~or_(*still)))
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


def forget_deleted(connection: Connection, group: Select[Any] | None = None) -> bool:
    """Remove deleted studies that no worker holds, of all or of a group of owners; return True for any."""
    held = exists().where(families.c.study == studies.c.id, families.c.worker.is_not(None))
    which = studies.c.deleted.is_not(None), ~held, true() if group is None else studies.c.owner.in_(group)
    gone = connection.execute(select(studies.c.id).where(*which)).scalars().all()
    forget_studies(connection, gone)
    return bool(gone)


def forget_studies(connection: Connection, found: Sequence[str]) -> None:
    """Remove studies; their runs stay."""
    for portion in in_batches(found):
        connection.execute(delete(members).where(members.c.study.in_(portion)))
        connection.execute(delete(families).where(families.c.study.in_(portion)))
        connection.execute(delete(studies).where(studies.c.id.in_(portion)))


def _removable(owner: str, of: ColumnElement[bool] | None = None) -> list[Select[Any]]:
    """Return the runs of a kind that may go for an owner's: what goes first comes first."""
    kind = true() if of is None else of
    now = time.time()
    return [which.where(kind) for which in (_deleted(), _unmarked(now - DAY), _unmarked(now, owner))]


def _remove_until(
    connection: Connection,
    which: Select[Any],
    enough: float,
    remove: Callable[[Connection, Sequence[int]], None],
) -> int:
    """Remove runs in their order until `enough` bytes are free; return the freed bytes."""
    freed, gone = 0, list[int]()
    for number, size in connection.execute(which):
        if freed >= enough:
            break
        freed += size + ROW_BYTES
        gone.append(number)
    remove(connection, gone)
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
