"""Test that a worker makes a family like `execute`, reports progress and explains failures."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from conftest_jobs import FOLD, SPEC, ended
from conftest_store import BOTH, take_lease

from rankviz import Progress, RunSpec, execute
from rankviz.datasets import make_fold, write_letor
from rankviz.runs.estimate import LAPTOP, Shape, estimate
from rankviz.runs.run import Folds
from rankviz.store import RunStore, StoreOutOfReach, family_runner, worker
from rankviz.store.family_runner import FamilyReleased, FamilyRunner, LeaseKeeper, StudyTimeSpent
from rankviz.store.queue import LeasedFamily, Queue
from rankviz.store.records import Records
from rankviz.store.watched import WatchedStudies

FOURIER = SPEC.but(feature_map="fourier", n_components=20, gamma=0.25, C=0.1)
SPECS = (FOURIER, SPEC.but(C=0.25), SPEC)
pytestmark = pytest.mark.usefixtures("own_cache", "nobody")
Submit = Callable[..., str]


@pytest.fixture(autouse=True)
def unlimited_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker limits the threads of its process, which is this one here."""
    monkeypatch.setattr(family_runner, "limit_threads", lambda n: None)


def make_all(store: RunStore) -> None:
    maker = FamilyRunner(store)
    while (lease := store.queue.take("w")) is not None:
        maker.make(lease)


@BOTH
def test_the_records_are_those_of_execute(store: RunStore, submit: Submit) -> None:
    submit(SPECS)
    make_all(store)
    found = store.records.find(SPECS)
    assert set(found) == set(SPECS)
    for spec in (FOURIER, SPEC.but(C=0.25)):  # the third starts from the second's weights
        np.testing.assert_array_equal(found[spec].weights, execute(spec, fold=FOLD).weights)


def test_news_tell_what_is_made_how_far_it_is_and_what_is_left(store: RunStore, submit: Submit) -> None:
    submit()
    keeper = LeaseKeeper(store.queue, take_lease(store, "w"))
    keeper.begin_run(SPEC)
    assert keeper._news == {"digest": SPEC.hash, "stage": "data", "fraction": 0.0, "remaining": None}
    shape = Shape(n=4000, d=20, pairs=60_000, documents=7000, largest_part=4000)
    exact = RunSpec("small").exact()
    predicted = estimate(exact, shape, LAPTOP)
    keeper.begin_run(exact, predicted)
    assert 0 < keeper._news["remaining"] <= predicted.seconds
    row = {"iteration": 0, "seconds": 100.0, "decrement": 0.8, "objective": 1.0}
    keeper(Progress("newton", None, row))
    keeper(Progress("newton", None, row | {"iteration": 1, "seconds": 200.0, "decrement": 0.4}))
    assert keeper._news["stage"] == "newton"
    assert keeper._news["remaining"] > 300, "each step took 100 s"


def again_and_again(keeper: LeaseKeeper, deadline: float) -> None:
    while time.monotonic() < deadline:
        keeper(Progress("newton", None, None))
        time.sleep(0.01)


@BOTH
def test_a_worker_tells_at_once_and_hears_of_a_stop(
    store: RunStore, jobs: WatchedStudies, submit: Submit
) -> None:
    job = submit()
    with LeaseKeeper(store.queue, take_lease(store, "w")) as keeper:
        keeper.begin_run(SPEC)
        keeper(Progress("newton", None, None))
        deadline = time.monotonic() + 60
        while jobs.status(job).latest is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert (jobs.status(job).latest or {})["stage"] == "newton"
        jobs.stop(job, "me")
        with pytest.raises(FamilyReleased):
            again_and_again(keeper, deadline)


@pytest.mark.parametrize("descending", [False, True])
def test_a_job_names_the_run_that_is_made_however_short_runs_are(
    store: RunStore, jobs: WatchedStudies, submit: Submit, monkeypatch: pytest.MonkeyPatch, descending: bool
) -> None:
    """The worker writes no report by time here: each run is over before one is due."""
    save, named = Records.save, list[tuple[RunSpec | None, int]]()

    def looked_at(records: Records, *arguments: Any) -> bool:
        saved = save(records, *arguments)
        status = jobs.status(job)
        named.append((status.current, len(status.finished)))
        return saved

    monkeypatch.setattr(family_runner, "LOOK_SECONDS", 3600.0)
    monkeypatch.setattr(Records, "save", looked_at)
    specs = [SPEC.but(C=C) for C in (0.1, 0.2, 0.4, 0.8)]
    job = submit(specs[::-1] if descending else specs)
    make_all(store)
    assert named == [(specs[1], 1), (specs[2], 2), (specs[3], 3), (None, 4)], "a family is made by rising C"


