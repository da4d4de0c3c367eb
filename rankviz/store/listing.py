"""Tables of the runs that a visitor may see; the unchanging part of a run is read once.

See docs/decisions/0018-tables-of-runs.md.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from rankviz.common.arrays import FloatArray
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.study import DONE, IMPORTED
from rankviz.store.tables import (
    LOG,
    is_spec_of,
    marks,
    members,
    metric_sets,
    parse_object,
    parse_spec,
    parse_texts,
    rows_among,
    runs,
    studies,
    tags,
    unsealed,
)

ABOUT = ("state", "reason", "created", "ended", "own", "star", "note", "shared", "tags")
"""First columns; those of data and settings, `seconds` and metrics follow."""
KEPT_ROWS = 60_000
"""Most rows of all tables kept until the next write, together; most runs whose unchanging parts are kept."""
DATA = ("dataset", "fold", "normalisation", "method")
"""Columns of data, before those of settings by name."""


@dataclass(frozen=True)
class _Fixed:
    """The unchanging part of a finished run."""

    settings: dict[str, Any]
    seconds: float | None
    metric_set: int | None
    means: bytes | None


class _Which(NamedTuple):
    """Key of a run in one state: SQLite reuses the ids of removed runs."""

    id: int
    state: str
    digest: str
    ended: float | None


@dataclass(frozen=True)
class _Kept:
    """A table as last read, the state of the database then, and its columns that only new runs change."""

    state: object
    which: list[_Which]
    rest: pd.DataFrame
    table: pd.DataFrame


class Listing:
    """Tables of runs: index the digest, columns as `ABOUT`, then data and settings by name, then metrics.

    Metrics have names such as "vali:NDCG@10", and are means over the part's queries. Missing settings are
    None, missing metrics NaN. Safe among threads.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._fixed: dict[_Which, _Fixed] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._latest: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()

    def seen_by(self, owner: str) -> pd.DataFrame:
        """Return the runs that a visitor may see, the latest first: own ones and shared ones."""
        asked = _seen(_rows(), owner)
        return self._table(("seen", owner), asked.order_by(runs.c.id.desc()), owner)

    def has(self, method: str) -> bool:
        """Return False if no run at all can be of a method: quicker than a table."""
        asked = select(runs.c.id).where(runs.c.spec.contains(json.dumps(method), autoescape=True)).limit(1)
        with self._database.reading() as connection:
            return connection.execute(asked).first() is not None

    def seen_among(self, digests: Sequence[str], owner: str) -> dict[str, tuple[RunSpec, str]]:
        """Return spec and state by digest of those runs that a visitor may see, in the given order."""
        asked = _seen(select(runs.c.digest, runs.c.stands_for, runs.c.spec, runs.c.state), owner)
        with self._database.reading() as connection:
            rows = rows_among(connection, asked, runs.c.digest, dict.fromkeys(digests))
            parsed = {
                digest: (parse_spec(spec, stands_for or digest), str(state))
                for digest, stands_for, spec, state in rows
            }
        found = {digest: (spec, state) for digest, (spec, state) in parsed.items() if spec is not None}
        return {digest: found[digest] for digest in digests if digest in found}

    def every(self) -> pd.DataFrame:
        """Return all runs, the latest first: for users who may read the database itself."""
        asked = _rows().join(marks, _own(""), isouter=True).order_by(runs.c.id.desc())
        return self._table(("every",), asked, "")

    def of_studies(self, wanted: Sequence[str]) -> pd.DataFrame:
        """Return the runs of studies in their order, as `every`."""
        asked = _rows().join(members, members.c.run == runs.c.id).join(marks, _own(""), isouter=True)
        places = members.c.study, members.c.position
        asked = asked.where(members.c.study.in_(wanted)).order_by(*places)
        return self._table(("studies", *wanted), asked, "")

    def specs(self, digests: Sequence[str]) -> list[RunSpec]:
        """Return the specs of existing runs, in the order of the digests."""
        asked = select(runs.c.digest, runs.c.stands_for, runs.c.spec)
        with self._database.reading() as connection:
            rows = rows_among(connection, asked, runs.c.digest, digests)
            found = {digest: parse_spec(text, stands_for or digest) for digest, stands_for, text in rows}
        return [spec for digest in digests if (spec := found.get(digest)) is not None]

    def deleted_by(self, owner: str) -> pd.DataFrame:
        """Return the runs that a visitor deleted and may restore, the latest first."""
        asked = _rows().join(marks, _own(owner)).where(marks.c.deleted.is_not(None))
        asked = asked.order_by(marks.c.deleted.desc(), runs.c.id.desc())
        return self._table(("deleted", owner), asked, owner)

    def of_study(self, study: str, owner: str) -> pd.DataFrame:
        """Return a study's runs in their order; empty if the visitor may not see it, or it was deleted."""
        seen = and_(or_(studies.c.owner == owner, studies.c.shared), studies.c.deleted.is_(None))
        asked = (
            _rows()
            .join(members, members.c.run == runs.c.id)
            .join(studies, studies.c.id == members.c.study)
            .join(marks, _own(owner), isouter=True)
            .where(members.c.study == study, seen)
        )
        return self._table(("study", study, owner), asked.order_by(members.c.position), owner)

    def _table(self, key: tuple[str, ...], asked: Select[Any], owner: str) -> pd.DataFrame:
        """Return a table as last read, if nothing has been written to the database since."""
        state = self._database.state()  # before reading: a write meanwhile makes the table be read again
        with self._lock:
            known = self._latest.get(key)
        if known is None or known.state != state:
            try:
                known = self._read(state, asked, owner, known)
            except Exception:
                self._fixed.clear()  # damaged values are mended in the database: read them again
                self._names.clear()
                raise
        with self._lock:
            self._latest[key] = known
            self._latest.move_to_end(key)
            while len(self._latest) > 1 and sum(len(one.table) for one in self._latest.values()) > KEPT_ROWS:
                self._latest.popitem(last=False)
        return known.table.copy(deep=False)  # so that callers may change theirs

    def _read(self, state: object, asked: Select[Any], owner: str, before: _Kept | None) -> _Kept:
        with self._database.reading() as connection:
            rows = connection.execute(asked).all()
            given = _tags(connection, owner)
            about = _columns(rows, list(asked.selected_columns.keys()))
            which = [_Which(row.id, row.state, row.digest, row.ended) for row in rows]
            same = before is not None and before.which == which
            rest = before.rest if before and same else self._rest(connection, which)
        about["own"] = about["own"].notna()
        for name in ("star", "shared"):
            about[name] = about[name].fillna(False).astype(bool)
        about["note"] = about["note"].fillna("")
        about["tags"] = [given.get(number, ()) for number in about["id"]]
        table = pd.concat([about[list(ABOUT)].set_index(rest.index), rest], axis=1)
        return _Kept(state, which, rest, table)

    def _rest(self, connection: Connection, which: Sequence[_Which]) -> pd.DataFrame:
        """Return settings, seconds and metrics, unchanged while no run changes its state."""
        index = pd.Index([one.digest for one in which], name="run", dtype="str")
        fixed = self._fixed_of(connection, which)
        names = self._metric_names(connection, {one.metric_set for one in fixed})
        seconds = [np.nan if one.seconds is None else one.seconds for one in fixed]
        parts = [
            _settings([one.settings for one in fixed], index),
            pd.DataFrame({"seconds": np.array(seconds, np.float64)}, index),
            _metrics(fixed, names, index),
        ]
        return pd.concat(parts, axis=1)

    def _fixed_of(self, connection: Connection, wanted: Sequence[_Which]) -> list[_Fixed]:
        """Return the unchanging parts of runs; keep those of runs with records."""
        with self._lock:
            found = {one: self._fixed[one] for one in wanted if one in self._fixed}
        new, missing = dict[_Which, _Fixed](), {one.id: one for one in wanted if one not in found}
        asked = select(
            runs.c.id,
            runs.c.digest,
            runs.c.stands_for,
            runs.c.spec,
            runs.c.seconds,
            runs.c.status,
            runs.c.metric_set,
            runs.c.means,
        )
        rows = list(rows_among(connection, asked, runs.c.id, missing))
        sets = {row.metric_set for row in rows} - {None}
        names = self._metric_names(connection, sets)
        texts = {number: json.dumps(names[number]) for number in sets}
        for row in rows:
            means = row.means and unsealed(row.means, texts.get(row.metric_set, ""), row.seconds, row.status)
            if not is_spec_of(row.spec, row.stands_for or row.digest) or (row.means and means is None):
                self._report_damage(f"run {row.digest}")
            new[missing[row.id]] = _Fixed(_flat(row.spec), row.seconds, row.metric_set, means)
        with self._lock:
            recorded = {one for one in new if one.state in (DONE, IMPORTED) and new[one].means}
            self._fixed |= {one: new[one] for one in recorded}
            for old in list(islice(self._fixed, max(0, len(self._fixed) - KEPT_ROWS))):
                del self._fixed[old]
        found |= new
        return [found[one] for one in wanted]

    def _metric_names(self, connection: Connection, wanted: set[int | None]) -> dict[int, tuple[str, ...]]:
        """Return the names of metrics by set."""
        missing = wanted - self._names.keys() - {None}
        if missing:
            asked = select(metric_sets.c.id, metric_sets.c.names).where(metric_sets.c.id.in_(missing))
            self._names |= {number: self._parsed(text) for number, text in connection.execute(asked)}
        return self._names

    def _parsed(self, text: str) -> tuple[str, ...]:
        """Parse a list of names; a damaged one is empty."""
        if not (found := parse_texts(text)) and text != "[]":
            self._report_damage(f"names of metrics {text!r:.100}")
        return found

    def _report_damage(self, what: str) -> None:
        """Raise ValueError for SQLite, whose rows are then mended; only log it for PostgreSQL."""
        if self._database.file is not None:
            raise ValueError(what)
        LOG.warning("The database of runs is damaged: %s", what)


