"""Studies in the store: submit runs, read their status, change a study."""

from __future__ import annotations

import json
import secrets
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, func, insert, select, update

from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.runs.families import families as families_of
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.queue import cancel_unwanted, close_families, requeue_ended
from rankviz.store.records import check_note, mark_owned
from rankviz.store.room import (
    MARK_BYTES,
    PLACE_BYTES,
    ROW_BYTES,
    check_shared,
    make_room,
    make_room_and_share,
    make_share,
)
from rankviz.store.study import (
    HERE,
    IMPORTED,
    LEASED,
    OF_PAGES,
    OPEN,
    PAUSED,
    PLACES,
    QUEUED,
    RUNNING,
    STOPPED,
    NoSuchStudy,
    NotYours,
    Study,
    StudyStatus,
)
from rankviz.store.tables import (
    ensure_runs,
    families,
    in_batches,
    members,
    one_at_a_time,
    parse_object,
    parse_spec,
    parse_texts,
    runs,
    studies,
)

MOST_RUNS = 20_000
"""Most runs of a study."""
TITLE_LENGTH = 120
"""Most characters of a title that a visitor gives a study."""


class Studies:
    """The studies of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Request runs and return the study's id; finished runs are not repeated.

        Raises `SettingError` for a spec without the digest of its data, for no runs and for more than
        `MOST_RUNS`; `StoreError` if there is no room.
        """
        wanted = check_specs(specs)
        needed = (ROW_BYTES + PLACE_BYTES + MARK_BYTES) * len(wanted) + len(study.title)
        with self._database.writing() as connection:
            one_at_a_time(connection)  # PostgreSQL ends one of two that insert the same runs in another order
            make_room(connection, study.owner, needed, study.address)
            return insert_study(connection, study, wanted)

    def status(self, study_id: str) -> StudyStatus:
        """Return a study's status. Raises `NoSuchStudy` for an unknown id."""
        with self._database.reading() as connection:
            return _status(connection, _found(connection, study_id))

    def seen(self, study_id: str, owner: str) -> StudyStatus:
        """Return the status of a study that a visitor may see: own or shared, and not deleted.

        Raises `NoSuchStudy` for any other id.
        """
        with self._database.reading() as connection:
            row = _found(connection, study_id)
            if row.deleted is not None or not (row.shared or row.owner == owner):
                raise NoSuchStudy(
                    "There is no study with this id. It was deleted, or its owner does not share it."
                )
            return _status(connection, row)

    def of(self, owner: str) -> list[StudyStatus]:
        """Return the studies that a visitor may see, own and shared, the latest first."""
        return self._where(_seen_by(owner))

    def titles(self, owner: str) -> dict[str, str]:
        """Return the titles of the studies that a visitor may see, by id, the latest first."""
        asked = select(studies.c.id, studies.c.title).where(_seen_by(owner))
        with self._database.reading() as connection:
            rows = connection.execute(asked.order_by(studies.c.created.desc())).all()
        return {row.id: row.title for row in rows}

    def every(self) -> list[StudyStatus]:
        """Return all visitors' studies, the latest first: for users who may read the database itself."""
        return self._where(_listed())

    def running(self) -> list[StudyStatus]:
        """Return all visitors' running studies with runs still to be made."""
        asked = (studies.c.asked == RUNNING) & studies.c.deleted.is_(None)
        return [status for status in self._where(asked) if status.left]

    def unfinished(self) -> list[tuple[str, str, int]]:
        """Return owner, address and number of unfinished runs of each running sweep."""
        asked = (
            select(studies.c.owner, studies.c.address, func.count())
            .join(members, members.c.study == studies.c.id)
            .join(runs, runs.c.id == members.c.run)
            .where(studies.c.asked == RUNNING, studies.c.background, studies.c.deleted.is_(None))
            .where(runs.c.state.in_(OPEN))
            .group_by(studies.c.id)
        )
        with self._database.reading() as connection:
            return [(owner, address, number) for owner, address, number in connection.execute(asked)]

    def _where(self, which: ColumnElement[bool]) -> list[StudyStatus]:
        with self._database.reading() as connection:
            rows = connection.execute(select(studies).where(which).order_by(studies.c.created.desc()))
            return [_status(connection, row) for row in rows.all()]

    def specs(self, study_id: str) -> list[RunSpec]:
        """Return a study's runs, in their order."""
        with self._database.reading() as connection:
            _found(connection, study_id)
            rows = connection.execute(
                select(runs.c.spec, runs.c.digest)
                .join(members, members.c.run == runs.c.id)
                .where(members.c.study == study_id)
                .order_by(members.c.position)
            )
            return [spec for text, digest in rows if (spec := parse_spec(text, digest)) is not None]

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study, and end current ones. Raises `NotYours` for anybody else."""
        self._ask(study_id, owner, STOPPED)

    def pause(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study until it is resumed. Raises `NotYours` for anybody else."""
        self._ask(study_id, owner, PAUSED)

    def resume(self, study_id: str, owner: str) -> None:
        """Continue a paused or stopped study, and retry failed runs. Raises `NotYours` as `stop_study`."""
        self._ask(study_id, owner, RUNNING)

    def _ask(self, study_id: str, owner: str, asked: str) -> None:
        own = select(members.c.run).where(members.c.study == study_id)
        with self._database.writing() as connection:
            _owned(connection, study_id, owner)
            change = update(studies).where(studies.c.id == study_id)
            connection.execute(change.values(asked=asked, changed=time.time(), reason=""))
            if asked == RUNNING:
                for again in in_batches(connection.execute(own).scalars().all()):
                    requeue_ended(connection, again)
            cancel_unwanted(connection, runs.c.id.in_(own))

    def delete(self, study_id: str, owner: str) -> None:
        """Stop and hide a study; its runs stay. Raises `NotYours` for anybody else."""
        self._ask(study_id, owner, STOPPED)
        self._change(study_id, owner, deleted=time.time())

    def restore(self, study_id: str, owner: str) -> None:
        """Show a deleted study again. Raises `StoreError` if there is no room."""
        self._change(study_id, owner, deleted=None)

    def move(self, study_id: str, owner: str, place: str) -> None:
        """Change who makes a study, from its next family on. Raises `SettingError` for an unknown place."""
        one_of("place", place, PLACES)
        self._change(study_id, owner, place=place)

    def redesign(self, study_id: str, owner: str, design: Mapping[str, Any]) -> None:
        """Replace a study's design; its runs stay as they are."""
        self._change(study_id, owner, design=json.dumps(dict(design)))

    def note(self, study_id: str, owner: str, note: str) -> None:
        """Set a study's note. Raises `SettingError` for a too long note, `StoreError` if there is no room."""
        check_note(note)
        self._change(study_id, owner, note=note)

    def rename(self, study_id: str, owner: str, title: str) -> None:
        """Set a study's title. Raises `SettingError` for an empty or too long one."""
        if not 0 < len(title) <= TITLE_LENGTH:
            raise SettingError(f"a study needs a title of at most {TITLE_LENGTH} characters")
        self._change(study_id, owner, title=title)

    def share(self, study_id: str, owner: str, shared: bool) -> None:
        """Share a study with other visitors, or no longer. Raises `StoreError` as `check_shared`."""
        self._change(study_id, owner, shared=shared)

    def pin(self, study_id: str, owner: str, digest: str) -> None:
        """Set the run to compare a study's runs with; "" for none."""
        with self._database.reading() as connection:
            made_here = runs.c.digest == digest, runs.c.state != IMPORTED
            run = connection.execute(select(runs.c.id).where(*made_here)).scalar()
        self._change(study_id, owner, baseline=run)

    def check_owner(self, study_id: str, owner: str) -> None:
        """Raise `NotYours` unless this visitor submitted the study."""
        with self._database.reading() as connection:
            _owned(connection, study_id, owner)

    def _change(self, study_id: str, owner: str, **values: Any) -> None:
        with self._database.writing() as connection:
            _owned(connection, study_id, owner)
            if values.keys() & {"note", "title", "design"}:
                make_room_and_share(connection, owner, max(len(str(value)) for value in values.values()))
            connection.execute(update(studies).where(studies.c.id == study_id).values(**values))
            if values.get("deleted", 0.0) is None:
                make_share(connection, owner)
            if values.get("shared"):
                check_shared(connection, owner)


