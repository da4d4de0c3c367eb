"""Damaged rows of a run store: find them, set them right or remove them.

A bad disk, a cut copy or another program may leave a value that no version of rankviz writes: text in a
column of numbers, text that is not UTF-8, JSON that cannot be parsed, a word that is not one of the few that
a column has, a reference to no row. One such value may cost its row, but no other one. Where an index does
not match its table, the table counts. PostgreSQL checks types, texts and references itself: only numbers
beyond their bounds, unknown words and missing values are mended there. Lists in texts that cannot be parsed
are empty there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    and_,
    cast,
    delete,
    exists,
    func,
    inspect,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from rankviz.common.errors import DataError
from rankviz.common.numbers import counted
from rankviz.runs.record import RunRecord
from rankviz.store.tables import (
    LATEST,
    MOST_BYTES,
    Number,
    families,
    is_spec_of,
    members,
    metadata,
    metric_sets,
    records,
    runs,
    unsealed,
)

_ROW: Any = literal_column("rowid")
"""SQLite's number of a row, whatever its key holds."""


def mend(connection: Connection, sound: bool = True) -> str:
    """Set damaged rows right, and remove the others; return a sentence on them, "" if there are none.

    A damaged value becomes NULL or its column's default where it has one; otherwise its row is removed,
    with the rows that belong to it. If SQLite's file is not `sound`, its indexes are made anew first.
    """
    reset, removed = Counter[str](), Counter[str]()
    here = inspect(connection).get_table_names()
    for table in metadata.sorted_tables:
        if not sound and table.name in here:
            removed[table.name] += _remake_indexes(connection, table)
    for table in metadata.sorted_tables:  # parents before their children
        if table.name not in here:  # a store of an earlier release
            continue
        if connection.dialect.name != "sqlite":
            reset[table.name] += _reset_values(connection, table)
            continue
        damaged = dict[Any, set[str]]()
        if not sound and table is metric_sets:  # a name may have become another one
            damaged |= {row: set() for row in connection.execute(select(metric_sets.c.id)).scalars()}
        for column in table.columns:
            for row in (*_unreadable(connection, column), *_orphans(connection, column)):
                damaged.setdefault(row, set()).add(column.name)
        if table is runs:
            for row in _changed(connection):
                damaged.setdefault(row, set()).add("spec")
        for row, names in damaged.items():
            if table is runs and names & _OF_RECORD and _restore_run(connection, row):
                names -= _OF_RECORD
                reset[table.name] += not names
            if table is metric_sets and _restore_names(connection, row):
                reset[table.name] += 1
            elif any(not _has_default(table.columns[name]) for name in names):
                _remove(connection, table, row)
                removed[table.name] += 1
            elif names:
                values = {name: _default(table.columns[name]) for name in names}
                connection.execute(update(table).where(row == _ROW).values(values))
                reset[table.name] += 1
    if removed[families.name] or reset[members.name]:
        from rankviz.store.studies import regroup  # which needs the database, which needs this

        regroup(connection)
    said = [_said(found, verb) for found, verb in ((removed, "removed"), (reset, "set right")) if +found]
    return f"The database of runs was damaged: {'; '.join(said)}." if said else ""


def _remake_indexes(connection: Connection, table: Table) -> int:
    """Make a table's indexes anew; return the number of rows removed, whose keys became those of others."""
    again, number = f'REINDEX "{table.name}"', 0
    try:
        connection.exec_driver_sql(again)
    except IntegrityError:
        connection.exec_driver_sql(
            "PRAGMA writable_schema=ON"
        )  # else SQLite removes no row that an index lacks
        try:
            for row in list(_repeated(connection, table)):
                _remove(connection, table, row)
                number += 1
        finally:
            connection.exec_driver_sql("PRAGMA writable_schema=OFF")
        connection.exec_driver_sql(again)
    return number


