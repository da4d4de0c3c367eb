"""Migrates a database to this code's version, by the steps in `migrations/versions`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankviz.store.database import one_at_a_time
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.tables import HEAD

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, Engine

MIGRATIONS = Path(__file__).with_name("migrations")


def bring_up_to_date(engine: Engine) -> None:
    """Make the tables, or upgrade older ones; do nothing if they are current.

    Raises `StoreOutOfReach` if a later version of rankviz made them.
    """
    with engine.connect().execution_options(reads=True) as connection:
        if version(connection) == HEAD:
            return
    with engine.begin() as connection:
        one_at_a_time(connection)
        found = version(connection)  # another process may have upgraded it meanwhile
        if found != HEAD:
            _upgrade(connection, found)


def version(connection: Connection) -> str | None:
    """Return the version of the tables; None if there are none."""
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection, found: str | None) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = configuration(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreOutOfReach(
            f"The database of runs was made by a later version of rankviz ({found}; this one reads {HEAD}). "
            "Install that version, or set RANKVIZ_STORE to another database."
        )
    command.upgrade(config, "head")


def configuration(connection: Connection) -> Config:
    """Return Alembic's configuration for our steps, on an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