def _listed() -> ColumnElement[bool]:
    return studies.c.deleted.is_(None) & studies.c.kind.not_in(OF_PAGES)


def _seen_by(owner: str) -> ColumnElement[bool]:
    return ((studies.c.owner == owner) | studies.c.shared) & _listed()


def check_specs(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Return the runs without duplicates. Raises `SettingError` as `Studies.submit`."""
    wanted = list(dict.fromkeys(specs))
    if not 0 < len(wanted) <= MOST_RUNS:
        raise SettingError(f"a study has from 1 to {MOST_RUNS:,} runs, not {len(wanted):,}")
    unsure = next((spec for spec in wanted if not spec.digest), None)
    if unsure is not None:
        raise SettingError(f"{unsure!r} has no digest of its data: open the fold and give its digest")
    return wanted


def insert_study(connection: Connection, study: Study, specs: Sequence[RunSpec]) -> str:
    """Insert a study with its runs in families; return its id."""
    study_id, now = secrets.token_hex(16), time.time()
    values = asdict(study) | {"design": json.dumps(dict(study.design)), "roots": json.dumps(study.roots)}
    ids = ensure_runs(connection, specs)
    places = PLACE_BYTES * len(ids)
    # before the study keeps the runs
    mark_owned(connection, study.owner, list(ids.values()), now, study.address, places)
    connection.execute(insert(studies).values(id=study_id, asked=RUNNING, note="", created=now, **values))
    for again in in_batches(list(ids.values())):
        requeue_ended(connection, again)
    position = {spec: number for number, spec in enumerate(specs)}
    for family in families_of(specs):
        waits = now + position[family[0]] * 1e-6  # in the order of the request
        row = {"study": study_id, "done": False, "waits": waits, "attempts": 0, "progress": ""}
        number = connection.execute(insert(families).values(row).returning(families.c.id)).scalar_one()
        rows = [
            {"study": study_id, "position": position[spec], "run": ids[spec], "family": number}
            for spec in family
        ]
        connection.execute(insert(members), rows)
    close_families(connection, families.c.study == study_id)  # finished runs are not repeated
    return study_id


def regroup(connection: Connection) -> None:
    """Give open runs whose family is gone another one, and queue those that it held."""
    held = exists().where(families.c.id == runs.c.family)
    connection.execute(update(runs).where(runs.c.state == LEASED, ~held).values(state=QUEUED, family=None))
    asked = select(members.c.study, members.c.position, runs.c.spec, runs.c.digest)
    asked = asked.join(runs, runs.c.id == members.c.run).join(studies, studies.c.id == members.c.study)
    asked = asked.where(members.c.family.is_(None), runs.c.state.in_(OPEN), studies.c.deleted.is_(None))
    lost = defaultdict[str, dict[RunSpec, int]](dict)
    for row in connection.execute(asked):
        if spec := parse_spec(row.spec, row.digest):
            lost[row.study][spec] = row.position
    for study, position in lost.items():
        for family in families_of(list(position)):
            new = {"study": study, "done": False, "waits": time.time(), "attempts": 0, "progress": ""}
            number = connection.execute(insert(families).values(new).returning(families.c.id)).scalar_one()
            here = members.c.position.in_([position[spec] for spec in family])
            connection.execute(update(members).where(members.c.study == study, here).values(family=number))


def _found(connection: Connection, study_id: str) -> Row[Any]:
    row = connection.execute(select(studies).where(studies.c.id == study_id)).first()
    if row is None:
        raise NoSuchStudy("There is no study with this id; it may have been deleted.")
    return row


def _owned(connection: Connection, study_id: str, owner: str) -> Row[Any]:
    row = _found(connection, study_id)
    if not secrets.compare_digest(row.owner.encode(), owner.encode()):
        raise NotYours("Only the visitor who requested these runs can stop, change or delete them.")
    return row


def _status(connection: Connection, row: Row[Any]) -> StudyStatus:
    found = connection.execute(
        select(runs.c.state, func.count().label("number"), func.max(runs.c.ended).label("ended"))
        .join(members, members.c.run == runs.c.id)
        .where(members.c.study == row.id)
        .group_by(runs.c.state)
    ).all()
    counts: Mapping[str, int] = {group.state: group.number for group in found}
    over = not any(counts.get(state) for state in OPEN)
    news = connection.execute(
        select(families.c.progress).where(families.c.study == row.id, families.c.worker.is_not(None))
    ).scalars()
    baseline = None
    if row.baseline is not None:
        baseline = connection.execute(select(runs.c.digest).where(runs.c.id == row.baseline)).scalar()
    values = {one.name: getattr(row, one.name) for one in fields(Study)}
    values |= {"design": parse_object(row.design), "roots": parse_texts(row.roots)}
    values["place"] = row.place if row.place in PLACES else HERE
    ends = [group.ended for group in found if group.ended is not None]
    return StudyStatus(
        id=row.id,
        study=Study(**values),
        asked=row.asked,
        counts=counts,
        created=row.created,
        ended=max(ends, default=None) if over else None,
        news=tuple(parse_object(text) for text in news if text),
        note=row.note,
        baseline=baseline or "",
        reason=row.reason,
    )
