"""What runs gave: records, the means of their metrics, and why those failed that did."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert, select, update

from rankviz.common.errors import DataError
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.marks import mark
from rankviz.store.room import make_room
from rankviz.store.rows import ids_of, in_portions, inserting
from rankviz.store.study import CANCELLED, DONE, FAILED, IMPORTED
from rankviz.store.tables import metric_sets, records, runs

TRAINING = ("features", "pairs", "start", "newton")
"""Stages that seconds of training are the sum of; what is read and evaluated is apart."""


class Records:
    """The records of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unreadable = frozenset[RunSpec]()

    def save(self, record: RunRecord) -> bool:
        """Keep the record of a run that was asked for; False where another worker was faster."""
        content = record.to_bytes()
        with self._database.writing() as connection:
            return _save(connection, record, content)

    def keep(self, found: Iterable[RunRecord], owner: str) -> int:
        """Keep records that nobody asked for before, as runs of this visitor's; how many are new.

        Those whose specs do not say which data they mean are left out. Raises `StoreError` where there is no
        room for more.
        """
        made = {record.spec: (record, record.to_bytes()) for record in found if record.spec.digest}
        again = self._unreadable & made.keys()
        with self._database.writing() as connection:
            set_aside_unreadable(connection, list(again))
            if made:
                make_room(connection, owner)
            ids = ids_of(connection, list(made))
            new = sum(_save(connection, record, content) for record, content in made.values())
            mark(connection, owner, list(ids.values()), time.time())
        self._unreadable -= again
        return new

    def claim(self, digests: Sequence[str], owner: str) -> None:
        """Have runs that were asked for here be this visitor's too; imported ones stay their owner's."""
        with self._database.writing() as connection:
            for portion in in_portions(list(digests)):
                here = select(runs.c.id).where(runs.c.digest.in_(portion), runs.c.state != IMPORTED)
                mark(connection, owner, connection.execute(here).scalars().all(), time.time())

    def fail(self, spec: RunSpec, reason: str) -> None:
        """Note that a run cannot be made, and why."""
        with self._database.writing() as connection:
            connection.execute(
                update(runs)
                .where(runs.c.digest == spec.hash, runs.c.state != DONE)
                .values(state=FAILED, reason=reason, ended=time.time(), family=None)
            )

    def find(self, specs: Sequence[RunSpec]) -> dict[RunSpec, RunRecord]:
        """The records that there are of these specs; one that this version cannot read is as good as none.

        It is then none for `made` either, and `keep` has another one in its place.
        """
        wanted = {spec.hash: spec for spec in specs}
        found: dict[RunSpec, RunRecord] = {}
        with self._database.reading() as connection:
            for portion in in_portions(list(wanted)):
                rows = connection.execute(
                    select(runs.c.digest, records.c.content)
                    .join(records, records.c.run == runs.c.id)
                    .where(runs.c.digest.in_(portion), runs.c.state == DONE)
                )
                for digest, content in rows:
                    try:
                        found[wanted[digest]] = RunRecord.from_bytes(content)
                    except DataError:
                        self._unreadable |= {wanted[digest]}
        self._unreadable -= found.keys()
        return found

    def content(self, digest: str) -> bytes:
        """The record of a run as it is kept; KeyError where there is none."""
        asked = select(records.c.content).join(runs, runs.c.id == records.c.run)
        with self._database.reading() as connection:
            found = connection.execute(asked.where(runs.c.digest == digest)).scalar()
        if found is None:
            raise KeyError(digest)
        return bytes(found)

    def of_data(self, digest: str) -> RunRecord | None:
        """Return the record of some run that was made here on the data of this digest; None for none."""
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

    def made(self, digests: Sequence[str]) -> set[str]:
        """Of these runs those that were made."""
        found: set[str] = set()
        with self._database.reading() as connection:
            for portion in in_portions(list(digests)):
                rows = select(runs.c.digest).where(runs.c.digest.in_(portion), runs.c.state == DONE)
                found |= set(connection.execute(rows).scalars())
        return found - {spec.hash for spec in self._unreadable}


def set_aside_unreadable(connection: Connection, specs: Sequence[RunSpec]) -> None:
    """Have runs made again whose records this version cannot read: damaged ones, and of other versions."""
    for portion in in_portions([spec.hash for spec in specs]):
        asked = select(runs.c.id, records.c.content).join(records, records.c.run == runs.c.id, isouter=True)
        rows = connection.execute(asked.where(runs.c.digest.in_(portion), runs.c.state == DONE)).all()
        bad = [row.id for row in rows if not _readable(row.content)]
        connection.execute(delete(records).where(records.c.run.in_(bad)))
        connection.execute(update(runs).where(runs.c.id.in_(bad)).values(state=CANCELLED, size=0))


def _readable(content: bytes | None) -> bool:
    try:
        return content is not None and bool(RunRecord.from_bytes(content))
    except DataError:
        return False


def _save(connection: Connection, record: RunRecord, content: bytes) -> bool:
    """Keep a record in the row of its run, unless one is there."""
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
    connection.execute(insert(records).values(run=made, content=content))
    return True


def figures_of(record: RunRecord) -> dict[str, Any]:
    """Return what the row of a run has of its record.

    That is seconds of training, how it ended, and the means of all metrics, part by part, over the queries
    that have one, with their `names`.
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
    found: dict[str, Any] = {"names": tuple(names), "means": np.array(means, "<f8").tobytes()}
    return found | {"seconds": seconds, "status": record.status}


def metric_set(connection: Connection, names: tuple[str, ...]) -> int:
    """The id of a list of names."""
    text = json.dumps(names)
    asked = select(metric_sets.c.id).where(metric_sets.c.names == text)
    found = connection.execute(asked).scalar()
    if found is None:
        connection.execute(inserting(connection, metric_sets).values(names=text).on_conflict_do_nothing())
        found = connection.execute(asked).scalar_one()
    return int(found)
