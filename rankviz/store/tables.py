"""The tables of the run store, and how a database gets them.

A run is what one spec gives, whoever asks for it: there is one row for each digest. An imported run has a row
of its own, under a digest that no spec has (`rankviz.store.imports`). A study is what somebody
asks for, runs in an order; what its runs share makes them families, and a family is what a worker takes. A
worker holds a family, and the runs that it makes of it, by a lease: a time until which nobody else takes
them. Times are seconds since 1970.

There is one schema with a version number, and no way from one version to another: a store of another version
is set aside.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
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

from rankviz.common.files import locked
from rankviz.store.errors import StoreOutOfReach

LOG = logging.getLogger("rankviz.store")
VERSION = 1
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
"""SQLite counts up only what is an INTEGER."""

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

metric_sets = Table(
    "metric_sets",
    metadata,
    Column("id", ID, primary_key=True),
    Column("names", Text, nullable=False),
    UniqueConstraint("names"),
)

families = Table(
    "families",
    metadata,
    Column("id", ID, primary_key=True),
    Column("study", String(32), ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    Column("done", Boolean, nullable=False, doc="none of its runs waits or is made any more"),
    Column("worker", String(80), doc="who holds it; NULL: nobody"),
    Column("until", Double, doc="the end of the lease"),
    Column("since", Double, doc="when the worker took it"),
    Column("waits", Double, nullable=False, doc="since when it has waited, for turns among visitors"),
    Column("attempts", Integer, nullable=False, default=0, doc="leases that were lost"),
    Column("progress", Text, nullable=False, default="", doc="the latest news, as JSON"),
    Index("ix_families_study", "study", "done", "waits"),
    Index("ix_families_worker", "worker"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", ID, primary_key=True),
    Column("digest", String(16), nullable=False, doc="of the spec"),
    Column("spec", Text, nullable=False),
    Column("state", String(9), nullable=False, index=True),
    Column("reason", Text, nullable=False, default="", doc="why it failed or was lost, as a sentence"),
    Column("family", ID, index=True, doc="the one that makes it now; no key, for studies know runs"),
    Column("created", Double, nullable=False),
    Column("ended", Double),
    Column("seconds", Double, doc="of training alone"),
    Column("status", Text, doc="how training ended, as a sentence"),
    Column("metric_set", ID, ForeignKey("metric_sets.id")),
    Column("means", LargeBinary, doc="float64, the means of metric_set's metrics"),
    Column("size", Integer, nullable=False, server_default="0", doc="bytes of its record"),
    Column("stands_for", String(16), doc="of an imported run: the digest of its spec, which is not its own"),
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
    Column("title", Text, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("design", Text, nullable=False, default="", doc="what it was made of, as JSON"),
    Column("roots", Text, nullable=False, doc="folders in which its data are looked up, as JSON"),
    Column("asked", String(9), nullable=False, doc="running, paused or stopped"),
    Column("tries", Integer, nullable=False, doc="leases that a family may lose before its run is lost"),
    Column("threads", Integer, nullable=False),
    Column("shared", Boolean, nullable=False),
    Column("note", Text, nullable=False, default=""),
    Column("baseline", ID, ForeignKey("runs.id", ondelete="SET NULL")),
    Column("created", Double, nullable=False),
    Column("deleted", Double),
    Column("background", Boolean, nullable=False, server_default=true(), doc="others may go first"),
    Column("seconds", Double, doc="that workers may spend on it; NULL: as many as it takes"),
    Column("worked", Double, nullable=False, server_default="0", doc="seconds that they have spent"),
    Column("changed", Double, doc="when it was last asked to run, pause or stop"),
    Column("reason", Text, nullable=False, server_default="", doc="why we stopped it, as a sentence"),
    Column("place", String(9), nullable=False, server_default="here", doc="who works on it"),
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
    Column("since", Double, nullable=False),
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
    Column("process", Text, nullable=False, default="", doc="number and start of it, as JSON"),
    Column("host", Text, nullable=False),
    Column("until", Double, nullable=False, doc="gone, unless it says before then that it is there"),
    Column("trouble", Text, nullable=False, server_default="", doc="what keeps it from its work"),
    Column("place", String(9), nullable=False, server_default="here", doc="of the studies that it works on"),
    Column(
        "told", Text, nullable=False, server_default="", doc="of the cluster that it hands work to, as JSON"
    ),
)


def prepare(engine: Engine, file: Path | None) -> str:
    """Make the tables in an empty database, and set a store of another version aside.

    Returns a sentence that says what was set aside; "" if nothing was. An SQLite file is renamed, and a new
    one begins. Raises `StoreOutOfReach` for a file that another process uses, for another version on
    PostgreSQL, and for tables of another program.
    """
    # Do not read the file by other means than SQLite: closing it would drop this process's locks on it.
    with engine.connect().execution_options(reads=True) as connection:
        if _version(connection) == VERSION:
            return ""
    if file is None:
        if _made(engine):
            return ""
        raise StoreOutOfReach(
            f"{_OTHER}. It is left as it is. Set RANKVIZ_STORE to an empty database, or install that version."
        )
    engine.dispose()  # an open connection would keep others from setting the file aside
    with _alone(file):
        if _made(engine):
            return ""
        engine.dispose()
        if _in_use(file):
            raise StoreOutOfReach(
                f"{_OTHER}, and another process still uses it. End that process, then start again."
            )
        kept = _free_name(file)
        file.rename(kept)
        _made(engine)
    said = f"{_OTHER}: it is kept as {kept.name}, and a new database begins."
    LOG.warning(said)
    return said


def one_at_a_time(connection: Connection) -> None:
    """Let others who ask for the same wait until this transaction has ended; SQLite does so anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7265616)"))


LEAVE_SECONDS = 3.0
"""Seconds that other starting processes have to close a file of another version."""
_OTHER = "The database of runs is of another version of rankviz"
_OURS = {"runs", "records", "studies", "members"}
"""Tables that stores of all versions have."""


def _made(engine: Engine) -> bool:
    """Make the tables where there are none; return whether they are now of this version."""
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
def _alone(file: Path) -> Iterator[None]:
    """Keep other processes of this version from the file; where no lock can be made, SQLite says why."""
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(locked(file.with_name(f".{file.name}.lock")))
        yield


def _free_name(file: Path) -> Path:
    number = 1
    while (path := file.with_name(f"{file.stem}.set-aside-{number}{file.suffix}")).exists():
        number += 1
    return path