def _repeated(connection: Connection, table: Table) -> Iterator[Any]:
    """Yield the rows whose damaged key equals that of another row; the old index names the other row."""
    for one in table.constraints:
        if isinstance(one, PrimaryKeyConstraint | UniqueConstraint) and len(one.columns):
            same = " AND ".join(f'there."{column.name}" = here."{column.name}"' for column in one.columns)
            asked = f'SELECT 1 FROM "{table.name}" AS there WHERE {same} AND there.rowid != here.rowid'
            asked = f'SELECT here.rowid FROM "{table.name}" AS here NOT INDEXED WHERE EXISTS ({asked})'
            yield from connection.exec_driver_sql(asked).scalars()


def _restore_names(connection: Connection, row: int) -> bool:
    """Restore the names of a set of metrics from the record of one of its runs.

    Return False if no record can be read, or if the names are those of the record.
    """
    from rankviz.store.records import figures_of, metric_set  # which need the database, which needs this

    content = select(records.c.content).join(runs, runs.c.id == records.c.run).where(runs.c.metric_set == row)
    for found in connection.execute(content.limit(5)).scalars():
        with suppress(DataError):
            names = metric_set(connection, figures_of(RunRecord.from_bytes(found))["names"])
            connection.execute(update(runs).where(runs.c.metric_set == row).values(metric_set=names))
            return bool(
                connection.execute(delete(metric_sets).where(row == _ROW, metric_sets.c.id != names)).rowcount
            )
    return False


_OF_RECORD = {"spec", "metric_set", "means", "seconds", "status"}
"""Columns of a run that can be restored from its record."""


def _changed(connection: Connection) -> Iterator[int]:
    """Yield the runs whose spec, means, seconds or status are not those that were written."""
    texts = ("coalesce(stands_for, digest)", "spec", "status", "names", "means")
    stored = ", ".join(f"CAST({text} AS BLOB)" for text in texts)
    number = "CASE WHEN typeof(seconds) IN ('integer', 'real') THEN seconds END"
    together = "runs LEFT JOIN metric_sets ON metric_sets.id = metric_set"
    for row, seconds, *written, means in connection.exec_driver_sql(
        f"SELECT runs.id, {number}, {stored} FROM {together}"
    ):
        digest, spec, status, names = (text and text.decode(errors="replace") for text in written)
        is_whole = means is None or unsealed(means, names or "", seconds, status) is not None
        if not (is_whole and is_spec_of(spec or "", digest or "")):
            yield row


def _restore_run(connection: Connection, row: int) -> bool:
    """Restore a run's columns from its record; return False if that cannot be read, or is of another run."""
    from rankviz.store.records import figures_of, metric_set  # which need the database, which needs this

    content = connection.execute(select(records.c.content).where(records.c.run == row)).scalar()
    if isinstance(content, bytes):
        with suppress(DataError):
            record = RunRecord.from_bytes(content)
            digest, figures = record.spec.hash, figures_of(record)
            figures["metric_set"] = metric_set(connection, figures.pop("names"))
            own = update(runs).where(
                runs.c.id == row, func.coalesce(runs.c.stands_for, runs.c.digest) == digest
            )
            return bool(connection.execute(own.values(spec=record.spec.to_json(), **figures)).rowcount)
    return False


def _reset_values(connection: Connection, table: Table) -> int:
    """Set the values of a table right that PostgreSQL lets in; return how many.

    They are numbers beyond their bounds, also NaN; unknown words; NULL where another column needs a value.
    """
    number = 0
    for column in table.columns:
        wrong = list[Any]()
        if isinstance(column.type, Number):
            wrong.append(~column.between(0, LATEST))
        if "words" in column.info and _has_default(column):
            wrong.append(column.not_in(column.info["words"]))
        if "beside" in column.info:
            wrong.append(and_(column.is_(None), table.columns[column.info["beside"]].is_not(None)))
        if wrong:
            reset = update(table).where(or_(*wrong)).values({column.name: _default(column)})
            number += connection.execute(reset).rowcount
    return number


def _said(found: Counter[str], verb: str) -> str:
    rows = ", ".join(f"{counted(number, 'row')} of {name}" for name, number in found.items() if number)
    return f"{rows} {verb}"


