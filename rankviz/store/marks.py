"""What visitors have to do with runs: whose they are, stars, tags, notes, who sees them, which are gone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, delete, exists, select, update

from rankviz.common.errors import SettingError
from rankviz.store.database import Database
from rankviz.store.rows import in_portions, inserting, known
from rankviz.store.study import IMPORTED
from rankviz.store.tables import marks, runs, tags

TAG_LENGTH, MOST_TAGS, NOTE_LENGTH = 80, 50, 2000
"""Characters of a tag, tags of one run, characters of a note."""


def mark(connection: Connection, owner: str, ids: Sequence[int], now: float) -> None:
    """Note that runs are a visitor's too; those that they had deleted are there again."""
    table = inserting(connection, marks)
    shown = table.on_conflict_do_update(index_elements=["owner", "run"], set_={"deleted": None})
    rows = [
        {"owner": owner, "run": run, "since": now, "star": False, "note": "", "shared": False} for run in ids
    ]
    for portion in in_portions(rows):
        connection.execute(shown, list(portion))


def set_marks(connection: Connection, owner: str, ids: Sequence[int], **values: Any) -> None:
    """Set star, note or the like of a visitor's runs; `SettingError` for a note that is too long."""
    check_note(values.get("note", ""))
    for portion in in_portions(ids):
        which = [marks.c.run.in_(portion), marks.c.owner == owner]
        if values.get("shared"):
            which.append(~exists().where(runs.c.id == marks.c.run, runs.c.state == IMPORTED))
        connection.execute(update(marks).where(*which).values(**values))


def check_note(note: str) -> None:
    """Raise `SettingError` for a note that is too long."""
    if len(note) > NOTE_LENGTH:
        raise SettingError(f"a note has at most {NOTE_LENGTH:,} characters, not {len(note):,}")


def checked_tags(given: Iterable[str]) -> list[str]:
    """Return the tags of one run, each once.

    Raises `SettingError` for one that is empty or longer than `TAG_LENGTH`, and for more than `MOST_TAGS`.
    """
    found = list(dict.fromkeys(tag.strip() for tag in given))
    wrong = next((tag for tag in found if not 0 < len(tag) <= TAG_LENGTH), None)
    if wrong is not None:
        raise SettingError(f"a tag has from 1 to {TAG_LENGTH} characters, not {len(wrong):,}")
    if len(found) > MOST_TAGS:
        raise SettingError(f"a run has at most {MOST_TAGS} tags, not {len(found):,}")
    return found


def add_tags(
    connection: Connection,
    owner: str,
    ids: Sequence[int],
    given: Iterable[str],
    *,
    as_many_as_may_be: bool = False,
) -> None:
    """Give a visitor's runs tags.

    Raises `SettingError` as `checked_tags`, also where a run has more than `MOST_TAGS` then; with
    `as_many_as_may_be` the tags beyond those are left out.
    """
    wanted = checked_tags(given)
    if not wanted:
        return
    held: dict[int, set[str]] = {run: set() for run in ids}
    for portion in in_portions(list(ids)):
        there = select(tags.c.run, tags.c.tag).where(tags.c.owner == owner, tags.c.run.in_(portion))
        for run, tag in connection.execute(there):
            held[run].add(tag)
    rows = list[dict[str, Any]]()
    for run, known_ in held.items():
        new, room = [tag for tag in wanted if tag not in known_], MOST_TAGS - len(known_)
        if len(new) > room and not as_many_as_may_be:
            raise SettingError(f"a run has at most {MOST_TAGS} tags, not {len(known_) + len(new):,}")
        rows += [{"owner": owner, "run": run, "tag": tag} for tag in new[: max(0, room)]]
    for some in in_portions(rows):
        connection.execute(inserting(connection, tags).on_conflict_do_nothing(), list(some))


class Marks:
    """What visitors say of runs; each knows their own only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def star(self, owner: str, digests: Iterable[str], star: bool = True) -> None:
        """Give runs a star, or take it away."""
        self._set(owner, digests, star=star)

    def note(self, owner: str, digests: Iterable[str], note: str) -> None:
        """Write down what is to be remembered of runs; `SettingError` beyond `NOTE_LENGTH`."""
        self._set(owner, digests, note=note)

    def share(self, owner: str, digests: Iterable[str], shared: bool = True) -> None:
        """Have others see runs, or no longer; imported ones stay their owner's alone."""
        self._set(owner, digests, shared=shared)

    def delete(self, owner: str, digests: Iterable[str]) -> None:
        """Show runs no more, until `restore`."""
        self._set(owner, digests, deleted=time.time())

    def restore(self, owner: str, digests: Iterable[str]) -> None:
        """Show runs again that were deleted."""
        self._set(owner, digests, deleted=None)

    def tag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Give runs a tag; `SettingError` as `add_tags`."""
        with self._database.writing() as connection:
            ids = list(_own(connection, owner, list(digests)).values())
            add_tags(connection, owner, ids, [tag])

    def untag(self, owner: str, digests: Iterable[str], tag: str) -> None:
        """Take a tag from runs."""
        with self._database.writing() as connection:
            for portion in in_portions(list(known(connection, list(digests)).values())):
                which = tags.c.run.in_(portion), tags.c.owner == owner, tags.c.tag == tag
                connection.execute(delete(tags).where(*which))

    def _set(self, owner: str, digests: Iterable[str], **values: Any) -> None:
        with self._database.writing() as connection:
            set_marks(connection, owner, list(known(connection, list(digests)).values()), **values)


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
