"""Test opened folds: bounded by bytes, opened once for all visitors, and freed with their data set."""

import gc
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import pytest
import streamlit as st
from conftest_pages import part
from streamlit.delta_generator import DeltaGenerator
from test_data import Opener, text, upload, with_sidebar

from rankviz.datasets import Dataset, Fold, RankingData, make_data, normalise, open_fold
from ui.work.folds import FOLDS, IDLE_SECONDS, FoldKey, FoldMemory, nbytes


def fold(first: int) -> Fold:
    return Fold(*(part([20], [0, 1], first=first + k) for k in range(3)))


def key(name: str, normalisation: str = "") -> FoldKey:
    return FoldKey(((f"/data/{name}/Fold1/train.txt", 1, 1),), "Fold1", normalisation)


ONE = nbytes([fold(1)])
OWN = text(make_data(n_queries=10, seed=1))


def test_a_normalised_fold_shares_all_but_its_features() -> None:
    read = fold(1)
    scaled = normalise(read, "query_minmax")
    features = sum(part.X.nbytes for part in read.parts.values())
    assert nbytes([read, read]) == ONE
    assert nbytes([read, scaled]) == ONE + features


def test_what_lies_in_a_file_of_the_cache_takes_no_memory(tmp_path: Path) -> None:
    def mapped(part: RankingData) -> RankingData:
        path = tmp_path / str(id(part))
        path.write_bytes(part.X.tobytes())
        X = np.memmap(path, np.float64, "r", shape=part.X.shape)
        return RankingData(X[:], part.y, part.ptr, part.query_ids)

    read = fold(1)
    features = sum(part.X.nbytes for part in read.parts.values())
    assert nbytes([Fold(*map(mapped, read.parts.values()))]) == ONE - features


@pytest.mark.parametrize(("most", "stay"), [(4 * ONE, 4), (4 * ONE - 1, 3), (0, FoldMemory.LATEST)])
def test_as_many_stay_as_the_bound_allows_and_the_latest(most: int, stay: int) -> None:
    memory = FoldMemory(lambda: most)
    made = [weakref.ref(memory.get(key(f"set{k}"), lambda k=k: fold(k))) for k in range(5)]
    gc.collect()
    assert [one() is not None for one in made] == [k >= 5 - stay for k in range(5)]


def test_the_one_asked_for_longest_ago_goes_first() -> None:
    memory = FoldMemory(lambda: 3 * ONE)
    for name in ("a", "b", "c", "a", "d"):
        memory.get(key(name), lambda: fold(1))
    memory.get(key("a"), lambda: pytest.fail("a is here"))
    made = []
    memory.get(key("b"), lambda: made.append("b") or fold(1))
    assert made == ["b"]


def test_two_at_once_have_it_made_once() -> None:
    memory, made = FoldMemory(lambda: 3 * ONE), []
    asked = threading.Barrier(2)

    def ask(_: int) -> Fold:
        asked.wait(60)
        return memory.get(key("a"), lambda: made.append("a") or fold(1))

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(ask, range(2))
    assert one is other
    assert made == ["a"]


def test_what_cannot_be_made_is_asked_for_again() -> None:
    memory = FoldMemory(lambda: 3 * ONE)
    with pytest.raises(ZeroDivisionError):
        memory.get(key("a"), lambda: 1 // 0)
    assert memory.get(key("a"), lambda: fold(1))


def test_folds_of_a_removed_set_are_let_go_and_no_others() -> None:
    memory = FoldMemory(lambda: 9 * ONE)
    for name in ("a", "ab"):
        memory.get(key(name), lambda: fold(1))
        memory.get(key(name, "query_minmax"), lambda: fold(2))
    memory.forget(Path("/data/a"))
    assert len(memory) == 2
    memory.get(key("ab"), lambda: pytest.fail("ab is here"))


def test_folds_that_nobody_asks_for_are_let_go() -> None:
    memory, start = FoldMemory(lambda: 9 * ONE), time.monotonic()
    for name in ("a", "b"):
        memory.get(key(name), lambda: fold(1))
    memory.free_idle(start + IDLE_SECONDS)
    assert len(memory) == 2
    memory.free_idle(time.monotonic() + IDLE_SECONDS + 1)
    assert len(memory) == 0
    assert memory.get(key("a"), lambda: fold(1))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[RankingData]]:
    """The parts of folds of the data set "own" that pages have opened."""
    parts: list[weakref.ref[RankingData]] = []

    def open_and_note(dataset: Dataset, name: str) -> Fold:
        fold = open_fold(dataset, name)
        if dataset.name == "own":
            parts.extend(map(weakref.ref, fold.parts.values()))
        return fold

    monkeypatch.setattr("ui.work.folds.open_fold", open_and_note)
    return parts


def test_removing_an_upload_lets_its_folds_go(
    open_by_menu: Opener, opened: list[weakref.ref[RankingData]]
) -> None:
    app = upload(open_by_menu("data"), ("own.txt", OWN))
    assert [one() is not None for one in opened] == [True] * 3
    app.button(key="remove-upload").click()
    with_sidebar(app)
    gc.collect()
    assert [one() is not None for one in opened] == [False] * 3


@pytest.mark.parametrize("page", ["data", "train"])
def test_buttons_hold_no_fold_but_make_files_of_it(
    page: str, open_by_menu: Opener, opened: list[weakref.ref[RankingData]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Callable[[], str | bytes]] = []  # Streamlit keeps them for as long as a visitor may come back

    def note(*arguments: Any, **_: Any) -> None:
        made.extend(given for given in arguments if isinstance(given, FunctionType | MethodType))

    monkeypatch.setattr(st, "download_button", note)
    monkeypatch.setattr(DeltaGenerator, "download_button", note)
    app = upload(open_by_menu("data"), ("own.txt", OWN))
    with_sidebar(app, page)
    made_of_it = made[-6:] if page == "train" else made[-1:]
    FOLDS.clear()
    gc.collect()
    assert [one() is not None for one in opened] == [False] * 3
    assert all(make() for make in made_of_it)