def test_a_report_by_time_never_replaces_a_later_one(
    store: RunStore, jobs: WatchedStudies, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is saved while a report on it is being written gives way to the next run."""
    other, begun, renew, record = SPEC.but(C=0.25), Event(), Queue.renew, execute(SPEC, fold=FOLD)

    def slowly(queue: Queue, lease: LeasedFamily, news: dict[str, Any]) -> bool:
        begun.set()
        time.sleep(0.2)
        return renew(queue, lease, news)

    monkeypatch.setattr(family_runner, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(Queue, "renew", slowly)
    job = submit((SPEC, other))
    with LeaseKeeper(store.queue, take_lease(store, "w")) as keeper:
        keeper.begin_run(SPEC)
        assert begun.wait(60)
        keeper.note_run(other)
        FamilyRunner(store)._save(record, keeper)
        monkeypatch.setattr(family_runner, "REPORT_SECONDS", 3600.0)
    assert jobs.status(job).current == other


def test_time_that_is_up_is_noticed_in_the_middle_of_a_run(
    store: RunStore, submit: Submit, bounded: Callable[..., None]
) -> None:
    bounded(job_seconds=1e-9)
    submit()
    with LeaseKeeper(store.queue, take_lease(store, "w")) as keeper, pytest.raises(StudyTimeSpent):
        keeper(Progress("newton", None, None))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (SPEC.but(dataset="nowhere"), "no data set named 'nowhere'"),
        (SPEC.but(fold="Fold7"), "no fold Fold7"),
        (SPEC.but(digest="0" * 32), "digest"),
        (SPEC.but(loss="hinge", solver="lbfgs"), "choose solver='newton', which can train it"),
        (FOURIER.but(n_components=10**9), "Choose m = "),
    ],
)
def test_what_cannot_be_made_is_a_sentence(
    store: RunStore, jobs: WatchedStudies, submit: Submit, spec: RunSpec, why: str
) -> None:
    job = submit((SPEC, spec))
    make_all(store)
    status = ended(jobs, job)
    assert (status.state, status.finished) == ("failed", (0,))
    assert why in status.reason


def test_data_that_one_visitor_removes_are_read_from_another_who_wants_the_run(
    store: RunStore, jobs: WatchedStudies, root: Path, tmp_path: Path
) -> None:
    both = {"first": tmp_path / "removed", "second": root}
    ids = [jobs.submit([SPEC], owner=who, title="A job", roots=[both[who]]) for who in both]
    make_all(store)
    assert [ended(jobs, id).state for id in ids] == ["finished", "finished"]


def test_the_reason_of_a_failure_names_no_other_data_and_no_folder(
    store: RunStore, jobs: WatchedStudies, root: Path
) -> None:
    for spec in (SPEC.but(dataset="nowhere"), SPEC.but(fold="Fold7")):
        job = jobs.submit([spec], owner="me", title="A job", roots=[root])
        make_all(store)
        said = ended(jobs, job).reason
        assert said.startswith("no ")
        assert not any(word in said for word in ("small,", "synthetic", "Fold1", str(root), "Expected"))


@pytest.mark.parametrize(
    ("error", "why"),
    [(MemoryError(), "Memory ran out"), (RuntimeError("x"), "A fault of the program: RuntimeError. The log")],
)
def test_what_nobody_expects_is_a_sentence(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Submit,
    error: Exception,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def execute_all(*_: object, **__: object) -> None:
        raise error

    job = submit()
    monkeypatch.setattr(family_runner, "execute_all", execute_all)
    make_all(store)
    assert ended(jobs, job).reason.startswith(why)
    assert ("Traceback" in capsys.readouterr().err) == isinstance(error, RuntimeError)


@BOTH
def test_records_that_cannot_be_kept_end_the_job_with_the_reason(
    store: RunStore, jobs: WatchedStudies, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk has room for a line, but not for a record."""
    save, kept = Records.save, list[Any]()

    def full_after_one(records: Records, record: Any, *report: Any) -> bool:
        kept.append(record)
        if len(kept) > 1:
            raise StoreOutOfReach("Its disk is full.")
        return save(records, record, *report)

    monkeypatch.setattr(Records, "save", full_after_one)
    monkeypatch.setattr(family_runner, "ATTENDED_SECONDS", 0.0)
    job = submit((SPEC.but(C=0.25), SPEC))
    make_all(store)
    status = ended(jobs, job)
    assert status.state == "failed"
    assert (
        status.reason == "Its disk is full; 1 of 2 runs had finished, and are kept. Ask again for the others."
    )
    assert len(kept) == 2, "no further run is made that could not be kept either"


def test_a_fold_is_read_once_for_runs_that_share_it(root: Path) -> None:
    folds, told = Folds((str(root),)), list[Progress]()
    first = folds.of(SPEC, told.append)
    assert {progress.stage for progress in told} == {"data"}
    assert folds.of(FOURIER, told.append) is first


def test_data_that_are_replaced_under_their_name_are_read_again(tmp_path: Path) -> None:
    folder, folds = tmp_path / "small" / "Fold1", Folds((str(tmp_path),))
    folder.mkdir(parents=True)
    for fold in (FOLD, make_fold(n_queries=5, documents_per_query=(5, 8), seed=2)):
        for name, part in fold.parts.items():
            write_letor(part, folder / f"{name}.txt")
        spec = SPEC.but(digest=fold.digest)
        assert folds.of(spec, lambda _: None).digest == fold.digest


def test_a_command_without_a_name() -> None:
    assert worker.main([]) == 2
