"""What visitors have to do with runs: whose they are, stars, tags, notes, who sees them, which are gone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, select, update

from rankviz.store.database import Database
from rankviz.store.rows import in_portions, inserting, known
from rankviz.store.tables import marks, tags

TAG_LENGTH = 80


def mark(connection: Connection, owner: str, ids: Sequence[int], now: float) -> None:
    """Note that runs are a visitor's too; those that they had deleted are there again."""
    table = inserting(connection, marks)
    shown = table.on_conflict_do_update(index_elements=["owner", "run"], set_={"deleted": None})
    rows = [
        {"owner": owner, "run": run, "since": now, "star": False, "note": "", "shared": False} for run in ids
    ]
    for portion in in_portions(rows):
        connection.execute(shown, list(portion))


class Marks:
    """What visitors say of runs; each knows their own only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def star(self, owner: str, digests: Iterable[str], star: bool = True) -> None:
        """Give runs a star, or take it away."""
        self._set(owner, digests, star=star)

    def note(self, owner: str, digests: Iterable[str], note: str) -> None:
        """Write down what is to be remembered of runs."""
        self._set(owner, digests, note=note)

    def share(self, owner: str, digests: Iterable[str], shared: bool = True) -> None:
        """Have others see runs, or no longer."""
        self._set(owner, digests, shared=shared)

    def delete(self, owner: str, digests: Iterable[str]) -> None:
        """Show runs no more, until `restore`."""
        self._set(owner, digests, deleted=time.time())

    def restore(self, owner: str, digests: Iterable[str]) -> None:
        """Show runs again that were deleted."""
        self._set(owner, digests, deleted=None)

    def tag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Give runs a tag; ValueError for one that is empty, or longer than `TAG_LENGTH`."""
        tag = tag.strip()
        if not 0 < len(tag) <= TAG_LENGTH:
            raise ValueError(f"a tag has from 1 to {TAG_LENGTH} characters")
        with self._database.writing() as connection:
            ids = list(_own(connection, owner, list(digests)).values())
            new = inserting(connection, tags).on_conflict_do_nothing()
            for portion in in_portions([{"owner": owner, "run": run, "tag": tag} for run in ids]):
                connection.execute(new, list(portion))

    def untag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Take a tag from runs."""
        with self._database.writing() as connection:
            for portion in in_portions(list(known(connection, list(digests)).values())):
                which = tags.c.run.in_(portion), tags.c.owner == owner, tags.c.tag == tag
                connection.execute(delete(tags).where(*which))

    def _set(self, owner: str, digests: Iterable[str], **values: object) -> None:
        with self._database.writing() as connection:
            for portion in in_portions(list(known(connection, list(digests)).values())):
                which = marks.c.run.in_(portion), marks.c.owner == owner
                connection.execute(update(marks).where(*which).values(**values))


def _own(connection: Connection, owner: str, digests: Sequence[str]) -> dict[str, int]:
    """Of these runs those that a visitor has marks of."""
    found = known(connection, digests)
    held: set[int] = set()
    for portion in in_portions(list(found.values())):
        held |= set(
            connection.execute(
                select(marks.c.run).where(marks.c.owner == owner, marks.c.run.in_(portion))
            ).scalars()
        )
    return {digest: run for digest, run in found.items() if run in held}
