"""The run store: every run, the studies that requested them, and the queue of runs still to be made."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sqlalchemy import delete, select

from rankviz.runs.record import RunRecord
from rankviz.store.database import Database
from rankviz.store.exchange import Imports
from rankviz.store.listing import Listing
from rankviz.store.queue import Queue
from rankviz.store.records import Marks, Records
from rankviz.store.room import FOR_ALL, forget_studies
from rankviz.store.studies import Studies, insert_study
from rankviz.store.study import COMMON, Study
from rankviz.store.tables import marks, studies


class RunStore:
    """A database of runs.

    Parameters
    ----------
    url : str or path, optional
        A file of SQLite's, or the address of a PostgreSQL database. Default: RANKVIZ_STORE from the
        environment, or a file in the user's data folder.

    Attributes
    ----------
    studies : Studies
        Requests for runs and their status.
    queue : Queue
        Waiting and leased families.
    records : Records
        Results of runs.
    imports : Imports
        Runs made elsewhere.
    marks : Marks
        Stars, tags and notes of visitors.
    listing : Listing
        Tables of the runs that a visitor may see.

    Raises `StoreOutOfReach` if the database cannot be opened. A file of another version is renamed, and a
    new one begins; a log message and `database.notice` say so.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rankviz import RunSpec, execute
    >>> from rankviz.datasets import make_fold
    >>> from rankviz.store import RunStore
    >>> fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    >>> record = execute(RunSpec("made", digest=fold.digest, n_components=20), fold=fold)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RunStore(Path(folder) / "runs.sqlite")
    ...     store.records.keep([record], owner="me")
    ...     again = store.records.find([record.spec])[record.spec]
    ...     store.close()
    >>> bool((again.weights == record.weights).all())
    True
    """

    def __init__(self, url: str | os.PathLike[str] | None = None) -> None:
        self.database = Database(url)
        self.studies, self.queue = Studies(self.database), Queue(self.database)
        self.records, self.marks = Records(self.database), Marks(self.database)
        self.imports, self.listing = Imports(self.database), Listing(self.database)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()


def keep_for_all(store: RunStore, records: Sequence[RunRecord], title: str) -> None:
    """Keep records for all visitors, in place of the previous ones."""
    with store.database.writing() as connection:
        before = select(studies.c.id).where(studies.c.kind == COMMON)
        forget_studies(connection, connection.execute(before).scalars().all())
        connection.execute(delete(marks).where(marks.c.owner == FOR_ALL))
    store.records.keep(records, FOR_ALL)
    with store.database.writing() as connection:
        insert_study(connection, Study(FOR_ALL, title, COMMON), [record.spec for record in records])


def kept_for_all(store: RunStore, title: str) -> bool:
    """Return True if records are kept for all visitors under this title."""
    asked = select(studies.c.id).where(studies.c.kind == COMMON, studies.c.title == title)
    with store.database.reading() as connection:
        return connection.execute(asked).first() is not None
