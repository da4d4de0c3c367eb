"""Bounds on the bytes of uploads: one visitor's, all visitors', and two visitors at once."""

import io
import multiprocessing as mp
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest_uploads import FOLD, TEXTS, WHOLE, fold_at, send, zipped
from filelock import FileLock, Timeout

from rankviz.datasets import DataError, find_datasets
from rankviz.datasets.archives import Upload
from rankviz.datasets.synthetic import Recipe
from rankviz.datasets.upload_folders import (
    ADDRESS,
    LOCK,
    folder_bytes,
    publish,
    record_address,
    remove,
    room_left,
    uploads_folder,
    visitor_root,
)
from rankviz.datasets.uploads import accept, keep_fold

Bounded = Callable[..., None]
SMALL = len(WHOLE)


def kept(visitor: str) -> list[str]:
    """The data sets of a visitor; of what is hidden nothing may be left."""
    root = visitor_root(visitor)
    assert not root.is_dir() or not [path for path in root.iterdir() if path.name.startswith(".")]
    return list(find_datasets([root]))


def test_what_one_visitor_keeps_is_bounded(bounded: Bounded) -> None:
    bounded(upload_bytes_each=SMALL + 10)
    send(visitor_root("me"), ("own.txt", WHOLE))
    with pytest.raises(DataError, match=r"more\.txt: more than 1 MB with your earlier uploads"):
        send(visitor_root("me"), ("more.txt", WHOLE))
    assert kept("me") == ["own"]
    send(visitor_root("you"), ("yours.txt", WHOLE))


def test_what_all_visitors_keep_is_bounded(bounded: Bounded) -> None:
    bounded(upload_bytes=SMALL + 10)
    first = send(visitor_root("me"), ("own.txt", WHOLE))
    for files in ([("more.txt", WHOLE)], [("more.zip", zipped(fold_at("Fold1/")))]):
        with pytest.raises(DataError, match="with the uploads of all visitors") as caught:
            send(visitor_root("you"), *files)
        assert "try again later" in caught.value.remedy
    assert (kept("me"), kept("you")) == (["own"], [])
    assert first.folder.read_bytes() == WHOLE
    remove(first.folder, visitor_root("me"))
    send(visitor_root("you"), ("more.txt", WHOLE))


def test_made_up_visitors_of_one_address_leave_room_for_others(bounded: Bounded) -> None:
    bounded(upload_bytes_address=2 * SMALL + 20)
    for visitor in ("made up 1", "made up 2"):
        record_address(visitor_root(visitor), "here")
        send(visitor_root(visitor), ("own.txt", WHOLE))
    record_address(visitor_root("made up 3"), "here")
    with pytest.raises(DataError, match=r"own\.txt: .* uploads from your network address"):
        send(visitor_root("made up 3"), ("own.txt", WHOLE))
    record_address(visitor_root("honest"), "elsewhere")
    for visitor in ("honest", "of an unknown address"):
        send(visitor_root(visitor), ("own.txt", WHOLE))


def test_a_damaged_address_refuses_nobody(bounded: Bounded) -> None:
    bounded(upload_bytes_address=3 * SMALL)
    for visitor in ("damaged", "honest"):
        record_address(visitor_root(visitor), "here")
    (visitor_root("damaged").parent / ADDRESS).write_bytes(b"h\xe3re")
    send(visitor_root("honest"), ("own.txt", WHOLE))
    assert kept("honest") == ["own"]


def test_the_last_tenth_is_for_visitors_and_addresses_who_have_little(bounded: Bounded) -> None:
    bounded(upload_bytes=100_000, upload_bytes_address=50_000, upload_bytes_each=20_000)
    taken = 0
    for address in ("a", "b", *map(str, range(40))):
        for made_up in range(4):
            root = visitor_root(f"{address} {made_up}")
            record_address(root, address)
            free = max(0, int(room_left(root).left))
            taken += free
            (root / "a.txt").write_bytes(b"0" * free)
        assert address != "b" or 89_000 < taken <= 90_000
    record_address(visitor_root("honest"), "elsewhere")
    assert room_left(visitor_root("honest")).left > 10


