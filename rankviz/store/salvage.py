"""Rows of a damaged SQLite file, read without SQLite: it refuses a whole table for one bit of a page's head.

The pages of a table are a tree. Rows are in its leaves, as cells with their number and values (SQLite's
documentation, "Database File Format", sections 1.6 and 2.1). What does not fit this format is passed over,
so a damaged cell costs a row, and a damaged head at most the rows of its page.
"""

from __future__ import annotations

import mmap
import os
import secrets
import sqlite3
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

INTERIOR, LEAF = 5, 13
"""First byte of a page of a table."""
_WHOLE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of whole numbers by their type in a row."""
Row = tuple[int, list[Any]]
"""Number and values of a row."""
_MISFITS = (IndexError, ValueError, struct.error)


class Pages:
    """The pages of a file with its log: bytes by number, from 1."""

    def __init__(self, content: bytes | mmap.mmap, size: int, later: Mapping[int, bytes]) -> None:
        self._content, self.size, self._later = content, size, later
        self.number = max(len(content) // size, *later, 0)
        self._free, self._used = self._free_pages(), set[int]()

    def __getitem__(self, number: int) -> bytes:
        """Return a page. Raises IndexError for a number that no page has."""
        if not 1 <= number <= self.number:
            raise IndexError(number)
        return self._later.get(number) or self._content[(number - 1) * self.size : number * self.size]

    def _free_pages(self) -> set[int]:
        """Return the pages that no table uses: they may have rows that were deleted."""
        free = set[int]()
        with suppress(*_MISFITS):
            trunk = int.from_bytes(self[1][32:36], "big")
            while trunk and trunk not in free:
                count = int.from_bytes(self[trunk][4:8], "big")
                free |= {trunk, *struct.unpack(f">{count}I", self[trunk][8 : 8 + 4 * count])}
                trunk = int.from_bytes(self[trunk][:4], "big")
        return free

    def rows_of_no_tree(self) -> Iterator[Row]:
        """Yield the rows of pages that no tree read so far has: a page above them is damaged."""
        for number in range(2, self.number + 1):
            if number not in self._used | self._free and self[number][0] == LEAF:
                yield from self._cells(self[number], number)

    def rows(self, root: int) -> Iterator[Row]:
        """Yield number and values of each row of the table whose tree begins at page `root`."""
        seen, left = set[int](), [root] if root <= self.number else []
        while left:
            number = left.pop()
            if number in seen:
                continue
            seen.add(number)
            self._used.add(number)
            page = self[number]
            cells = list(self._cells(page, number))
            below = [child for child in self._children(page, number) if self._is_of_table(child)]
            is_leaf = page[_head(number)] == LEAF if cells and below else bool(cells)
            if is_leaf:
                yield from cells
            else:
                left += below

    def _is_of_table(self, number: int) -> bool:
        used = 1 < number <= self.number and number not in self._free
        return used and self[number][0] in (INTERIOR, LEAF)

    def _pointers(self, page: bytes, number: int, head: int) -> Iterator[int]:
        """Yield where the cells of a page begin; `head` is the length of its own head."""
        at = _head(number)
        count = int.from_bytes(page[at + 3 : at + 5], "big")
        for place in range(at + head, min(at + head + 2 * count, len(page) - 1), 2):
            yield int.from_bytes(page[place : place + 2], "big")

    def _children(self, page: bytes, number: int) -> Iterator[int]:
        """Yield the pages below a page, which may be no interior one."""
        for pointer in (_head(number) + 8, *self._pointers(page, number, 12)):
            yield int.from_bytes(page[pointer : pointer + 4], "big")

    def _cells(self, page: bytes, number: int) -> Iterator[Row]:
        """Yield the rows of a page, which may be no leaf."""
        for pointer in self._pointers(page, number, 8):
            with suppress(*_MISFITS):
                length, at = _varint(page, pointer)
                row, at = _varint(page, at)
                yield row, _values(self._payload(page, at, length))

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """Return the bytes of a row; those that do not fit are on a chain of other pages."""
        usable, most = self.size, self.size - 35
        if length > self.number * self.size:
            raise ValueError("a row is longer than the file")
        if length <= most:
            return _exactly(page[at : at + length], length)
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        parts, left = [_exactly(page[at : at + here], here)], length - here
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        while left > 0:
            further = self[following]
            parts.append(further[4 : 4 + left])
            left -= usable - 4
            following = int.from_bytes(further[:4], "big")
        return _exactly(b"".join(parts), length)


def _head(number: int) -> int:
    """Return where the head of a page is: the first one begins with that of the file."""
    return 100 if number == 1 else 0


def _exactly(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise ValueError("a row is cut off")
    return data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    number = 0
    for place in range(at, at + 8):
        number = number << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return number, place + 1
    return number << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> list[Any]:
    """Return the values of a row. Raises ValueError for bytes that are none."""
    end, at = _varint(payload, 0)
    kinds, values, place = list[int](), list[Any](), end
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    for kind in kinds:
        if kind in (10, 11):
            raise ValueError("no value has this type")
        length = 8 if kind == 7 else _WHOLE.get(kind, 0) if kind < 12 else (kind - 12) // 2
        values.append(_value(kind, _exactly(payload[place : place + length], length)))
        place += length
    if at != end or place != len(payload):
        raise ValueError("a row has other bytes than its head says")
    return values


def _value(kind: int, data: bytes) -> Any:
    if kind >= 12:
        return _text(data) if kind % 2 else data
    if kind == 7:
        return struct.unpack(">d", data)[0]
    return {0: None, 8: 0, 9: 1}[kind] if kind not in _WHOLE else int.from_bytes(data, "big", signed=True)


def _text(data: bytes) -> str | bytes:
    """Return a text; bytes if it is damaged, so that it is noticed."""
    with suppress(UnicodeDecodeError):
        return data.decode()
    return data


def salvage(
    file: Path,
    later: Callable[[int], Mapping[int, bytes]],
    create: Callable[[Path], object],
    set_aside: Callable[[], Path],
) -> str:
    """Put a new file with all rows that can be read in the place of a damaged one.

    `later` returns the pages of the log, of a size in bytes. `create` makes a file with the same empty
    tables. `set_aside` renames the damaged file, removes its log, and returns its new name, which is
    returned. Returns "" and changes nothing if no row can be read, or the new file is not sound.
    """
    copy = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        create(copy)
        with (
            closing(sqlite3.connect(copy)) as new,
            file.open("rb") as old,
            mmap.mmap(old.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            (size,) = new.execute("PRAGMA page_size").fetchone()
            found = _copied(Pages(content, size, later(size)), _roots(file), new)
            new.commit()
            sound = new.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        if not found or not sound:
            return ""
        kept = set_aside()
        os.replace(copy, file)
        return kept.name
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            copy.with_name(f"{copy.name}{end}").unlink(missing_ok=True)


def _copied(pages: Pages, named: Mapping[str, int], new: sqlite3.Connection) -> int:
    """Copy the rows of all tables, whose roots are as `named` or as in the new file; return how many."""
    tables, number = _tables(new), 0
    list(pages.rows(1))  # those of the tables' descriptions belong to no table
    for name, (usual, are_rows) in tables.items():
        trees = {
            root: partial(_of_width, pages, root, len(are_rows)) for root in (usual, named.get(name, usual))
        }
        rows = max(trees.values(), key=lambda tree: sum(1 for _ in tree()))()
        if (first := next(rows, None)) is not None:
            new.execute(f'DELETE FROM "{name}"')
            copied = _fill(new, name, are_rows, chain([first], rows))
            number += copied if name != "schema_version" else 0  # that is in an empty file too
    widths = Counter(len(are_rows) for _, are_rows in tables.values())
    alone = {
        len(are_rows): (name, are_rows)
        for name, (_, are_rows) in tables.items()
        if widths[len(are_rows)] == 1
    }
    for row in pages.rows_of_no_tree():
        if (table := alone.get(len(row[1]))) is not None:
            number += _fill(new, *table, [row])
    return number


def _of_width(pages: Pages, root: int, width: int) -> Iterator[Row]:
    return (row for row in pages.rows(root) if len(row[1]) == width)


def _tables(connection: sqlite3.Connection) -> dict[str, tuple[int, list[bool]]]:
    """Return the root of each table, and for each column if it is the number of the row."""
    asked = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    tables = dict[str, tuple[int, list[bool]]]()
    for name, root in connection.execute(asked).fetchall():
        columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        keys = [column[2] for column in columns if column[5]]
        tables[name] = root, [column[5] > 0 and keys == ["INTEGER"] for column in columns]
    return tables


def _roots(file: Path) -> dict[str, int]:
    """Return the roots of the tables as the damaged file names them; {} if that is damaged."""
    address = f"{file.as_uri()}?mode=ro"
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(address, uri=True)) as old:
        return dict(old.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"))
    return {}


def _fill(new: sqlite3.Connection, name: str, are_rows: list[bool], rows: Iterable[Row]) -> int:
    """Insert rows into a table, and return how many."""
    number = 0
    for row, values in rows:
        own = [row if is_row else value for is_row, value in zip(are_rows, values, strict=True)]
        with suppress(sqlite3.Error):  # such as a number twice, or NULL where none may be
            new.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(own))})', own)
            number += 1
    return number
