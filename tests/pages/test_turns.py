"""Visitors at once: runs that are made while they wait are made in turn, and each spec once."""

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import streamlit as st

from rankviz import Fold, RunSpec, execute
from rankviz.common.errors import DataError
from rankviz.common.progress import Callback, Progress, StopRequested
from rankviz.datasets import make_fold
from rankviz.datasets.synthetic import Recipe
from rankviz.runs.record import RunRecord
from ui.model import uploads
from ui.work import runs
from ui.work.runs import Turns

FOLD = make_fold(n_queries=12, documents_per_query=(3, 8), n_features=3, seed=0)
SPECS = [RunSpec("some", digest=FOLD.digest, feature_map="linear", C=C) for C in (0.5, 1.0, 2.0)]


class Trainings:
    """Stands in for `execute_all`: notes what is trained, and how many trainings there are at once."""

    def __init__(self, seconds: float) -> None:
        self.trained: list[RunSpec] = []
        self.at_once = self.most = 0
        self._seconds = seconds

    def __call__(
        self, specs: Iterable[RunSpec], callback: Callback, *, fold: Fold
    ) -> Iterator[tuple[RunSpec, RunRecord]]:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            for spec in specs:
                time.sleep(self._seconds)
                callback(Progress("newton"))
                self.trained.append(spec)
                yield spec, execute(spec, fold=fold)
        finally:
            self.at_once -= 1


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    found = Trainings(0.05)
    monkeypatch.setattr(runs, "execute_all", found)
    monkeypatch.setattr(runs, "fold_of", lambda spec: FOLD)
    return found


def at_once(asked: list[list[RunSpec]], seconds: float, patience: float = 60.0) -> list[object]:
    got: list[object] = []

    def ask(specs: list[RunSpec]) -> None:
        try:
            got.append([record.spec for record in runs.run(*specs, seconds=seconds, patience=patience)])
        except runs.TookTooLong:
            got.append("took too long")
        except runs.NoTurn:
            got.append("no turn")

    with ThreadPoolExecutor(len(asked)) as visitors:
        list(visitors.map(ask, asked))
    return got


def test_each_spec_is_trained_once_for_all_who_ask(trainings: Trainings) -> None:
    assert at_once([SPECS] * 8, seconds=60.0) == [SPECS] * 8
    assert sorted(trainings.trained, key=lambda spec: spec.C) == SPECS
    assert trainings.most == 1


def test_waiting_does_not_count_as_training(trainings: Trainings) -> None:
    trainings._seconds = 0.8
    each = [[spec] for spec in SPECS]
    assert sorted(at_once(each, seconds=1.6), key=lambda specs: specs[0].C) == each
    assert trainings.most == 1, "the last has waited for longer than any may train"


def test_nobody_waits_for_longer_than_they_have_patience(trainings: Trainings) -> None:
    trainings._seconds = 1.0
    got = at_once([[spec] for spec in SPECS], seconds=60.0, patience=0.2)
    assert got.count("no turn") == 2
    assert len(trainings.trained) == 1
    trainings._seconds = 0.0
    assert at_once([SPECS], seconds=60.0, patience=0.2) == [SPECS], "a turn that is free is taken at once"


def test_who_wants_what_is_being_made_waits_for_it(trainings: Trainings) -> None:
    trainings._seconds = 0.5  # in all longer than the patience, which a busy machine does not use up
    assert at_once([SPECS] * 3, seconds=60.0, patience=0.4) == [SPECS] * 3
    assert len(trainings.trained) == 3


def test_a_turn_that_is_needed_no_more_is_not_taken(trainings: Trainings) -> None:
    with pytest.raises(runs.NoTurn):
        runs.run(*SPECS, unless=lambda: True)
    assert trainings.trained == []
    assert at_once([SPECS], seconds=60.0) == [SPECS], "the next one is let in"


def test_who_fails_lets_the_next_one_in(trainings: Trainings) -> None:
    assert at_once([SPECS] * 2, seconds=-1.0) == ["took too long"] * 2
    assert at_once([SPECS], seconds=60.0) == [SPECS]


def test_nobody_is_overtaken_and_who_moves_on_loses_their_place() -> None:
    turns, came, served = Turns(0.005), list[int](), list[int]()
    moved_on, first = threading.Event(), threading.Event()

    def wait_as(number: int) -> None:
        if number not in came:
            came.append(number)
        if number == 1 and moved_on.is_set():
            raise StopRequested

    def visit(number: int) -> None:
        with suppress(StopRequested), turns.turn(lambda: wait_as(number)):
            served.append(number)
            if number == 0:
                came.append(0)
                first.wait(60)

    threads = []
    for number in range(5):
        threads.append(threading.Thread(target=visit, args=(number,)))
        threads[-1].start()
        while number not in came:  # each is in the queue before the next one comes
            time.sleep(0.001)
    moved_on.set()
    threads[1].join(60)
    first.set()
    for thread in threads:
        thread.join(60)
    assert served == [0, 2, 3, 4]


def test_many_sessions_of_one_address_or_visitor_keep_nobody_waiting() -> None:
    turns, came, served, first = Turns(0.005), list[str](), list[str](), threading.Event()

    def visit(name: str) -> None:
        with turns.turn(lambda: came.append(name), name[0], name[:2]):
            served.append(name)
            if name == "a1":
                came.append(name)
                first.wait(60)

    threads = []
    for name in ("a1", "a1 again", "a1 once more", "a2", "b1", "b1 again"):
        threads.append(threading.Thread(target=visit, args=(name,)))
        threads[-1].start()
        while name not in came:
            time.sleep(0.001)
    first.set()
    for thread in threads:
        thread.join(60)
    assert served == ["a1", "b1", "a2", "b1 again", "a1 again", "a1 once more"]
    assert set(turns._served) <= {"a", "a1"}, "nothing is kept of those who have left"


def test_a_turn_is_that_of_the_visitor_and_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("get_script_run_ctx", "address", "visitor"):
        monkeypatch.setattr(runs, name, lambda name=name: name)
    turns = Turns(1.0)
    with runs.turn(turns, st.empty(), "waiting"):
        assert list(turns._queue.values()) == [("address", "visitor")]


@pytest.mark.parametrize("kind", ["uploaded", "generated"])
def test_data_sets_are_added_in_turn_also_after_one_that_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    both, checks, recipe = threading.Barrier(2), Trainings(0.0), Recipe(queries=5, features=1)

    def accept(*_: object, **__: object) -> None:
        checks.at_once += 1
        checks.most = max(checks.most, checks.at_once)
        with suppress(threading.BrokenBarrierError):
            both.wait(1)  # met only where another one is checked meanwhile
        checks.at_once -= 1
        raise DataError("nothing", expected="something", remedy="Try.")

    def add() -> None:
        if kind == "uploaded":
            uploads._accept([], "")
            return
        with suppress(DataError):
            uploads._generate(recipe)

    monkeypatch.setattr(uploads, "accept" if kind == "uploaded" else "keep_fold", accept)
    monkeypatch.setattr(uploads, "_place", lambda: tmp_path)
    monkeypatch.setattr(uploads, "_fail", lambda why: None)
    with ThreadPoolExecutor(2) as visitors:
        list(visitors.map(lambda _: add(), range(2)))
    assert checks.most == 1
