"""The tables of the run store, their creation, and helpers for rows.

There is one run per spec, by the spec's digest, whoever requests it; an imported run has another key
(`rankviz.store.exchange`). A study has runs in an order, grouped into families. A worker leases a family
until a time; nobody else takes it or its runs before. Times are seconds since 1970.

`info` of a column says what a damaged row gets `instead` of a lost value, and which `json` a text holds
(`rankviz.store.damage`).

The schema has a version number and no migrations: a store of another version is set aside.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite

from rankviz.common.files import locked
from rankviz.runs.spec import RunSpec
from rankviz.store.study import QUEUED, StoreOutOfReach

MOST_BYTES = 1 << 40
"""More bytes than any record has: a larger size is a damaged one."""
LOG = logging.getLogger("rankviz.store")
VERSION = 2
"""Version of the schema; a change of the tables raises it."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
ID = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers only INTEGER columns."""

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

metric_sets = Table(
    "metric_sets",
    metadata,
    Column("id", ID, primary_key=True),
    Column("names", Text, nullable=False, info={"json": list}),
    UniqueConstraint("names"),
)

families = Table(
    "families",
    metadata,
    Column("id", ID, primary_key=True),
    Column("study", String(32), ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    Column("done", Boolean, nullable=False, info={"instead": False}, doc="all its runs have ended"),
    Column("worker", String(80), doc="who leases it; NULL: nobody"),
    Column("until", Double, info={"instead": 0.0}, doc="the end of the lease"),
    Column("since", Double, info={"instead": time.time}, doc="when the worker took it"),
    Column(
        "waits",
        Double,
        nullable=False,
        info={"instead": time.time},
        doc="start of its wait, for turns among visitors",
    ),
    Column("attempts", Integer, nullable=False, default=0, doc="leases that were lost"),
    Column(
        "progress", Text, nullable=False, default="", info={"json": dict}, doc="the latest report, as JSON"
    ),
    Index("ix_families_study", "study", "done", "waits"),
    Index("ix_families_worker", "worker"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", ID, primary_key=True),
    Column("digest", String(16), nullable=False, doc="of the spec"),
    Column("spec", Text, nullable=False, info={"json": dict}),
    Column("state", String(9), nullable=False, index=True),
    Column("reason", Text, nullable=False, default="", doc="why it failed or was lost, as a sentence"),
    Column("family", ID, index=True, doc="the leased one that makes it now"),
    Column("created", Double, nullable=False, info={"instead": time.time}),
    Column("ended", Double),
    Column("seconds", Double, doc="of training alone"),
    Column("status", Text, doc="end of training, as a sentence"),
    Column("metric_set", ID, ForeignKey("metric_sets.id")),
    Column("means", LargeBinary, doc="float64, the means of metric_set's metrics"),
    Column("size", Integer, nullable=False, server_default="0", doc="bytes of its record"),
    Column("stands_for", String(16), doc="of an imported run: the digest of its spec"),
    UniqueConstraint("digest"),
)

records = Table(
    "records",
    metadata,
    Column("run", ID, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("content", LargeBinary, nullable=False, doc="npz: metrics by query, scores, weights, trace"),
)

studies = Table(
    "studies",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(80), nullable=False, index=True),
    Column("title", Text, nullable=False, info={"instead": "?"}),
    Column("kind", String(20), nullable=False),
    Column("design", Text, nullable=False, default="", info={"json": dict}, doc="its design, as JSON"),
    Column("roots", Text, nullable=False, info={"json": list, "instead": "[]"}, doc="data roots, as JSON"),
    Column("asked", String(9), nullable=False, doc="running, paused or stopped"),
    Column(
        "tries",
        Integer,
        nullable=False,
        info={"instead": 1},
        doc="lost leases of a family before its run is lost",
    ),
    Column("threads", Integer, nullable=False, info={"instead": 1}),
    Column("shared", Boolean, nullable=False, info={"instead": False}),
    Column("note", Text, nullable=False, default=""),
    Column("baseline", ID, ForeignKey("runs.id", ondelete="SET NULL")),
    Column("created", Double, nullable=False, info={"instead": time.time}),
    Column("deleted", Double),
    Column(
        "background",
        Boolean,
        nullable=False,
        server_default=true(),
        info={"instead": True},
        doc="awaited studies go first",
    ),
    Column("seconds", Double, doc="limit of its workers' time; NULL: none"),
    Column("worked", Double, nullable=False, server_default="0", doc="seconds that workers have spent"),
    Column("changed", Double, doc="time of the latest run, pause or stop request"),
    Column("reason", Text, nullable=False, server_default="", doc="reason of a stop that nobody requested"),
    Column(
        "place",
        String(9),
        nullable=False,
        server_default="here",
        info={"instead": "here"},
        doc="who makes it",
    ),
    Column("address", String(32), nullable=False, server_default="", doc="digest of who asked from where"),
)

members = Table(
    "members",
    metadata,
    Column("study", String(32), ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("run", ID, ForeignKey("runs.id"), nullable=False, index=True),
    Column("family", ID, ForeignKey("families.id"), index=True),
)

marks = Table(
    "marks",
    metadata,
    Column("owner", String(80), primary_key=True),
    Column("run", ID, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("since", Double, nullable=False, info={"instead": time.time}),
    Column("star", Boolean, nullable=False, default=False),
    Column("note", Text, nullable=False, default=""),
    Column("shared", Boolean, nullable=False, default=False),
    Column("deleted", Double),
    Index("ix_marks_run", "run"),
)

tags = Table(
    "tags",
    metadata,
    Column("owner", String(80), primary_key=True),
    Column("run", ID, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(80), primary_key=True),
)

workers = Table(
    "workers",
    metadata,
    Column("id", String(80), primary_key=True),
    Column(
        "process", Text, nullable=False, default="", info={"json": dict}, doc="its number and start, as JSON"
    ),
    Column("host", Text, nullable=False),
    Column("until", Double, nullable=False, info={"instead": 0.0}, doc="time by which it must report"),
    Column("trouble", Text, nullable=False, server_default="", doc="what blocks it, as a sentence"),
    Column(
        "place",
        String(9),
        nullable=False,
        server_default="here",
        info={"instead": "here"},
        doc="of its studies",
    ),
    Column(
        "told",
        Text,
        nullable=False,
        server_default="",
        info={"json": dict},
        doc="its report on the cluster, as JSON",
    ),
)


def prepare(engine: Engine, file: Path | None) -> str:
    """Create the tables in an empty database, and set a store of another version aside.

    Return a sentence on what was set aside; "" if nothing was. An SQLite file is renamed, and a new one
    begins. Raises `StoreOutOfReach` for a file that another process uses, for another version on PostgreSQL,
    and for tables of another program.
    """
    # Do not read the file by other means than SQLite: closing it would drop this process's locks on it.
    with engine.connect().execution_options(reads=True) as connection:
        if _version(connection) == VERSION:
            return ""
    if file is None:
        if _create_tables(engine):
            return ""
        raise StoreOutOfReach(
            f"{_OTHER}. It is left as it is. Set RANKVIZ_STORE to an empty database, or install that version."
        )
    engine.dispose()  # an open connection would keep others from setting the file aside
    with _locked(file):
        if _create_tables(engine):
            return ""
        engine.dispose()
        if _in_use(file):
            raise StoreOutOfReach(
                f"{_OTHER}, and another process still uses it. End that process, then start again."
            )
        kept = _free_name(file)
        file.rename(kept)
        _create_tables(engine)
    said = f"{_OTHER}: it is kept as {kept.name}, and a new database begins."
    LOG.warning(said)
    return said


def one_at_a_time(connection: Connection) -> None:
    """Make other callers wait until this transaction has ended; SQLite always does."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7265616)"))


