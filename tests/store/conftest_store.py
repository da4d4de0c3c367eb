"""Helpers of the tests of the run store."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from sqlalchemy import update

from rankviz import RunRecord, RunSpec
from rankviz.common.processes import ProcessId
from rankviz.store import RunStore, Study
from rankviz.store.queue import LeasedFamily
from rankviz.store.tables import families

GRID = Study("me", "a grid")
Command = Callable[..., tuple[int, str, str]]
BOTH = pytest.mark.both_stores
"""For tests of what the database does: on SQLite and on PostgreSQL. All others have SQLite alone."""
MODEL = ("small", "--set", "feature_map=nystroem", "--set", "n_components=10")


class Sleeper(NamedTuple):
    process: ProcessId
    name: str
    environment: dict[str, str]


def states(store: RunStore, study: str) -> dict[str, int]:
    return dict(store.studies.status(study).counts)


def take_lease(store: RunStore, worker: str) -> LeasedFamily:
    lease = store.queue.take(worker)
    assert lease is not None
    return lease


def end_of_lease(store: RunStore, lease: LeasedFamily) -> None:
    with store.database.writing() as connection:
        connection.execute(update(families).where(families.c.id == lease.family).values(until=0.0))


def save_all(store: RunStore, lease: LeasedFamily, made: dict[RunSpec, RunRecord]) -> None:
    for spec in lease.specs:
        assert store.records.save(made[spec])
    store.queue.release(lease)


def as_json(done: tuple[int, str, str]) -> Any:
    assert done[0] == 0, done[2]
    return json.loads(done[1])