def test_a_generated_fold_counts_and_is_bounded(bounded: Bounded) -> None:
    size = sum(map(len, TEXTS.values()))
    bounded(upload_bytes=2 * size - 1)
    folder = keep_fold(FOLD, visitor_root("me"), "made")
    assert folder_bytes(folder) == size
    with pytest.raises(DataError, match="with the uploads of all visitors"):
        keep_fold(FOLD, visitor_root("you"), "made")
    assert (kept("me"), kept("you")) == (["made"], [])


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(queries=40, features=100), Recipe(queries=500)])
def test_a_recipe_tells_about_how_many_bytes_it_comes_to(recipe: Recipe, tmp_path: Path) -> None:
    made = folder_bytes(keep_fold(recipe.make(), tmp_path, recipe.name))
    assert recipe.expected_bytes == pytest.approx(made, rel=0.2)


def test_room_is_that_of_the_tighter_bound(bounded: Bounded) -> None:
    bounded(upload_bytes=5000, upload_bytes_each=3000)
    for visitor, size in (("me", 2500), ("you", 2000)):
        visitor_root(visitor).mkdir(parents=True)
        (visitor_root(visitor) / "a.txt").write_bytes(b"0" * size)
    assert room_left(visitor_root("me")).left <= 0
    assert room_left(visitor_root("other")).left == 50, "1 % while the last tenth is left"
    assert "of all visitors, the last tenth for" in room_left(visitor_root("other")).found
    bounded(upload_bytes=5000, upload_bytes_each=5000, upload_bytes_address=5000)
    assert room_left(visitor_root("me")).left == 500


def test_data_sets_get_their_names_while_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Renaming during another visitor's count could hide a folder from it."""
    renamed = list[str]()

    def watched(source: Path, root: Path, name: str, suffix: str) -> Path:
        with pytest.raises(Timeout):
            FileLock(uploads_folder() / LOCK).acquire(timeout=0)
        renamed.append(name)
        return publish(source, root, name, suffix)

    monkeypatch.setattr("rankviz.datasets.uploads.publish", watched)
    send(visitor_root("me"), ("own.txt", WHOLE))
    send(visitor_root("me"), ("folds.zip", zipped(fold_at("Fold1/"))))
    keep_fold(FOLD, visitor_root("me"), "made")
    assert renamed == ["own", "folds", "made"]
    with FileLock(uploads_folder() / LOCK).acquire(timeout=0):
        assert len(kept("me")) == 3


class Meeting(io.BytesIO):
    """A file that is read on only once another one is being read as well, or will not be for a while."""

    def __init__(self, content: bytes, both_read: Any) -> None:
        super().__init__(content)
        self.both_read = both_read

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; those that are asked for to tell what the file is are given at once."""
        if size is None or size < 0 or size > 1000:
            with suppress(threading.BrokenBarrierError):
                self.both_read.wait(2)
        return super().read(size)


def send_one(visitor: str, both_read: Any) -> bool:
    """Upload a file that waits to be read beside another one; whether it was taken."""
    try:
        accept([Upload("own.txt", Meeting(WHOLE, both_read))], visitor_root(visitor))
    except DataError as error:
        if "of all visitors" not in str(error):
            raise
        return False
    return True


def in_threads() -> list[bool]:
    both_read = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(send_one, ("me", "you"), (both_read, both_read)))


def in_processes() -> list[bool]:
    context = mp.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        both_read = manager.Barrier(2)
        return pool.starmap(send_one, [("me", both_read), ("you", both_read)], chunksize=1)


@pytest.mark.parametrize("at_once", [in_threads, in_processes])
def test_two_visitors_at_once_do_not_go_beyond_the_bound_together(
    at_once: Callable[[], list[bool]], bounded: Bounded
) -> None:
    bounded(upload_bytes=SMALL + 10)
    taken = at_once()
    assert sorted(taken) == [False, True]
    assert folder_bytes(uploads_folder()) <= SMALL + 10
    assert len(kept("me")) == taken[0]
    assert len(kept("you")) == taken[1]
