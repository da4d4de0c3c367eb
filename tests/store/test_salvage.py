"""Rows of damaged files: one bit of a page's head or pointers costs at most the rows of a page."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from conftest_store import GRID

from rankviz import RunRecord, RunSpec
from rankviz.store import RunStore, StoreOutOfReach
from rankviz.store.salvage import INTERIOR, LEAF, Pages

PAGE = 4096
RUNS = 300


def rows_of(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, by SQLite."""
    with closing(sqlite3.connect(file)) as connection:
        asked = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = [name for (name,) in connection.execute(asked)]
        return {
            name: connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall() for name in names
        }


@pytest.fixture
def filled(tmp_path: Path, base: RunSpec, made: dict[RunSpec, RunRecord]) -> Path:
    """A closed file with a sweep and some records, each on several pages."""
    store = RunStore(tmp_path / "runs.sqlite")
    store.records.keep(made.values(), "me")
    store.studies.submit(GRID, [base.but(C=1.0 + number) for number in range(RUNS)])
    store.close()
    return tmp_path / "runs.sqlite"


def test_all_rows_are_read_as_sqlite_reads_them(filled: Path) -> None:
    pages, expected = Pages(filled.read_bytes(), PAGE, {}), rows_of(filled)
    with closing(sqlite3.connect(filled)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"))
    for name, rows in expected.items():
        numbered = name in (
            "runs",
            "families",
            "metric_sets",
            "records",
        )  # whose first column is the row's number
        found = sorted(pages.rows(roots[name]), key=lambda row: row[0])
        assert [(row, *values[1:]) if numbered else tuple(values) for row, values in found] == rows, name
    assert len(expected["runs"]) > RUNS
    assert list(pages.rows_of_no_tree()) != [], "the descriptions of the tables"


@pytest.mark.parametrize("seed", range(16))
def test_a_bit_of_a_pages_head_costs_at_most_its_rows(filled: Path, seed: int) -> None:
    whole, draw, content = rows_of(filled), random.Random(seed), bytearray(filled.read_bytes())
    heads = {number: 100 if number == 0 else 0 for number in range(len(content) // PAGE)}
    pages = Pages(bytes(content), PAGE, {})
    most = max(len([*pages._cells(pages[number + 1], number + 1)]) for number in heads)
    tables = [number for number, at in heads.items() if content[number * PAGE + at] in (INTERIOR, LEAF)]
    page = draw.choice(tables)
    content[page * PAGE + heads[page] + draw.randrange(16)] ^= 1 << draw.randrange(8)
    filled.write_bytes(content)
    store = RunStore(filled)
    said = store.database.check() + store.database.notice
    store.close()
    left = rows_of(filled)
    lost = {name: len(set(rows) - set(left[name])) for name, rows in whole.items()}
    if lost := {name: number for name, number in lost.items() if number}:
        assert "damaged" in said
    assert sum(lost.values()) <= most, lost
    assert not {name: rows for name, rows in left.items() if len(rows) > len(whole[name])}


@pytest.mark.parametrize(
    ("place", "value"), [(3, 0), (8, 0xFF), (12, 0xFF)], ids=["count", "last", "pointer"]
)
def test_pages_below_a_damaged_one_are_found(filled: Path, place: int, value: int) -> None:
    whole, content = rows_of(filled), bytearray(filled.read_bytes())
    interior = [at for at in range(PAGE, len(content), PAGE) if content[at] == INTERIOR]
    page = max(interior, key=lambda at: content[at + 4])
    assert content[page + 4] > 5
    content[page + place : page + place + 2] = bytes([value, value])
    filled.write_bytes(content)
    store = RunStore(filled)
    assert "A new file has" in store.database.check() + store.database.notice
    store.close()
    left = rows_of(filled)
    assert {name: len(rows) for name, rows in left.items()} == {
        name: len(rows) for name, rows in whole.items()
    }
    assert {name: set(rows) for name, rows in left.items()} == {
        name: set(rows) for name, rows in whole.items()
    }


def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    file, content = tmp_path / "runs.sqlite", random.Random(0).randbytes(20 * PAGE)
    file.write_bytes(content)
    with pytest.raises(StoreOutOfReach, match="not a database"):
        RunStore(file)
    assert file.read_bytes() == content
    assert {path.name for path in tmp_path.iterdir()} <= {"runs.sqlite", ".runs.sqlite.lock"}
