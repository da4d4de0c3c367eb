"""Rows of runs: their ids by spec, in portions that every database accepts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from rankviz.runs.spec import RunSpec
from rankviz.store.study import QUEUED
from rankviz.store.tables import runs

PORTION = 500
"""Most values in a statement; SQLite's limit of 999 is the lowest."""
T = TypeVar("T")

_INSERTS: dict[str, Callable[[Table], sqlite.Insert | postgresql.Insert]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}


def inserting(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that supports ON CONFLICT."""
    return _INSERTS[connection.dialect.name](table)


def in_portions(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in parts of at most `PORTION`."""
    for start in range(0, len(values), PORTION):
        yield values[start : start + PORTION]


def ids_of(connection: Connection, specs: Sequence[RunSpec]) -> dict[RunSpec, int]:
    """Return the ids of runs; add missing rows as queued."""
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
    """Return the ids of existing runs, by digest."""
    found: dict[str, int] = {}
    for portion in in_portions(digests):
        rows = connection.execute(select(runs.c.digest, runs.c.id).where(runs.c.digest.in_(portion)))
        found |= {digest: int(number) for digest, number in rows}
    return found


def told(text: str) -> dict[str, Any]:
    """Parse a JSON object; {} if unreadable."""
    with suppress(ValueError, RecursionError):
        values = json.loads(text)
        if isinstance(values, dict):
            return values
    return {}