LEAVE_SECONDS = 3.0
"""Seconds that other starting processes have to close a file of another version."""
_OTHER = "The database of runs is of another version of rankviz"
_OURS = {"runs", "records", "studies", "members"}
"""Tables that stores of all versions have."""


def _create_tables(engine: Engine) -> bool:
    """Create the tables if there are none; return True if they have this version."""
    with engine.begin() as connection:
        one_at_a_time(connection)
        found = _version(connection)
        if found is None:
            metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(schema_version).values(version=VERSION))
    return found in (None, VERSION)


def _version(connection: Connection) -> int | None:
    """Return the version of the tables; None without tables, 0 before there were numbers."""
    names = set(inspect(connection).get_table_names())
    if schema_version.name in names:
        return int(connection.execute(select(schema_version.c.version)).scalar_one())
    if names >= _OURS:
        return 0
    if others := sorted(names & set(metadata.tables)):
        raise StoreOutOfReach(
            f"The database of runs has a table {others[0]!r} of another program. Set RANKVIZ_STORE to "
            "another database."
        )
    return None


def _in_use(file: Path) -> bool:
    """Return True if a process still has an SQLite file open after `LEAVE_SECONDS`.

    The last connection that closes removes the write-ahead log. Processes that start now close theirs soon.
    """
    log, deadline = file.with_name(f"{file.name}-wal"), time.monotonic() + LEAVE_SECONDS
    while log.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return log.exists()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Lock the file against other processes of this version; if that fails, SQLite reports why."""
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(locked(file.with_name(f".{file.name}.lock")))
        yield


def _free_name(file: Path) -> Path:
    number = 1
    while (path := file.with_name(f"{file.stem}.set-aside-{number}{file.suffix}")).exists():
        number += 1
    return path


PORTION = 500
"""Most values in a statement; SQLite's limit of 999 is the lowest."""
T = TypeVar("T")

_INSERTS: dict[str, Callable[[Table], sqlite.Insert | postgresql.Insert]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}


def insert_with_conflict(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that supports ON CONFLICT."""
    return _INSERTS[connection.dialect.name](table)


def in_portions(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in parts of at most `PORTION`."""
    for start in range(0, len(values), PORTION):
        yield values[start : start + PORTION]


def ensure_runs(connection: Connection, specs: Sequence[RunSpec]) -> dict[RunSpec, int]:
    """Return the ids of runs; add missing rows as queued."""
    digests = {spec.hash: spec for spec in specs}
    rows = [
        {"digest": digest, "spec": spec.to_json(), "state": QUEUED, "reason": "", "created": time.time()}
        for digest, spec in digests.items()
    ]
    new = insert_with_conflict(connection, runs).on_conflict_do_nothing(index_elements=["digest"])
    for portion in in_portions(rows):
        connection.execute(new, list(portion))
    found = ids_by_digest(connection, list(digests))
    return {spec: found[digest] for digest, spec in digests.items()}


def ids_by_digest(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    """Return the ids of existing runs, by digest."""
    asked = select(runs.c.digest, runs.c.id)
    return {row.digest: int(row.id) for row in rows_among(connection, asked, runs.c.digest, digests)}


def rows_among(
    connection: Connection, asked: Select[Any], column: ColumnElement[Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Yield the rows of a query whose column has one of these values."""
    for portion in in_portions(list(values)):
        yield from connection.execute(asked.where(column.in_(portion)))


def parse_spec(text: str) -> RunSpec | None:
    """Parse a spec; None if this version cannot read it."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RunSpec.from_json(text)
    return None


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; {} if unreadable."""
    with suppress(ValueError, RecursionError):
        values = json.loads(text)
        if isinstance(values, dict):
            return values
    return {}
