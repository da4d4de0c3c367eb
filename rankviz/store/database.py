"""The database of a run store: SQLite in the folder of the user's runs, or PostgreSQL by its address.

RANKVIZ_STORE names another one: a file, or an address such as postgresql://user@host/name. An address may
hold a password, so errors, logs and pages never show it; they show `Database.kind`.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import math
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Semaphore
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from rankviz.common.errors import DataError, SettingError
from rankviz.store.damage import mend
from rankviz.store.environment import default_folder
from rankviz.store.salvage import salvage
from rankviz.store.study import StoreOutOfReach
from rankviz.store.tables import create_file, later_pages, locked_file, prepare, set_aside

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.pool import PoolProxiedConnection

LOG = logging.getLogger("rankviz.store")
ENVIRONMENT = "RANKVIZ_STORE"
BUSY_SECONDS = 30.0
"""Longest wait of a transaction for another writer, in seconds."""
MEND_SECONDS = 10.0
"""Shortest time between two searches for damaged rows, in seconds."""
WRITERS = 4
"""Most connections of a process that write at once: others are left for those who only read."""
AWAY_SECONDS = 3.0
"""Seconds without new attempts after a server failed to answer."""
RETURN_SECONDS = 3.0
"""Longest wait for connections in use whose log is lost, in seconds."""
Result = TypeVar("Result")


def default_url() -> str:
    """Return RANKVIZ_STORE from the environment, or runs.sqlite in the folder of the user's runs."""
    return os.environ.get(ENVIRONMENT) or str(default_folder() / "runs.sqlite")


@dataclass(frozen=True)
class Kind:
    """A kind of database: its label, its SQLAlchemy driver, and its requirement."""

    label: str
    driver: str
    needs: str
    """The remedy for a missing driver, such as a command to install it."""


KINDS = {
    "sqlite": Kind("SQLite", "sqlite", "Python with sqlite3"),
    "postgresql": Kind("PostgreSQL", "postgresql+psycopg", 'pip install "rankviz[postgresql]"'),
}


class Damaged(StoreOutOfReach):
    """A text that is not UTF-8, or a fault that SQLite finds in its file."""


class _Pool(QueuePool):
    """Connections of one generation: after `dispose`, those in use are closed when they come back."""

    _disposed = False

    def dispose(self) -> None:
        """Close the idle connections."""
        self._disposed = True
        super().dispose()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        if self._disposed:
            record.close()
        super()._do_return_conn(record)
        if self._disposed and record.dbapi_connection is not None:  # disposed of in between
            self.dispose()


