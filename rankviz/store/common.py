"""Runs kept for all visitors, for the figures that pages open with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from rankviz.runs.record import RunRecord
from rankviz.store.room import FOR_ALL, forget_studies
from rankviz.store.runs import RunStore
from rankviz.store.studies import add
from rankviz.store.study import COMMON, Study
from rankviz.store.tables import marks, studies


def keep_for_all(store: RunStore, records: Sequence[RunRecord], title: str) -> None:
    """Keep records for all visitors, in place of the previous ones."""
    with store.database.writing() as connection:
        before = select(studies.c.id).where(studies.c.kind == COMMON)
        forget_studies(connection, connection.execute(before).scalars().all())
        connection.execute(delete(marks).where(marks.c.owner == FOR_ALL))
    store.records.keep(records, FOR_ALL)
    with store.database.writing() as connection:
        add(connection, Study(FOR_ALL, title, COMMON), [record.spec for record in records])


def kept_for_all(store: RunStore, title: str) -> bool:
    """Return True if records are kept for all visitors under this title."""
    asked = select(studies.c.id).where(studies.c.kind == COMMON, studies.c.title == title)
    with store.database.reading() as connection:
        return connection.execute(asked).first() is not None
