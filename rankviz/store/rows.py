"""Rows of runs: their ids by spec, in portions that every database takes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from rankviz.experiments.spec import RunSpec
from rankviz.store.study import QUEUED
from rankviz.store.tables import runs

PORTION = 500
"""So many values in a statement: databases have a bound, SQLite's lowest is 999."""
T = TypeVar("T")

_INSERTS: dict[str, Callable[[Table], sqlite.Insert | postgresql.Insert]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}


def inserting(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """INSERT into a table, which may be told what to do where a row is there already."""
    return _INSERTS[connection.dialect.name](table)


def in_portions(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Values in parts of at most `PORTION`."""
    for start in range(0, len(values), PORTION):
        yield values[start : start + PORTION]


def ids_of(connection: Connection, specs: Sequence[RunSpec]) -> dict[RunSpec, int]:
    """The ids of runs, in rows that are made where there are none yet, as waiting."""
    digests = {spec.hash: spec for spec in specs}
    rows = [
        {"digest": digest, "spec": spec.to_json(), "state": QUEUED, "reason": "", "created": time.time()}
        for digest, spec in digests.items()
    ]
    new = inserting(connection, runs).on_conflict_do_nothing(index_elements=["digest"])
    for portion in in_portions(rows):
        connection.execute(new, list(portion))
    found = known(connection, list(digests))
    return {spec: found[digest] for digest, spec in digests.items()}


def known(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    """The ids of those runs that there are, by digest."""
    found: dict[str, int] = {}
    for portion in in_portions(digests):
        rows = connection.execute(select(runs.c.digest, runs.c.id).where(runs.c.digest.in_(portion)))
        found |= {digest: int(number) for digest, number in rows}
    return found


def told(text: str) -> dict[str, Any]:
    """What somebody has written down as JSON; nothing where that cannot be read."""
    with suppress(ValueError, RecursionError):
        values = json.loads(text)
        if isinstance(values, dict):
            return values
    return {}