class Database:
    """A database with the tables of the run store, which are made when it is first opened.

    Parameters
    ----------
    url : str or path, optional
        A SQLite file, or an address; by default `default_url()`.

    Attributes
    ----------
    notice : str
        A sentence if a store of another version was set aside, or its file was empty; "" otherwise.

    Raises `StoreOutOfReach` if it cannot be opened.
    """

    def __init__(self, url: str | os.PathLike[str] | None = None) -> None:
        self._url = _parsed(default_url() if url is None else os.fspath(url))
        self.kind = KINDS[self._url.get_backend_name()]
        self._log = self.file and self.file.with_name(f"{self.file.name}-wal")
        self._index = self.file and self.file.with_name(f"{self.file.name}-shm")
        self._open = dict[sqlite3.Connection, "tuple[int, int] | None"]()  # with its log
        self._lost, self._all_saved, self._wait_until = False, True, math.inf
        self.engine = self._opened()
        self.notice = ""
        self._logged, self._held = cast("tuple[int, int] | None", None), cast("int | None", None)
        self._indexed = cast("tuple[int, int] | None", None)
        self._mended, self._found, self._mending_lock = -math.inf, "", Lock()
        self._writers = Semaphore(WRITERS)
        self._away, self._away_until = "", -math.inf
        self._lock, self._watch = Lock(), cast("PoolProxiedConnection | None", None)
        self._following = Lock()
        try:
            with self.hiding_address():
                self.notice = self._prepared()
            self._here = _identity(self.file)
        except BaseException:
            self.close()
            raise

    def _prepared(self) -> str:
        """Prepare the file; if it is damaged, once more with the rows that can be read."""
        from sqlalchemy.exc import DatabaseError

        try:
            return prepare(self.engine, self.file)
        except (DatabaseError, UnicodeDecodeError) as error:  # the second if SQLite's message quotes damage
            name = getattr(getattr(error, "orig", None), "sqlite_errorname", "SQLITE_ERROR")
            if not name.startswith((*_UNSOUND, "SQLITE_ERROR")) or not (said := self._salvage()):
                raise
        return f"{said} {prepare(self.engine, self.file)}".strip()

    def _salvage(self) -> str:
        """Put all rows that can be read into a new file; return a sentence, "" if that is not possible.

        Nobody here may have the file open: reading it would drop the locks of this process.
        """
        self._close_connections()
        if self.file is None or self._open or not self.file.is_file():
            return ""
        kept = ""
        with locked_file(self.file), contextlib.suppress(OSError):  # as of a full disk
            kept = salvage(
                self.file, partial(later_pages, self.file), create_file, partial(set_aside, self.file)
            )
        if not kept:
            return ""
        self._let_log_go()
        self._here = _identity(self.file)
        LOG.warning(said := SALVAGED.format(kept))
        return said

    def __repr__(self) -> str:
        return f"<{self.kind.label} database of runs>"

    @property
    def address(self) -> str:
        """The whole address, only for our own processes that open the same database. Never show it."""
        return self._url.render_as_string(hide_password=False)

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for another kind."""
        return Path(str(self._url.database)) if self.kind is KINDS["sqlite"] else None

    def _opened(self) -> Engine:
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import ArgumentError

        url, options = self._url.set(drivername=self.kind.driver), dict[str, Any]()
        if self.file is not None:
            with contextlib.suppress(OSError):  # opening the database reports the error
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            options |= {"connect_args": {"timeout": BUSY_SECONDS}, "poolclass": _Pool}
        else:
            options |= {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}
        try:
            engine = create_engine(url, hide_parameters=True, **options)
        except ModuleNotFoundError as error:
            raise StoreOutOfReach(
                f"{self.kind.label} needs {error.name}, which is not installed. Install it: {self.kind.needs}"
            ) from None
        except ArgumentError:
            raise StoreOutOfReach("The address of the database cannot be read.") from None
        if self.file is not None:
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(
                engine, "connect", lambda connection, _: self._open.update({connection: _identity(self._log)})
            )
            event.listen(engine, "close", self._close)
            event.listen(engine, "begin", _begin_at_once)
        return engine

    def _close(self, connection: sqlite3.Connection, _: object) -> None:
        """Close a connection; if its log is lost, first write into the file what only it sees."""
        try:
            if self._open.get(connection) != _identity(self._log):
                self._lost, self._all_saved = True, False
                with contextlib.suppress(sqlite3.Error):
                    _, frames, saved = connection.execute("PRAGMA wal_checkpoint").fetchone()
                    self._all_saved = frames == saved
            connection.close()  # now, so that `_open` is right: SQLAlchemy does it after this event
        finally:
            self._open.pop(connection, None)
            if not self._open and not self._all_saved:
                self._tell(LOST)
                self._all_saved = True

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection for reading. Raises `StoreOutOfReach` if the database does not answer."""
        with self._mending(), self.hiding_address(), self._connected() as connection:
            yield connection.execution_options(reads=True)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open one transaction, all or nothing. Raises `StoreOutOfReach` if the database does not answer."""
        with (
            self._mending(),
            self.hiding_address(),
            self._writers,
            self._connected() as connection,
            connection.begin(),
        ):
            yield connection

    @contextlib.contextmanager
    def _mending(self) -> Iterator[None]:
        """Mend damaged rows after an error that they may have caused; then the same request works again."""
        from sqlalchemy.exc import StatementError

        try:
            yield
        except (SettingError, DataError):
            raise
        except (Damaged, StatementError, *_DAMAGE):
            if said := self.mend():
                raise StoreOutOfReach(f"{said} Try again.") from None
            raise

    def mend(self) -> str:
        """Set damaged rows right or remove them; return a sentence, "" if there were none.

        Nothing is looked for again within `MEND_SECONDS`; the latest sentence is returned.
        """
        with self._mending_lock:
            if time.monotonic() - self._mended > MEND_SECONDS:
                self._found = ""
                try:
                    self._found = self._mend_now()
                finally:
                    self._mended = time.monotonic()
                if self._found:
                    self._tell(self._found)
            return self._found

    def _mend_now(self) -> str:
        sound, found, others = self._sound(), "", False
        try:
            with self.hiding_address(), self._connected() as connection, connection.begin():
                found = mend(connection, sound)
        except StoreOutOfReach as error:
            others = str(error) == UNSOUND  # other tables than it was made with, which SQLite finds sound
            if sound and not others:
                raise
        if sound and not others:
            return found
        said = found or REMADE if self._sound() and not others else self._salvage()
        if said:
            self.notice = self.notice.replace(UNSOUND, "").strip()
        return said or found

    def _tell(self, said: str) -> None:
        """Log a sentence and add it to the notice, each once."""
        if said not in self.notice:
            LOG.warning(said)
            self.notice = f"{self.notice} {said}".strip()

    def _connected(self) -> Connection:
        """Open a connection, or raise at once if the server failed to answer within the last `AWAY_SECONDS`.

        Otherwise every visitor would wait for the timeout in turn.
        """
        if time.monotonic() < self._away_until:
            raise StoreOutOfReach(self._away)
        self._follow_files()
        try:
            return self.engine.connect()
        except Exception as error:
            if self.file is None:
                self._away = self._sentence(getattr(error, "orig", None) or error)
                self._away_until = time.monotonic() + AWAY_SECONDS
            raise

    def _follow_files(self) -> None:
        """Prepare the file anew if another one replaced it, or if its log is gone."""
        if self.file is None or self._log is None:
            return
        log, replaced = _identity(self._log), _identity(self.file) != self._here
        if not replaced and log == self._logged and not self._index_lost():
            return
        with self._following:  # looks again: another thread may have done it
            log, replaced = _identity(self._log), _identity(self.file) != self._here
            self._lost |= any(theirs != log for theirs in list(self._open.values()))
            if log and not replaced and not self._lost:
                if log == self._logged and self._index_lost():
                    self._leave_index()
                self._hold_log()
            elif self._logged or replaced or self._lost:
                # one was moved away: what follows would go into a file without a name, or without tables
                if replaced:
                    self._leave_connections()
                else:
                    self._end_generation()
                found = prepare(self.engine, self.file, self._drop_old_log if replaced else None)
                self.notice = found or self.notice
                self._let_log_go()
                self._here, self._lost = _identity(self.file), False
                if replaced:
                    self._tell(REPLACED)

    def _index_lost(self) -> bool:
        """Return True if the index of the log that connections share is gone, or another one is there."""
        return self._indexed is not None and _identity(self._index) != self._indexed

    def _leave_index(self) -> None:
        """Close all connections to an index that is gone: others do not see what these write.

        The last one that closes would remove the log, with what only others know of. So another process has
        the file open meanwhile.
        """
        holding = [sys.executable, "-I", "-c", _HOLD, f"{cast(Path, self.file).as_uri()}?mode=rw"]
        with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            cast("IO[bytes]", other.stdout).readline()
            self._end_generation()
            with contextlib.closing(self.engine.raw_connection()):  # to the new index
                other.communicate()
        self._tell(INDEX_LOST)

    def _end_generation(self) -> None:
        """Close all connections, also used ones once they return. Wait for other programs if the log is lost.

        All connections to a file share an index of its log. A new one would look for frames of the lost log
        in the next log, so only a program that is alone begins it. Raises `StoreOutOfReach` if others stay;
        only the first request waits.
        """
        self._wait_until = min(self._wait_until, time.monotonic() + RETURN_SECONDS)
        while True:
            self._close_connections()
            if not self._open and (not self._lost or _identity(self._log) or self._alone()):
                self._wait_until = math.inf
                return
            if time.monotonic() > self._wait_until:
                raise StoreOutOfReach(f"{REMOVED} Try again in a moment. If it stays so, {_OTHERS}.")
            time.sleep(0.01)

    def _alone(self) -> bool:
        """Return True if nobody has the file open."""
        address = f"{cast(Path, self.file).as_uri()}?mode=rw"
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(address, timeout=0, uri=True)) as one,
        ):
            one.execute("PRAGMA locking_mode=EXCLUSIVE")
            one.execute("PRAGMA schema_version")
            return True
        return False

    def _leave_connections(self) -> None:
        """Leave the connections to a replaced file open for ever.

        The last one that closes removes the log by its name: the one that others write for the new file.
        """
        with self._lock:
            self._watch = None
            for connection in list(self._open):  # other threads open some meanwhile
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            self._open.clear()
        self.engine.dispose(close=False)

    def _hold_log(self) -> None:
        """Keep the log open: else a new file may get its inode, and be taken for the old log."""
        self._let_log_go()
        with contextlib.suppress(OSError):  # it may be gone by now
            self._held = os.open(str(self._log), os.O_RDONLY)
            found = os.fstat(self._held)
            self._logged, self._indexed = (found.st_dev, found.st_ino), _identity(self._index)

    def _let_log_go(self) -> None:
        held, self._held, self._logged, self._indexed = self._held, None, None, None
        if held is not None:
            os.close(held)

    def _drop_old_log(self) -> None:
        """Remove the log of a file that another one has replaced: SQLite would write it into that one.

        Only a log that was seen beside the old file: SQLite needs a log that other processes write to now.
        """
        if self.file and self._log and self._logged and _identity(self._log) == self._logged:
            self._log.unlink()
            self.file.with_name(f"{self.file.name}-shm").unlink(missing_ok=True)

    @contextlib.contextmanager
    def hiding_address(self) -> Iterator[None]:
        """Turn a database error into a sentence without its address, statement or values.

        Errors of our own, such as an invalid statement, pass unchanged.
        """
        from sqlalchemy.exc import DatabaseError, IntegrityError, InterfaceError, ProgrammingError

        try:
            yield
        except (IntegrityError, ProgrammingError):
            raise
        except (DatabaseError, InterfaceError, OSError) as error:
            cause = getattr(error, "orig", None) or error
            name = getattr(cause, "sqlite_errorname", "")
            if name == "SQLITE_ERROR" and not str(cause).startswith("no such "):
                raise
            if isinstance(cause, sqlite3.OperationalError) and not name:  # raised by Python, not by SQLite
                raise Damaged(self._sentence(cause)) from None
            if name.startswith(_REOPENED):
                self._close_connections()
            if name == "SQLITE_ERROR":  # the file describes other tables than it was made with
                self._tell(UNSOUND)
                raise StoreOutOfReach(UNSOUND) from None
            if name.startswith(_UNSOUND):
                self._tell(UNSOUND)
                raise Damaged(self._sentence(cause)) from None
            raise StoreOutOfReach(self._sentence(cause)) from None
        except UnicodeDecodeError:  # of SQLite's own message, which quotes a damaged name
            raise StoreOutOfReach(UNSOUND) from None

    def _sentence(self, cause: BaseException) -> str:
        name = str(getattr(cause, "sqlite_errorname", ""))
        if self.file is not None:
            why, remedy = _SQLITE.get(name, (str(cause), "see what is wrong with it"))
            return (
                f"The database of runs cannot be used: {why}. Who runs the app can {remedy}, or set "
                f"{ENVIRONMENT} to another file."
            )
        return (
            f"{self.kind.label} does not answer, or refuses what was asked ({type(cause).__name__}). Who "
            f"runs the app can see whether it runs, and what {ENVIRONMENT} says."
        )

    def check(self, rows: bool = True) -> str:
        """Let SQLite check its file, and mend damaged `rows`; return a sentence on what is wrong, or "".

        The whole file is read, by new connections, because open ones keep pages: 0.1 s for 330 MB. If it is
        not sound, rows and indexes are mended, and it is read again; then its rows go into a new file.
        """
        said = ""
        if self.file is not None:
            self._close_connections()
            sound = self._sound() and not self.unsound
            if not sound:
                self._mended, rows = -math.inf, True
                with contextlib.suppress(StoreOutOfReach):
                    said = self.mend()
                    sound = self._sound()
            self.notice = self.notice.replace(UNSOUND, "").strip()  # a copy may have been put back
            if not sound:
                self._tell(UNSOUND)
                return UNSOUND
            if said:  # the rows of a new file have not been looked at
                self._mended = -math.inf
        return f"{said} {self.mend() if rows else ''}".strip()

    @property
    def unsound(self) -> bool:
        """True if the latest check found that the file is not sound."""
        return UNSOUND in self.notice

    def _sound(self) -> bool:
        """Return True if SQLite finds no fault in its file, and its indexes match their tables."""
        from sqlalchemy.exc import DatabaseError

        if self.file is None:
            return True
        with self.hiding_address(), self._connected() as connection:
            try:
                connection.execution_options(reads=True)
                return bool(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one() == "ok")
            except DatabaseError as error:
                if getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_CORRUPT"):
                    return False
                raise

    def retry(
        self,
        work: Callable[[], Result],
        seconds: float,
        tell: Callable[[StoreOutOfReach], None] = lambda _: None,
    ) -> Result:
        """Call `work`, retrying on `StoreOutOfReach` up to `seconds`; report each error to `tell`."""
        deadline, pause = time.monotonic() + seconds, 0.1
        while True:
            try:
                return work()
            except StoreOutOfReach as error:
                tell(error)
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause * (1 + random.random()))
            pause = min(2.0, 2 * pause)

    def state(self) -> object:
        """Return a token that stays equal only while nothing is written to the database."""
        if self.file is None:
            with self.reading() as connection:
                return connection.exec_driver_sql("SELECT pg_current_snapshot()::text").scalar_one()
        with self.hiding_address():
            self._follow_files()
        with self.hiding_address(), self._lock:
            try:
                if self._watch is None:
                    self._watch = self.engine.raw_connection()
                with contextlib.closing(self._watch.cursor()) as cursor:
                    cursor.execute("PRAGMA data_version")  # rises when another connection commits
                    return self._watch, cursor.fetchone()
            except sqlite3.Error as error:
                if self._watch is not None:
                    self._watch.invalidate()
                    self._watch = None  # open a new one next time
                raise StoreOutOfReach(self._sentence(error)) from None

    def close(self) -> None:
        """Close the connections."""
        self._close_connections()
        self._let_log_go()

    def _close_connections(self) -> None:
        """Close all connections, those in use when they come back; the next request opens new ones.

        They have the rights and files of that time.
        """
        with self._lock:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
            # two threads here at once would leave a pool of a third one, whose connections nobody closes
            self.engine.dispose()


_DAMAGE = (TypeError, ValueError, LookupError, AttributeError, RecursionError)
"""What damaged values make other code raise."""
_REOPENED = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")
"""Errors after which an open connection does not recover, but a new one may."""
_UNSOUND = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
"""Errors by which SQLite says that its file is damaged."""
_SPACE = "free space there"
_RIGHTS = "see who may write to it and to its folder, and to its -wal and -shm files if there are any"
_COPY = "put a copy of it back, or move it away, so that a new one is made"
_OTHERS = "end other programs that use it"
_SQLITE = {
    "SQLITE_FULL": ("its disk is full", _SPACE),
    "SQLITE_READONLY": ("it may not be written to", _RIGHTS),
    "SQLITE_READONLY_DIRECTORY": ("its folder may not be written to", _RIGHTS),
    "SQLITE_CANTOPEN": ("it cannot be opened", _RIGHTS),
    "SQLITE_NOTADB": ("the file is not a database", _COPY),
    "SQLITE_CORRUPT": ("the file is damaged", _COPY),
    "SQLITE_BUSY": ("others write to it all the time", "see what they are"),
    "SQLITE_IOERR_WRITE": ("its disk cannot be written to", _SPACE),
    "SQLITE_IOERR_SHORT_READ": ("its -wal file was removed while it was in use", _OTHERS),
}
"""SQLite error name -> its cause in words, and the remedy."""
REPLACED = (
    "The database of runs was deleted or replaced while the app ran: the runs in it are gone. Who runs "
    "the app can put a copy of it back."
)
REMOVED = "The -wal file of the database of runs was removed while it was in use."
INDEX_LOST = (
    "The -shm file of the database of runs was removed while it was in use. The latest runs may be gone."
)
_HOLD = (
    "import sqlite3, sys; held = sqlite3.connect(sys.argv[1], uri=True); "
    "held.execute('SELECT count(*) FROM sqlite_master').fetchone(); print(flush=True); sys.stdin.read()"
)
"""A program that has the file open until its input ends."""
LOST = f"{REMOVED} The latest runs may be gone."
SALVAGED = (
    "The database of runs was damaged. A new file has all rows that can be read. The damaged one is {}."
)
REMADE = "The database of runs was damaged: indexes did not match their tables, and were made anew."
UNSOUND = "The database of runs is not sound: {}. Who runs the app can {}.".format(*_SQLITE["SQLITE_CORRUPT"])


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name; None if it is not there."""
    with contextlib.suppress(OSError):
        found = None if file is None else file.stat()
        return found and (found.st_dev, found.st_ino)
    return None


