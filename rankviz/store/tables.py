"""The tables of the run store, their creation, and helpers for rows.

There is one run per spec, by the spec's digest, whoever requests it; an imported run has another key
(`rankviz.store.exchange`). A study has runs in an order, grouped into families. A worker leases a family
until a time; nobody else takes it or its runs before. Times are seconds since 1970.

`info` of a column says what a damaged row gets `instead` of a lost value, which `json` a text holds, which
`words` it may be, and `beside` which other column it has a value (`rankviz.store.damage`).

The schema has a version number and no migrations: a store of another version is set aside. `owners` is newer
than its version: a store without it gets it (`add_owners`), and earlier releases do not read it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from rankviz.common.files import locked
from rankviz.runs.spec import RunSpec
from rankviz.store.study import HERE, PAUSED, PLACES, QUEUED, RUNNING, STATES, STOPPED, StoreOutOfReach

MOST_BYTES = (1 << 31) - 1
"""Most bytes of a record, and of PostgreSQL's integers: a larger size is a damaged one."""
LOG = logging.getLogger("rankviz.store")
VERSION = 4
"""Version of the schema; a change of the tables, or of what the metrics in them mean, raises it."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
LATEST = 9e9
"""Largest number that a row may hold: a time, in seconds, of the year 2255; those of pandas end in 2262."""


class Number(sa.TypeDecorator[float]):
    """A number up to `LATEST`. To read another value is an error, after which the database mends its rows."""

    impl, cache_ok, python_type = sa.Double, True, float

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> float | None:
        """Return the value. Raises TypeError or ValueError if it is damaged."""
        if value is None:
            return None
        if not 0 <= value <= LATEST:
            raise ValueError("a number of the store is beyond its bounds")
        return float(value)


ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""SQLite numbers only INTEGER columns."""

schema_version = sa.Table("schema_version", metadata, sa.Column("version", sa.Integer, nullable=False))

metric_sets = sa.Table(
    "metric_sets",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("names", sa.Text, nullable=False, info={"json": list}),
    sa.UniqueConstraint("names"),
)

