"""Visitors at once: runs that are made while they wait are made in turn, and each spec once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pytest

from rankviz import Fold, RunSpec, execute
from rankviz.common.errors import DataError
from rankviz.common.progress import Callback, Progress
from rankviz.datasets import make_fold
from rankviz.experiments.record import RunRecord
from ui.data import uploads
from ui.shared import runs

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


def at_once(asked: list[list[RunSpec]], seconds: float) -> list[object]:
    """What visitors get who ask for runs at the same time."""
    got: list[object] = []

    def ask(specs: list[RunSpec]) -> None:
        try:
            got.append([record.spec for record in runs.run(*specs, seconds=seconds)])
        except runs.TookTooLong:
            got.append("took too long")

    threads = [threading.Thread(target=ask, args=(specs,)) for specs in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_each_spec_is_trained_once_for_all_who_ask(trainings: Trainings) -> None:
    assert at_once([SPECS] * 8, seconds=60.0) == [SPECS] * 8
    assert sorted(trainings.trained, key=lambda spec: spec.C) == SPECS
    assert trainings.most == 1


def test_waiting_does_not_count_as_training(trainings: Trainings) -> None:
    trainings._seconds = 0.5
    each = [[spec] for spec in SPECS]
    assert sorted(at_once(each, seconds=0.9), key=lambda specs: specs[0].C) == each
    assert trainings.most == 1, "the last has waited for longer than any may train"


def test_who_fails_lets_the_next_one_in(trainings: Trainings) -> None:
    assert at_once([SPECS] * 2, seconds=-1.0) == ["took too long"] * 2
    assert not runs._TRAINING.locked()


def test_uploads_are_checked_in_turn_also_after_one_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    both, checks = threading.Barrier(2), Trainings(0.0)

    def accept(*_: object, **__: object) -> None:
        checks.at_once += 1
        checks.most = max(checks.most, checks.at_once)
        with suppress(threading.BrokenBarrierError):
            both.wait(1)  # met only where another one is checked meanwhile
        checks.at_once -= 1
        raise DataError("nothing", expected="something", remedy="Try.")

    monkeypatch.setattr(uploads, "accept", accept)
    monkeypatch.setattr(uploads, "own_root", lambda: None)
    monkeypatch.setattr(uploads, "_fail", lambda why: None)
    threads = [threading.Thread(target=uploads._accept, args=([], "")) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert checks.most == 1
    assert not uploads._CHECKING.locked()