def _rows() -> Select[Any]:
    return select(
        runs.c.id,
        runs.c.digest,
        runs.c.state,
        runs.c.reason,
        runs.c.created,
        runs.c.ended,
        marks.c.run.label("own"),
        marks.c.star,
        marks.c.note,
        marks.c.shared,
    )


def _seen(asked: Select[Any], owner: str) -> Select[Any]:
    """Limit a query to the runs that a visitor may see."""
    there = and_(marks.c.run.is_not(None), marks.c.deleted.is_(None))
    shown = or_(runs.c.id.in_(_shared_by_others(owner)), runs.c.id.in_(_of_shared_studies(owner)))
    others = and_(marks.c.run.is_(None), runs.c.state != IMPORTED, shown)
    return asked.join(marks, _own(owner), isouter=True).where(or_(there, others))


def _own(owner: str) -> ColumnElement[bool]:
    return and_(marks.c.run == runs.c.id, marks.c.owner == owner)


def _shared_by_others(owner: str) -> Select[Any]:
    theirs = marks.alias()
    return select(theirs.c.run).where(theirs.c.shared, theirs.c.owner != owner, theirs.c.deleted.is_(None))


def _of_shared_studies(owner: str) -> Select[Any]:
    shared = studies.c.shared, studies.c.owner != owner, studies.c.deleted.is_(None)
    return select(members.c.run).join(studies, studies.c.id == members.c.study).where(*shared)


