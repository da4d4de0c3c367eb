"""How leases end: by time, with the process that held them, or because nobody wants the runs any more."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, select, update

from rankviz.experiments.processes import ProcessId
from rankviz.store.study import CANCELLED, LEASED, LOST, OPEN, QUEUED, STOPPED
from rankviz.store.tables import families, members, runs, studies, workers

LEASE_SECONDS = 20.0
"""A lease ends after this, unless it is renewed."""
RENEW_SECONDS = 4.0


@cache
def host() -> str:
    """The name of this machine, beside the numbers of its processes."""
    return socket.gethostname()


def held() -> Select[Any]:
    """The families that workers hold, with what is known of these."""
    return (
        select(families.c.id, families.c.worker, families.c.until, families.c.attempts, families.c.progress)
        .add_columns(studies.c.tries, workers.c.process, workers.c.host)
        .join(studies, studies.c.id == families.c.study)
        .join(workers, workers.c.id == families.c.worker, isouter=True)
        .where(families.c.worker.is_not(None))
    )


def is_over(row: Row[Any]) -> bool:
    """Whether a lease has ended, or its worker, which is known of processes of this machine."""
    if row.until < time.time():
        return True
    if row.host != host() or not row.process:
        return False
    return not ProcessId(**json.loads(row.process)).alive()


def reclaim(connection: Connection) -> list[int]:
    """Take families from workers that are gone; their runs wait again, or are lost; which families."""
    over = [row for row in connection.execute(held()) if is_over(row)]
    for row in over:
        given_up = row.attempts + 1 >= row.tries
        connection.execute(
            update(families)
            .where(families.c.id == row.id, families.c.worker == row.worker)
            .values(
                worker=None,
                until=None,
                waits=time.time(),
                progress="",
                attempts=0 if given_up else row.attempts + 1,
            )
        )
        if given_up:
            _lose(connection, row)
    connection.execute(workers.delete().where(workers.c.until < time.time()))
    found = [int(row.id) for row in over]
    if found:
        let_go(connection, found)
    return found


def let_go(connection: Connection, held: Sequence[int]) -> None:
    """Runs that families make wait again; those that no study wants any more are cancelled."""
    left = (
        connection.execute(select(runs.c.id).where(runs.c.family.in_(held), runs.c.state == LEASED))
        .scalars()
        .all()
    )
    if left:
        connection.execute(update(runs).where(runs.c.id.in_(left)).values(state=QUEUED, family=None))
        cancel_unwanted(connection, runs.c.id.in_(left))
    still = exists().where(
        members.c.family == families.c.id, members.c.run == runs.c.id, runs.c.state.in_(OPEN)
    )
    connection.execute(update(families).where(families.c.id.in_(held), ~still).values(done=True))


def cancel_unwanted(connection: Connection, which: ColumnElement[bool]) -> None:
    """Of these runs, those that wait and that no study wants which runs or pauses, are cancelled."""
    wanted = exists().where(
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.asked != STOPPED,
        studies.c.deleted.is_(None),
    )
    connection.execute(
        update(runs)
        .where(which, runs.c.state == QUEUED, ~wanted)
        .values(state=CANCELLED, ended=time.time(), reason="Stopped before it was made.")
    )


def _lose(connection: Connection, row: Row[Any]) -> None:
    """Give up the run that a worker was making when it died; others of its family get new tries."""
    digest = json.loads(row.progress or "{}").get("digest")
    current = connection.execute(
        select(runs.c.id)
        .where(runs.c.family == row.id, runs.c.state == LEASED)
        .order_by(runs.c.digest != (digest or ""), runs.c.id)
        .limit(1)
    ).scalar()
    why = f"The workers that made it ended without a word, {row.tries} times; memory may have run out."
    connection.execute(
        update(runs)
        .where(runs.c.id == current)
        .values(state=LOST, family=None, ended=time.time(), reason=why)
    )