def _has_default(column: Column[Any]) -> bool:
    return not column.primary_key and (
        column.nullable or bool(column.default or column.server_default or "instead" in column.info)
    )


def _default(column: Column[Any]) -> Any:
    """Return the value that stands for a lost one."""
    if "instead" in column.info:
        instead = column.info["instead"]
        return instead() if callable(instead) else instead
    if column.nullable:
        return None
    return column.default.arg if column.default is not None else column.type.python_type()  # type: ignore[attr-defined]


def _unreadable(connection: Connection, column: Column[Any]) -> Iterator[Any]:
    """Yield the rows whose value in this column is none that rankviz writes."""
    kind: Any = literal_column(f'typeof("{column.name}")')
    readable = _readable(column)
    beside = column.info.get("beside")
    needed: Any = literal_column(f'"{beside}" IS NOT NULL' if beside else "0")
    asked = select(_ROW, kind, _as_stored(column), needed).select_from(column.table)
    for row, found, value, is_needed in connection.execute(asked):
        if found == "null":
            if is_needed or not column.nullable:
                yield row
        elif found not in _KINDS[_family(column)] or not readable(value):
            yield row


def _as_stored(column: Column[Any]) -> Any:
    """Return a column without conversion, which would fail at the first damaged value; bytes are not read."""
    if _is_text(column):
        return cast(column, LargeBinary)
    if _family(column) == "blob":
        return literal_column("1")
    name = f'"{column.name}"'
    return literal_column(f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END")


_KINDS = {"text": ("text",), "number": ("real", "integer"), "whole": ("integer",), "blob": ("blob",)}
"""Family of a column -> SQLite's types of the values that rankviz writes."""


def _family(column: Column[Any]) -> str:
    if isinstance(column.type, LargeBinary):
        return "blob"
    if isinstance(column.type, Number):
        return "number"
    return "whole" if isinstance(column.type, Integer | Boolean) else "text"


def _is_text(column: Column[Any]) -> bool:
    return _family(column) == "text"


def _readable(column: Column[Any]) -> Callable[[Any], bool]:
    """Return the check of a column's values, beyond their type."""
    if _is_text(column):
        shape, known = column.info.get("json"), column.info.get("words")
        if known is not None:
            return lambda value: value in [word.encode() for word in known]
        if shape is None:
            return _is_utf8
        may_be_empty = column.default is not None or column.server_default is not None
        return lambda value: (may_be_empty and not value) or _is_json(value, shape)
    if isinstance(column.type, Boolean):
        return lambda value: value in (0, 1)
    if column is runs.c.size:
        return lambda value: 0 <= value <= MOST_BYTES
    if isinstance(column.type, Number):
        return lambda value: 0 <= value <= LATEST
    return lambda _: True


def _is_utf8(value: bytes) -> bool:
    try:
        return value.decode() is not None
    except UnicodeDecodeError:
        return False


def _is_json(value: bytes, shape: type) -> bool:
    try:
        found = json.loads(value)
        json.dumps(found, ensure_ascii=False).encode()  # fails for half of a surrogate pair
        return isinstance(found, shape)
    except (ValueError, RecursionError):
        return False


def _orphans(connection: Connection, column: Column[Any]) -> Iterator[Any]:
    """Yield the rows that refer to a row that is not there."""
    for key in column.foreign_keys:
        there = exists().where(key.column == column).correlate(column.table)
        asked: Any = select(literal_column(f'"{column.table.name}".rowid')).select_from(column.table)
        yield from connection.execute(asked.where(column.is_not(None), ~there)).scalars()


def _remove(connection: Connection, table: Table, row: Any) -> None:
    """Remove a row; references to it become NULL, or their rows go too."""
    for child in metadata.sorted_tables:
        for key in child.foreign_keys:
            if key.column.table is not table or key.ondelete is not None:
                continue
            named = select(key.column).where(row == _ROW).scalar_subquery()
            if key.parent.nullable:
                connection.execute(update(child).where(key.parent == named).values({key.parent.name: None}))
            else:
                connection.execute(delete(child).where(key.parent == named))
    connection.execute(delete(table).where(row == _ROW))