families = sa.Table(
    "families",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("study", sa.String(32), sa.ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    sa.Column("done", sa.Boolean, nullable=False, info={"instead": False}, doc="all its runs have ended"),
    sa.Column("worker", sa.String(80), doc="who leases it; NULL: nobody"),
    sa.Column("until", Number, info={"instead": 0.0, "beside": "worker"}, doc="the end of the lease"),
    sa.Column(
        "since", Number, info={"instead": time.time, "beside": "worker"}, doc="when a worker last took it"
    ),
    sa.Column(
        "waits",
        Number,
        nullable=False,
        info={"instead": time.time},
        doc="start of its wait, for turns among visitors",
    ),
    sa.Column("attempts", sa.Integer, nullable=False, default=0, doc="leases that were lost"),
    sa.Column(
        "progress", sa.Text, nullable=False, default="", info={"json": dict}, doc="the latest report, as JSON"
    ),
    sa.Index("ix_families_study", "study", "done", "waits"),
    sa.Index(
        "ix_families_worker",
        "worker",  # leased families alone: PostgreSQL would look for waiting ones by it
        postgresql_where=sa.text("worker IS NOT NULL"),
        sqlite_where=sa.text("worker IS NOT NULL"),
    ),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("digest", sa.String(16), nullable=False, doc="of the spec"),
    sa.Column("spec", sa.Text, nullable=False, info={"json": dict}),
    sa.Column("state", sa.String(9), nullable=False, index=True, info={"words": STATES}),
    sa.Column("reason", sa.Text, nullable=False, default="", doc="why it failed or was lost, as a sentence"),
    sa.Column("family", ID, index=True, doc="the leased one that makes it now"),
    sa.Column("created", Number, nullable=False, info={"instead": time.time}),
    sa.Column("ended", Number),
    sa.Column("seconds", Number, doc="of training alone"),
    sa.Column("status", sa.Text, doc="end of training, as a sentence"),
    sa.Column("metric_set", ID, sa.ForeignKey("metric_sets.id")),
    sa.Column("means", sa.LargeBinary, doc="float64, the means of metric_set's metrics, as `sealed`"),
    sa.Column("size", sa.Integer, nullable=False, server_default="0", doc="bytes of its record"),
    sa.Column("stands_for", sa.String(16), doc="of an imported run: the digest of its spec"),
    sa.UniqueConstraint("digest"),
)

records = sa.Table(
    "records",
    metadata,
    sa.Column("run", ID, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False, doc="npz: metrics by query, scores, weights, trace"),
)

studies = sa.Table(
    "studies",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String(80), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False, info={"instead": "?"}),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("design", sa.Text, nullable=False, default="", info={"json": dict}, doc="its design, as JSON"),
    sa.Column(
        "roots", sa.Text, nullable=False, info={"json": list, "instead": "[]"}, doc="data roots, as JSON"
    ),
    sa.Column(
        "asked",
        sa.String(9),
        nullable=False,
        info={"words": (RUNNING, PAUSED, STOPPED), "instead": PAUSED},
        doc="running, paused or stopped",
    ),
    sa.Column(
        "tries",
        sa.Integer,
        nullable=False,
        info={"instead": 1},
        doc="lost leases of a family before its run is lost",
    ),
    sa.Column("threads", sa.Integer, nullable=False, info={"instead": 1}),
    sa.Column("shared", sa.Boolean, nullable=False, info={"instead": False}),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("baseline", ID, sa.ForeignKey("runs.id", ondelete="SET NULL")),
    sa.Column("created", Number, nullable=False, info={"instead": time.time}),
    sa.Column("deleted", Number),
    sa.Column(
        "background",
        sa.Boolean,
        nullable=False,
        server_default=sa.true(),
        info={"instead": True},
        doc="awaited studies go first",
    ),
    sa.Column("seconds", Number, doc="limit of its workers' time; NULL: none"),
    sa.Column("worked", Number, nullable=False, server_default="0", doc="seconds that workers have spent"),
    sa.Column("changed", Number, doc="time of the latest run, pause or stop request"),
    sa.Column(
        "reason", sa.Text, nullable=False, server_default="", doc="reason of a stop that nobody requested"
    ),
    sa.Column(
        "place",
        sa.String(9),
        nullable=False,
        server_default="here",
        info={"words": PLACES, "instead": HERE},
        doc="who makes it",
    ),
    sa.Column(
        "address", sa.String(32), nullable=False, server_default="", doc="digest of who asked from where"
    ),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("study", sa.String(32), sa.ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("run", ID, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("family", ID, sa.ForeignKey("families.id"), index=True),
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("owner", sa.String(80), primary_key=True),
    sa.Column("run", ID, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("since", Number, nullable=False, info={"instead": time.time}),
    sa.Column("star", sa.Boolean, nullable=False, default=False),
    sa.Column("note", sa.Text, nullable=False, default=""),
    sa.Column("shared", sa.Boolean, nullable=False, default=False),
    sa.Column("deleted", Number),
    sa.Index("ix_marks_run", "run"),
)

tags = sa.Table(
    "tags",
    metadata,
    sa.Column("owner", sa.String(80), primary_key=True),
    sa.Column("run", ID, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag", sa.String(80), primary_key=True),
)

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("owner", sa.String(80), primary_key=True),
    sa.Column(
        "address",
        sa.String(32),
        nullable=False,
        server_default="",
        index=True,
        doc="digest of the network address that their latest runs came from",
    ),
)

workers = sa.Table(
    "workers",
    metadata,
    sa.Column("id", sa.String(80), primary_key=True),
    sa.Column(
        "process",
        sa.Text,
        nullable=False,
        default="",
        info={"json": dict},
        doc="its number and start, as JSON",
    ),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("until", Number, nullable=False, info={"instead": 0.0}, doc="time by which it must report"),
    sa.Column("trouble", sa.Text, nullable=False, server_default="", doc="what blocks it, as a sentence"),
    sa.Column(
        "place",
        sa.String(9),
        nullable=False,
        server_default="here",
        info={"words": PLACES, "instead": HERE},
        doc="of its studies",
    ),
    sa.Column(
        "report",
        sa.Text,
        nullable=False,
        server_default="",
        info={"json": dict},
        doc="its report on the cluster, as JSON",
    ),
)


EMPTIED = (
    "The file of the database of runs had no bytes: all runs in it are gone. Who runs the app can put a copy "
    "of it back."
)


def prepare(engine: sa.Engine, file: Path | None, first: Callable[[], None] | None = None) -> str:
    """Create the tables in an empty database, and set a store of another version aside; call `first` before.

    Return a sentence on what was set aside, or was empty; "" if nothing was. An SQLite file is renamed, and a
    new one begins. Raises `StoreOutOfReach` for a file that another process uses, for another version on
    PostgreSQL, and for tables of another program.
    """
    # Do not read the file by other means than SQLite: closing it would drop this process's locks on it.
    # Lock before the first connection: SQLite reports an I/O error if the file moves while it is opened.
    with locked_file(file):
        if first is not None:
            first()
        emptied = file is not None and file.is_file() and not file.stat().st_size
        said = _lost_of_log(engine, file) or (EMPTIED if emptied else "")
        if _create_tables(engine):
            if said:
                LOG.warning(said)
            return said
        if file is None:
            raise StoreOutOfReach(
                f"{_OTHER}. It is left as it is. Set RANKVIZ_STORE to an empty database, or install that "
                "version."
            )
        engine.dispose()  # an open connection keeps the write-ahead log
        if _in_use(file):
            raise StoreOutOfReach(
                f"{_OTHER}, and another process still uses it. End that process, then start again."
            )
        kept = set_aside(file)
        _create_tables(engine)
    said = f"{_OTHER}: it is kept as {kept.name}, and a new database begins."
    LOG.warning(said)
    return said


DAMAGED_LOG = (
    "The -wal file of the database of runs was damaged. What could be read is kept. The damaged file is {}."
)
LOST_LOG = "The -wal file of the database of runs was damaged: the latest runs are gone. It is kept as {}."
_HEAD, _FRAME_HEAD = 32, 24
"""Bytes before the frames of a write-ahead log, and before the page of each frame (SQLite's file format)."""


MOST_LOG_BYTES = 64 << 20
"""Largest log that is looked through: SQLite usually begins anew at 4 MB."""


def _read_log(file: Path | None) -> bytes:
    """Return the bytes of the write-ahead log; b"" without one, and for a very large one."""
    with suppress(OSError):
        log = file and file.with_name(f"{file.name}-wal")
        return log.read_bytes() if log and log.stat().st_size <= MOST_LOG_BYTES else b""
    return b""


def _frames(log: bytes) -> range:
    """Return where the frames of a log begin, also those of an earlier log at its end."""
    step = _FRAME_HEAD + int.from_bytes(log[8:12], "big")
    return range(_HEAD, len(log) - step + 1, step)


def _commits(log: bytes) -> int:
    """Return the number of the last frame of a log that ends a transaction; 0 without any.

    Frames of earlier logs, with other salts than the head, do not count. With a damaged head one does.
    """
    if len(log) <= _HEAD:
        return 0
    if _sum(log, log[:24]) != log[24:_HEAD]:
        return 1
    own = (
        number
        for number, at in enumerate(_frames(log), 1)
        if log[at + 8 : at + 16] == log[16:24] and any(log[at + 4 : at + 8])
    )
    return max(own, default=0)


def _sum(log: bytes, data: bytes, before: bytes = bytes(8)) -> bytes:
    """Return the checksum of a log after more data, in the order of bytes that its head names."""
    words = np.frombuffer(data, ">u4" if log[3] & 1 else "<u4").tolist()
    one, two = int.from_bytes(before[:4], "big"), int.from_bytes(before[4:], "big")
    for place in range(0, len(words), 2):
        one = (one + words[place] + two) & 0xFFFFFFFF
        two = (two + words[place + 1] + one) & 0xFFFFFFFF
    return one.to_bytes(4, "big") + two.to_bytes(4, "big")


def _read_on(log: bytes, committed: int) -> bytes:
    """Return a log with the checksums that its frames have as they are, so that SQLite reads all of them."""
    frames, found = _frames(log), bytearray(log[:_HEAD])
    last = log[24:_HEAD]
    for at in frames[:committed]:
        end = at + frames.step
        last = _sum(log, log[at : at + 8] + log[at + _FRAME_HEAD : end], last)
        found += log[at : at + 8] + log[16:24] + last + log[at + _FRAME_HEAD : end]
    return bytes(found)


def _lost_of_log(engine: sa.Engine, file: Path | None) -> str:
    """Read on after a damaged byte of a log, where SQLite stops, if nobody else uses the file; say so.

    The log is kept. A damaged row is noticed by its checksum. If the tables are not sound then, or others use
    the file, the end of the log is lost.
    """
    log = _read_log(file)
    if file is None or not (committed := _commits(log)):
        return ""
    for _ in range(3):
        try:
            with engine.connect().execution_options(reads=True) as connection:
                busy, read, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint").one()
        except sa.exc.DatabaseError:  # as where it may only be read: its next use says what is wrong
            return ""
        ended = _read_log(file)[16:24] != log[16:24]  # by others, who have read all of it
        if busy or ended or read >= committed:
            return ""
        time.sleep(0.1)  # somebody may have written it, but not yet entered it in the index
    kept = _free_name(file.with_name(f"{file.stem}-wal{file.suffix}"))
    kept.write_bytes(log)
    engine.dispose()
    read_on = _sum(log, log[:24]) == log[24:_HEAD] and not _in_use(file)
    whole = read_on and _apply(file, _read_on(log, committed))
    return (DAMAGED_LOG if whole else LOST_LOG).format(kept.name)


def later_pages(file: Path, size: int) -> dict[int, bytes]:
    """Return the pages of a file that its log replaces, by number; `size` is that of a page in bytes."""
    log = _read_log(file)
    frames = list(_frames(log))[: _commits(log)] if int.from_bytes(log[8:12], "big") == size else []
    pages = (log[at : at + _FRAME_HEAD + size] for at in frames)
    return {int.from_bytes(page[:4], "big"): page[_FRAME_HEAD:] for page in pages}


def create_file(file: Path) -> None:
    """Create an SQLite file with the tables."""
    engine = sa.create_engine(f"sqlite:///{file}")
    _create_tables(engine)
    engine.dispose()


def set_aside(file: Path) -> Path:
    """Rename a file, and remove its log, which SQLite would apply to the next file of its name."""
    kept = _free_name(file)
    file.rename(kept)
    for end in ("-wal", "-shm"):
        file.with_name(f"{file.name}{end}").unlink(missing_ok=True)
    return kept


def _apply(file: Path, log: bytes) -> bool:
    """Apply a log to a copy of the file; put it in its place, and return True, if it is sound."""
    copy, sound = file.with_name(f".{file.name}.{secrets.token_hex(4)}"), False
    ends = [copy.with_name(f"{copy.name}{end}") for end in ("", "-wal", "-shm")]
    shutil.copy2(file, copy)
    ends[1].write_bytes(log)
    with suppress(sqlite3.Error), closing(sqlite3.connect(copy)) as connection:  # closing applies the log
        sound = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
    if sound and not ends[1].exists():
        os.replace(copy, file)
    for left in ends:
        left.unlink(missing_ok=True)
    return sound


def add_owners(connection: sa.Connection) -> None:
    """Create the table of owners in a store of an earlier release, which lacks it."""
    if not sa.inspect(connection).has_table(owners.name):
        one_at_a_time(connection)
        owners.create(connection, checkfirst=True)


def one_at_a_time(connection: sa.Connection) -> None:
    """Make other callers wait until this transaction has ended; SQLite always does."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7265616)"))


LEAVE_SECONDS = 3.0
"""Seconds that other starting processes have to close a file of another version."""
_OTHER = "The database of runs is of another version of rankviz"
_OURS = {"runs", "records", "studies", "members"}
"""Tables that stores of all versions have."""


def _create_tables(engine: sa.Engine) -> bool:
    """Create the tables if there are none; return True if they have this version."""
    with engine.connect().execution_options(reads=True) as connection:
        if _version(connection) == VERSION:  # needs no right to write
            return True
    with engine.begin() as connection:
        one_at_a_time(connection)
        found = _version(connection)
        if found is None:
            metadata.create_all(connection, checkfirst=False)
            connection.execute(sa.insert(schema_version).values(version=VERSION))
    return found in (None, VERSION)


def _version(connection: sa.Connection) -> int | None:
    """Return the version of the tables; None without tables, 0 before there were numbers."""
    names = set(sa.inspect(connection).get_table_names())
    if schema_version.name in names:
        asked = sa.select(schema_version.c.version)
        if connection.dialect.name == "sqlite":  # which may hold anything in a damaged row
            asked = asked.where(sa.text("typeof(version) = 'integer' AND version BETWEEN 1 AND 1000"))
        found = connection.execute(asked).scalar()
        return int(found) if found is not None else _version_by_columns(connection)
    if names >= _OURS:
        return 0
    if others := sorted(names & set(metadata.tables)):
        raise StoreOutOfReach(
            f"The database of runs has a table {others[0]!r} of another program. Set RANKVIZ_STORE to "
            "another database."
        )
    return None


def _version_by_columns(connection: sa.Connection) -> int:
    """Return this version if all tables have its columns, else 0."""
    seen = sa.inspect(connection)
    columns = {name: {one["name"] for one in seen.get_columns(name)} for name in seen.get_table_names()}
    names = metadata.tables.keys() - ({owners.name} - columns.keys())
    same = names <= columns.keys() and all(
        columns[name] == set(metadata.tables[name].columns.keys()) for name in names
    )
    return VERSION if same else 0


def _in_use(file: Path) -> bool:
    """Return True if a process still has an SQLite file open after `LEAVE_SECONDS`.

    The last connection that closes removes the write-ahead log. Processes that start now close theirs soon.
    """
    log, deadline = file.with_name(f"{file.name}-wal"), time.monotonic() + LEAVE_SECONDS
    while log.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return log.exists()


@contextmanager
def locked_file(file: Path | None) -> Iterator[None]:
    """Lock the file against other processes of this version; if that fails, SQLite reports why."""
    with ExitStack() as stack:
        if file is not None:
            with suppress(OSError):
                stack.enter_context(locked(file.with_name(f".{file.name}.lock")))
        yield


def _free_name(file: Path) -> Path:
    number = 1
    while (path := file.with_name(f"{file.stem}.set-aside-{number}{file.suffix}")).exists():
        number += 1
    return path


BATCH = 500
"""Most values in a statement; SQLite's limit of 999 is the lowest."""
T = TypeVar("T")

_INSERTS: dict[str, Callable[[sa.Table], sqlite.Insert | postgresql.Insert]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}


def insert_with_conflict(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that supports ON CONFLICT."""
    return _INSERTS[connection.dialect.name](table)


def in_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in parts of at most `BATCH`."""
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def ensure_runs(connection: sa.Connection, specs: Sequence[RunSpec]) -> dict[RunSpec, int]:
    """Return the ids of runs; add missing rows as queued."""
    digests = {spec.hash: spec for spec in specs}
    rows = [
        {"digest": digest, "spec": spec.to_json(), "state": QUEUED, "reason": "", "created": time.time()}
        for digest, spec in digests.items()
    ]
    new = insert_with_conflict(connection, runs).on_conflict_do_nothing(index_elements=["digest"])
    for portion in in_batches(rows):
        connection.execute(new, list(portion))
    found = ids_by_digest(connection, list(digests))
    return {spec: found[digest] for digest, spec in digests.items()}


def ids_by_digest(connection: sa.Connection, digests: Sequence[str]) -> dict[str, int]:
    """Return the ids of existing runs, by digest."""
    asked = sa.select(runs.c.digest, runs.c.id)
    return {row.digest: int(row.id) for row in rows_among(connection, asked, runs.c.digest, digests)}


def rows_among(
    connection: sa.Connection, asked: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Yield the rows of a query whose column has one of these values."""
    for portion in in_batches(list(values)):
        yield from connection.execute(asked.where(column.in_(portion)))


def parse_spec(text: str, digest: str) -> RunSpec | None:
    """Parse the spec of a run with this digest; None if it is damaged, or this version cannot read it."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RunSpec.from_json(text) if is_spec_of(text, digest) else None
    return None


def is_spec_of(text: str, digest: str) -> bool:
    """Return True if the digest of a run is that of this text: no byte of them is damaged."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest() == digest


def sealed(values: bytes, names: str, seconds: float | None, status: str | None) -> bytes:
    """Return the means of a run with a checksum of them, their stored names, its seconds and its status."""
    return values + _checksum(values, names, seconds, status)


def unsealed(means: bytes, names: str, seconds: float | None, status: str | None) -> bytes | None:
    """Return the values of `sealed`; None if any byte is damaged."""
    values = means[:-_CHECKSUM_BYTES]
    return values if means[-_CHECKSUM_BYTES:] == _checksum(values, names, seconds, status) else None


def _checksum(values: bytes, names: str, seconds: float | None, status: str | None) -> bytes:
    about = f"{_checksum_of(names)} {seconds!r} {status}".encode()
    return zlib.crc32(about, zlib.crc32(values)).to_bytes(_CHECKSUM_BYTES, "little")


@lru_cache(maxsize=64)  # thousands of runs have the same names
def _checksum_of(text: str) -> int:
    return zlib.crc32(text.encode())


_CHECKSUM_BYTES = 4


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; {} if unreadable."""
    with suppress(ValueError, RecursionError):
        values = json.loads(text)
        if isinstance(values, dict):
            return values
    return {}


def parse_texts(text: str) -> tuple[str, ...]:
    """Parse a JSON list of texts; () if unreadable."""
    with suppress(ValueError, TypeError, RecursionError):
        values = json.loads(text)
        if isinstance(values, list):
            return tuple(map(str, values))
    return ()