def _parsed(text: str) -> URL:
    """Parse an address or the path of a file."""
    from sqlalchemy import URL, make_url
    from sqlalchemy.exc import ArgumentError

    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    try:
        url = make_url(text)
        (url.host or "").encode("idna")
    except (ArgumentError, ValueError):  # a port that is no number, a host that no network can have
        raise StoreOutOfReach(f"{ENVIRONMENT} is neither a file nor an address of a database.") from None
    if url.get_backend_name() not in KINDS:
        raise StoreOutOfReach(
            f"{ENVIRONMENT} names a kind of database that is not one of {', '.join(KINDS)}."
        )
    if url.get_backend_name() == "sqlite" and not url.database:
        raise StoreOutOfReach(f"{ENVIRONMENT} names no file of SQLite.")
    return url


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    """Set write-ahead logging: readers never wait, and a commit does not wait for the disk.

    A system crash may lose the latest transactions, but never the database.
    """
    connection.isolation_level = None  # only _begin_at_once begins transactions
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA synchronous=NORMAL")
        with contextlib.suppress(sqlite3.OperationalError):  # a read-only file keeps its mode
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA schema_version")  # opens the log


def _begin_at_once(connection: Connection) -> None:
    """Take the write lock at the start: a transaction that has read may fail to get it later."""
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
