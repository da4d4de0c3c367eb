"""Studies in the store: asking for runs, and how far they are."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.runs.families import families as families_of
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.errors import NoSuchStudy, NotYours
from rankviz.store.leases import cancel_unwanted, note_done, reopen
from rankviz.store.marks import mark
from rankviz.store.room import make_room
from rankviz.store.rows import ids_of, in_portions
from rankviz.store.study import IMPORTED, OF_PAGES, OPEN, PAUSED, PLACES, RUNNING, STOPPED, Study, StudyStatus
from rankviz.store.tables import families, members, runs, studies

MOST_RUNS = 20_000
"""Of one study."""


class Studies:
    """The studies of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Ask for runs, and return the study's id; those that were made are not made again.

        Raises `SettingError` for a spec without the digest of its data, by which alone it is known which
        run is meant, and where there are no runs or more than `MOST_RUNS`; `StoreError` where there is no
        room for more.
        """
        wanted = checked(specs)
        with self._database.writing() as connection:
            make_room(connection, study.owner)
            return add(connection, study, wanted)

    def status(self, study_id: str) -> StudyStatus:
        """How far a study is; `NoSuchStudy` where there is none of this id."""
        with self._database.reading() as connection:
            return _status(connection, _found(connection, study_id))

    def seen(self, study_id: str, owner: str) -> StudyStatus:
        """Return how far a study is that a visitor may see: own, or shared, and not deleted.

        Raises `NoSuchStudy` where there is none of this id.
        """
        with self._database.reading() as connection:
            row = _found(connection, study_id)
            if row.deleted is not None or not (row.shared or row.owner == owner):
                raise NoSuchStudy(
                    "There is no study of this id that you may see. It was deleted, or its owner does not "
                    "share it."
                )
            return _status(connection, row)

    def of(self, owner: str) -> list[StudyStatus]:
        """The studies that a visitor may see, own and shared, the latest first."""
        return self._where(_seen_by(owner))

    def titles(self, owner: str) -> dict[str, str]:
        """The titles of the studies that a visitor may see, by id, the latest first."""
        asked = select(studies.c.id, studies.c.title).where(_seen_by(owner))
        with self._database.reading() as connection:
            rows = connection.execute(asked.order_by(studies.c.created.desc())).all()
        return {row.id: row.title for row in rows}

    def every(self) -> list[StudyStatus]:
        """The studies of all visitors, the latest first: for who may read the database itself."""
        return self._where(_listed())

    def running(self) -> list[StudyStatus]:
        """The studies of all visitors of which runs are still to be made."""
        asked = (studies.c.asked == RUNNING) & studies.c.deleted.is_(None)
        return [status for status in self._where(asked) if status.left]

    def _where(self, which: ColumnElement[bool]) -> list[StudyStatus]:
        with self._database.reading() as connection:
            rows = connection.execute(select(studies).where(which).order_by(studies.c.created.desc()))
            return [_status(connection, row) for row in rows.all()]

    def specs(self, study_id: str) -> list[RunSpec]:
        """The runs of a study, in their order."""
        with self._database.reading() as connection:
            _found(connection, study_id)
            texts = connection.execute(
                select(runs.c.spec)
                .join(members, members.c.run == runs.c.id)
                .where(members.c.study == study_id)
                .order_by(members.c.position)
            ).scalars()
            return [RunSpec.from_json(text) for text in texts]

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study, and end those that are being made; `NotYours` for anybody else."""
        self._ask(study_id, owner, STOPPED)

    def pause(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study until it is resumed; `NotYours` for anybody else."""
        self._ask(study_id, owner, PAUSED)

    def resume(self, study_id: str, owner: str) -> None:
        """Go on with a study that was paused or stopped, also with runs that failed; `NotYours` as `stop`."""
        self._ask(study_id, owner, RUNNING)

    def _ask(self, study_id: str, owner: str, asked: str) -> None:
        own = runs.c.id.in_(select(members.c.run).where(members.c.study == study_id))
        with self._database.writing() as connection:
            _owned(connection, study_id, owner)
            change = update(studies).where(studies.c.id == study_id)
            connection.execute(change.values(asked=asked, changed=time.time(), reason=""))
            if asked == RUNNING:
                mine = select(members.c.run).where(members.c.study == study_id)
                for again in in_portions(connection.execute(mine).scalars().all()):
                    reopen(connection, again)
            cancel_unwanted(connection, own)

    def delete(self, study_id: str, owner: str) -> None:
        """Stop a study and show it no more; its runs stay. `NotYours` for anybody else."""
        self._ask(study_id, owner, STOPPED)
        self._change(study_id, owner, deleted=time.time())

    def restore(self, study_id: str, owner: str) -> None:
        """Show a study again that was deleted."""
        self._change(study_id, owner, deleted=None)

    def move(self, study_id: str, owner: str, place: str) -> None:
        """Have others work on a study from its next family on; `SettingError` for a place that is none."""
        one_of("place", place, PLACES)
        self._change(study_id, owner, place=place)

    def redesign(self, study_id: str, owner: str, design: Mapping[str, Any]) -> None:
        """Keep another text of what a study was made of; its runs stay as they are."""
        self._change(study_id, owner, design=json.dumps(dict(design)))

    def note(self, study_id: str, owner: str, note: str) -> None:
        """Write down what is to be remembered of a study."""
        self._change(study_id, owner, note=note)

    def rename(self, study_id: str, owner: str, title: str) -> None:
        """Call a study something else; `SettingError` for nothing at all."""
        if not title:
            raise SettingError("a study has a title; give it a few words")
        self._change(study_id, owner, title=title)

    def share(self, study_id: str, owner: str, shared: bool) -> None:
        """Have others see a study, or no longer."""
        self._change(study_id, owner, shared=shared)

    def pin(self, study_id: str, owner: str, digest: str) -> None:
        """Compare the runs of a study with this one; "" with none."""
        with self._database.reading() as connection:
            made_here = runs.c.digest == digest, runs.c.state != IMPORTED
            run = connection.execute(select(runs.c.id).where(*made_here)).scalar()
        self._change(study_id, owner, baseline=run)

    def check_owner(self, study_id: str, owner: str) -> None:
        """`NotYours` for anybody else than who made a study."""
        with self._database.reading() as connection:
            _owned(connection, study_id, owner)

    def _change(self, study_id: str, owner: str, **values: Any) -> None:
        with self._database.writing() as connection:
            _owned(connection, study_id, owner)
            connection.execute(update(studies).where(studies.c.id == study_id).values(**values))


def _listed() -> ColumnElement[bool]:
    return studies.c.deleted.is_(None) & studies.c.kind.not_in(OF_PAGES)


def _seen_by(owner: str) -> ColumnElement[bool]:
    return ((studies.c.owner == owner) | studies.c.shared) & _listed()


def checked(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Runs that may be asked for together, each once; `SettingError` as `Studies.submit`."""
    wanted = list(dict.fromkeys(specs))
    if not 0 < len(wanted) <= MOST_RUNS:
        raise SettingError(f"a study has from 1 to {MOST_RUNS:,} runs, not {len(wanted):,}")
    unsure = next((spec for spec in wanted if not spec.digest), None)
    if unsure is not None:
        raise SettingError(
            f"{unsure!r} does not say by a digest which data are meant: open the fold, and give it"
        )
    return wanted


def add(connection: Connection, study: Study, specs: Sequence[RunSpec]) -> str:
    """A new study with its runs, in families; its id."""
    study_id, now = secrets.token_hex(16), time.time()
    values = asdict(study) | {"design": json.dumps(dict(study.design)), "roots": json.dumps(study.roots)}
    connection.execute(insert(studies).values(id=study_id, asked=RUNNING, note="", created=now, **values))
    ids = ids_of(connection, specs)
    for again in in_portions(list(ids.values())):
        reopen(connection, again)
    position = {spec: number for number, spec in enumerate(specs)}
    for family in families_of(specs):
        waits = now + position[family[0]] * 1e-6  # in the order in which they were asked for
        made = connection.execute(
            insert(families).values(study=study_id, done=False, waits=waits, attempts=0, progress="")
        )
        assert made.inserted_primary_key is not None
        number = made.inserted_primary_key[0]
        rows = [
            {"study": study_id, "position": position[spec], "run": ids[spec], "family": number}
            for spec in family
        ]
        connection.execute(insert(members), rows)
    note_done(connection, families.c.study == study_id)  # what was made before is not made again
    mark(connection, study.owner, list(ids.values()), now)
    return study_id


def _found(connection: Connection, study_id: str) -> Row[Any]:
    row = connection.execute(select(studies).where(studies.c.id == study_id)).first()
    if row is None:
        raise NoSuchStudy("There is no study of this id; it may have been deleted.")
    return row


def _owned(connection: Connection, study_id: str, owner: str) -> Row[Any]:
    row = _found(connection, study_id)
    if not secrets.compare_digest(row.owner.encode(), owner.encode()):
        raise NotYours("Only the visitor who asked for these runs can stop, change or delete this.")
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
    return StudyStatus(
        id=row.id,
        study=Study(
            owner=row.owner,
            title=row.title,
            kind=row.kind,
            design=json.loads(row.design),
            roots=tuple(json.loads(row.roots)),
            tries=row.tries,
            threads=row.threads,
            shared=row.shared,
            background=row.background,
            seconds=row.seconds,
            place=row.place,
        ),
        asked=row.asked,
        counts=counts,
        created=row.created,
        ended=max((group.ended for group in found if group.ended is not None), default=None)
        if over
        else None,
        news=tuple(json.loads(text) for text in news if text),
        note=row.note,
        baseline=baseline or "",
        reason=row.reason,
    )
