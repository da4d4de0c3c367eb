"""Runs that were imported: each belongs to who imported it, and stands for no run of this store.

Whatever asks for a run by its spec looks for the spec's digest, sixteen hexadecimal digits. An imported run
has another key, which no spec has, and a state of its own: nobody is given it in place of a run.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, Select, and_, insert, select, update

from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.marks import add_tags, mark, set_marks
from rankviz.store.records import figures_of, metric_set
from rankviz.store.room import make_room, remove
from rankviz.store.rows import inserting
from rankviz.store.study import DONE, IMPORTED
from rankviz.store.tables import marks, metric_sets, records, runs, tags

AGREE = 1e-3
"""Means of metrics that differ by no more agree: another machine rounds otherwise."""


@dataclass(frozen=True)
class Brought:
    """A run of a file, checked, with its marks; `content` reads its record."""

    spec: RunSpec
    figures: dict[str, Any]
    content: Callable[[], bytes]
    size: int
    star: bool
    note: str
    tags: tuple[str, ...]

    @classmethod
    def of(cls, record: RunRecord, content: Callable[[], bytes], size: int, about: dict[str, Any]) -> Brought:
        """What is kept of a record; `about` has star, note and tags."""
        marks_ = about["star"], about["note"], tuple(about["tags"])
        return cls(record.spec, figures_of(record), content, size, *marks_)


@dataclass(frozen=True)
class Verdict:
    """What came of an imported run that was made here.

    Attributes
    ----------
    digest : str
        Of the run that was made here.
    agrees : bool
        Whether the imported figures are those of the run made here, which has then taken its place.
    sentence : str
    """

    digest: str
    agrees: bool
    sentence: str


class Imports:
    """The imported runs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, found: Iterable[Brought], owner: str) -> None:
        """Keep the runs of a file with their marks as this visitor's: all of them, or none.

        Raises `StoreError` where there is no room for them, `SettingError` for marks out of their bounds, and
        what reading a record raises.
        """
        brought = list(found)
        with self._database.writing() as connection:
            make_room(connection, owner, sum(one.size for one in brought))
            ids = [_kept(connection, one, owner) for one in brought]
            mark(connection, owner, ids, time.time())
            for run, one in zip(ids, brought, strict=True):
                if one.star:
                    set_marks(connection, owner, [run], star=True)
                if one.note:
                    set_marks(connection, owner, [run], note=one.note)
                add_tags(connection, owner, [run], one.tags)

    def opened(self, digest: str) -> RunRecord:
        """Return the record of an imported run; KeyError for none, `DataError` for a damaged one."""
        asked = select(records.c.content).join(runs, runs.c.id == records.c.run)
        with self._database.reading() as connection:
            own = runs.c.digest == digest, runs.c.state == IMPORTED
            content = connection.execute(asked.where(*own)).scalar()
        if content is None:
            raise KeyError(digest)
        return RunRecord.from_bytes(bytes(content))

    def compare(self, owner: str) -> list[Verdict]:
        """Compare a visitor's imported runs with those that were made here for them, each once.

        Where the means of all metrics agree to `AGREE`, the run that was made here takes the place of the
        imported one, with its marks. Where they do not, the imported run says so.
        """
        asked = _to_be_compared(owner)
        with self._database.reading() as connection:
            if connection.execute(asked.limit(1)).first() is None:
                return []
        with self._database.writing() as connection:
            return [_compared(connection, row, owner) for row in connection.execute(asked).all()]


def _kept(connection: Connection, one: Brought, owner: str) -> int:
    """The row of an imported run, which is made where there is none yet."""
    content = one.content()
    key = f"{owner}\n{one.spec.hash}\n".encode() + content
    digest = "i" + hashlib.blake2b(key, digest_size=8).hexdigest()[1:]
    there = select(runs.c.id).where(runs.c.digest == digest)
    found = connection.execute(there).scalar()
    if found is not None:
        return int(found)
    now, figures = time.time(), dict(one.figures)
    names = metric_set(connection, figures.pop("names"))
    values = {"spec": one.spec.to_json(), "state": IMPORTED, "stands_for": one.spec.hash, "reason": ""}
    values |= {"created": now, "ended": now, "metric_set": names, "size": len(content)} | figures
    new = inserting(connection, runs).values(digest=digest, **values).returning(runs.c.id)
    run = int(connection.execute(new).scalar_one())
    connection.execute(insert(records).values(run=run, content=content))
    return run


def _to_be_compared(owner: str) -> Select[Any]:
    """Imported runs that were not compared yet, with what was made here for the same visitor."""
    made, mine = runs.alias("made"), marks.alias("mine")
    own = and_(marks.c.run == runs.c.id, marks.c.owner == owner, marks.c.deleted.is_(None))
    ours = and_(mine.c.run == made.c.id, mine.c.owner == owner, mine.c.deleted.is_(None))
    return (
        select(runs.c.id, runs.c.spec, runs.c.metric_set, runs.c.means, marks.c.star, marks.c.note)
        .add_columns(made.c.id.label("made"), made.c.digest)
        .add_columns(made.c.metric_set.label("made_set"), made.c.means.label("made_means"))
        .add_columns(mine.c.star.label("made_star"), mine.c.note.label("made_note"))
        .join(made, and_(made.c.digest == runs.c.stands_for, made.c.state == DONE))
        .join(marks, own)
        .join(mine, ours)
        .where(runs.c.state == IMPORTED, runs.c.reason == "")
        .order_by(runs.c.id)
    )


def _compared(connection: Connection, row: Row[Any], owner: str) -> Verdict:
    theirs = _means(connection, row.metric_set, row.means)
    ours = _means(connection, row.made_set, row.made_means)
    gaps = {name: abs(value - ours[name]) for name, value in theirs.items() if name in ours}
    apart = [name for name, gap in gaps.items() if not gap <= AGREE]
    if gaps and not apart:
        _take_the_place(connection, row, owner)
        words = f"agree with those of the run made here to {AGREE:g}. That run takes its place."
        return Verdict(row.digest, True, f"Imported figures {words}")
    # told is the part that runs are judged by, where that differs
    worst = max(apart, key=lambda name: (name.startswith("vali:"), gaps[name]), default="")
    part, _, name = worst.partition(":")
    reason = (
        f"The run made here has {PART_NAMES[part]} {name} {ours[worst]:.4f}, not {theirs[worst]:.4f}."
        if worst
        else "The run made here has none of its metrics."
    )
    connection.execute(update(runs).where(runs.c.id == row.id).values(reason=reason))
    return Verdict(row.digest, False, f"Imported figures do not agree. {reason}")


def _take_the_place(connection: Connection, row: Row[Any], owner: str) -> None:
    """Give the marks of an imported run to the run that was made here, and remove it."""
    said = {"star": row.star or row.made_star, "note": row.made_note or row.note}
    set_marks(connection, owner, [row.made], **said)
    given = select(tags.c.tag).where(tags.c.owner == owner, tags.c.run == row.id).order_by(tags.c.tag)
    add_tags(connection, owner, [row.made], connection.execute(given).scalars().all(), as_many_as_may_be=True)
    remove(connection, [row.id])


def _means(connection: Connection, names: int, means: bytes) -> dict[str, float]:
    """Means of metrics by their names."""
    text = connection.execute(select(metric_sets.c.names).where(metric_sets.c.id == names)).scalar_one()
    return dict(zip(json.loads(text), np.frombuffer(means, "<f8").tolist(), strict=True))