def _tags(connection: Connection, owner: str) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    asked = select(tags.c.run, tags.c.tag).where(tags.c.owner == owner).order_by(tags.c.tag)
    for run, tag in connection.execute(asked):
        found[run] = (*found.get(run, ()), tag)
    return found


def _flat(spec: str) -> dict[str, Any]:
    """Return data and settings of a spec by name; {} if unreadable."""
    values = parse_object(spec)
    if not all(isinstance(values.get(name), dict) for name in ("data", "settings")):
        return {}
    flat: dict[str, Any] = values["data"] | {"method": values.get("method")} | values["settings"]
    return flat


def _columns(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pd.DataFrame:
    """Return rows as columns; pandas alone would inspect every row."""
    columns = [list(values) for values in zip(*rows, strict=True)] or [[] for _ in names]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _settings(found: Sequence[dict[str, Any]], index: pd.Index[Any]) -> pd.DataFrame:
    kinds = set(map(tuple, found))  # few, whatever the number of runs
    names = sorted({name for kind in kinds for name in kind} - {*DATA, "digest"})
    columns = {name: _column([values.get(name) for values in found]) for name in (*DATA, *names)}
    return pd.DataFrame(columns, index=index)


def _column(values: list[Any]) -> pd.Series[Any]:
    """Return values of one type as that type, mixed ones as objects."""
    one = len(set(map(type, values))) == 1
    return pd.Series(values, dtype=None if one else object).array  # type: ignore[return-value]


def _metrics(
    found: Iterable[_Fixed], names: dict[int, tuple[str, ...]], index: pd.Index[Any]
) -> pd.DataFrame:
    """Return means of metrics, one column per name in any set."""
    held = list(found)
    used = sorted({one.metric_set for one in held if one.metric_set is not None})
    columns = list(dict.fromkeys(name for number in used for name in names[number]))
    values: FloatArray = np.full((len(held), len(columns)), np.nan)
    for number in used:
        places = [columns.index(name) for name in names[number]]
        whole = 8 * len(places)  # bytes; damaged means are missing
        rows = [
            row for row, one in enumerate(held) if one.metric_set == number and len(one.means or b"") == whole
        ]
        block = np.frombuffer(b"".join(held[row].means or b"" for row in rows), "<f8")
        values[np.ix_(rows, places)] = block.reshape(len(rows), len(places))
    return pd.DataFrame(values, index=index, columns=columns)
