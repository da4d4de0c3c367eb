"""The database is brought to the version of this code, from every earlier one, and from no later one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from conftest_store import GRID
from sqlalchemy import text

from rankviz import RunRecord, RunSpec
from rankviz.store import RunStore, StoreOutOfReach
from rankviz.store.migrate import MIGRATIONS, bring_up_to_date, configuration, version
from rankviz.store.tables import HEAD, metadata

STEPS = [script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]


def test_the_last_step_is_the_version_of_the_code() -> None:
    assert STEPS[-1] == HEAD


def test_the_steps_make_the_tables_that_the_code_has(store: RunStore) -> None:
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize("earlier", STEPS)
def test_what_an_earlier_version_kept_is_there_after_all_steps(
    store: RunStore, made: dict[RunSpec, RunRecord], earlier: str
) -> None:
    """The tables of an earlier version, with a row in each that it had, become those of today."""
    engine = store.database.engine
    metadata.drop_all(engine)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        command.upgrade(configuration(connection), earlier)
    with engine.begin() as connection:
        assert version(connection) == earlier
        for statement in KEPT[earlier]:
            connection.execute(text(statement), {"content": next(iter(made.values())).to_bytes()})
    bring_up_to_date(engine)
    with engine.connect() as connection:
        assert version(connection) == HEAD
        counts = {
            name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar()
            for name in ("runs", "records", "studies", "members", "marks", "tags")
        }
        assert connection.execute(text("SELECT size = length(content) FROM runs, records")).scalar()
    assert set(counts.values()) == {1}
    assert store.records.content("0123456789abcdef") == next(iter(made.values())).to_bytes()


FIRST = (
    "INSERT INTO studies (id, owner, title, kind, design, roots, asked, tries, threads, shared, note,"
    " created) VALUES ('s', 'me', 'a grid', 'sweep', '{}', '[]', 'running', 3, 1, false, '', 1.0)",
    "INSERT INTO runs (id, digest, spec, state, reason, created)"
    " VALUES (1, '0123456789abcdef', '{}', 'done', '', 1.0)",
    "INSERT INTO records (run, content) VALUES (1, :content)",
    "INSERT INTO families (id, study, done, waits, attempts, progress) VALUES (1, 's', true, 1.0, 0, '')",
    "INSERT INTO members (study, position, run, family) VALUES ('s', 0, 1, 1)",
    "INSERT INTO marks (owner, run, since, star, note, shared) VALUES ('me', 1, 1.0, true, 'x', false)",
    "INSERT INTO tags (owner, run, tag) VALUES ('me', 1, 'best')",
)
SECOND = (
    *FIRST,
    "UPDATE studies SET background = false, seconds = 9.0, worked = 1.0, changed = 2.0, reason = 'why'",
    "UPDATE runs SET size = (SELECT length(content) FROM records)",
)
THIRD = (*SECOND, "UPDATE studies SET place = 'tasks'")
FOURTH = (*THIRD, "UPDATE runs SET stands_for = '0'")
KEPT = {"0001": FIRST, "0002": SECOND, "0003": THIRD, "0004": FOURTH}
"""Of every version, statements that fill its tables as it would have. A new step adds its own."""


def test_a_database_of_a_later_version_is_left_alone(store: RunStore) -> None:
    with store.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreOutOfReach, match="later version of rankviz"):
        RunStore(store.database.address)


def test_several_processes_may_open_an_empty_database_at_once(address: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: RunStore(address), range(4)))
    assert [store.studies.of("me") for store in stores] == [[]] * 4
    for store in stores:
        store.close()


def test_a_study_can_be_made_on_a_migrated_database(store: RunStore, specs: list[RunSpec]) -> None:
    assert store.studies.status(store.studies.submit(GRID, specs)).total == len(specs)
