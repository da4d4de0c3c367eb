"""The worker of a job: called here in this process on small folds, and as the command it is."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankviz import Fold, Progress, RunSpec, execute
from rankviz.common.bounds import Bounds
from rankviz.datasets import find_datasets, make_fold, open_fold, write_letor
from rankviz.experiments import work, worker
from rankviz.experiments.estimate import estimate
from rankviz.experiments.processes import ProcessId
from rankviz.experiments.rates import LAPTOP
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.shape import Shape

SPEC = RunSpec("small", feature_map="fourier", n_components=20, gamma=0.25, C=0.1)
SPECS = (SPEC, SPEC.linear(0.5))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with one small data set."""
    root = tmp_path_factory.mktemp("data")
    write_fold(root / "small" / "Fold1", make_fold(n_queries=20, documents_per_query=(5, 15), seed=1))
    return root


def write_fold(folder: Path, fold: Fold) -> None:
    folder.mkdir(parents=True)
    for name, part in fold.parts.items():
        write_letor(part, folder / f"{name}.txt")


@pytest.fixture(autouse=True)
def unlimited_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker limits the threads of its process, which is this one here."""
    monkeypatch.setattr(work, "limit_threads", lambda n: None)
    monkeypatch.setattr(worker, "go_first", lambda: None)  # it would be so of all that this process starts


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKVIZ_CACHE", str(tmp_path / "cache"))


def job(root: Path, specs: tuple[RunSpec, ...] = SPECS, **changes: object) -> Job:
    return replace(Job(specs, "me", "Two runs", (str(root),), 1, time.time()), **changes)


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", job(root))


def test_the_records_are_those_of_execute(folder: RunFolder, root: Path) -> None:
    assert worker.main([str(folder.path)]) == 0
    outcome = folder.outcome()
    assert outcome is not None
    assert (outcome.state, outcome.reason) == ("finished", "2 of 2 runs finished.")
    assert folder.finished() == (0, 1)
    fold = open_fold(find_datasets([root])["small"])
    for index, spec in enumerate(SPECS):
        record = folder.record(index)
        assert record is not None
        assert record.spec == spec.but(digest=fold.digest)
        np.testing.assert_array_equal(record.weights, execute(spec, fold=fold).weights)


def test_progress_tells_every_stage_and_iteration(folder: RunFolder) -> None:
    worker.main([str(folder.path)])
    rows = list(folder.rows())
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    for index in range(2):
        own = [row for row in rows if row["index"] == index]
        stages = list(dict.fromkeys(row["stage"] for row in own))
        assert stages[: 2 - index] == ["starting", "data"][index:]
        assert stages[-3:] == ["newton", "evaluate", "finished"]
        assert "pairs" in stages
        told = [row["record"]["iteration"] for row in own if row["record"] is not None]
        record = folder.record(index)
        assert record is not None
        assert told == list(record.trace["iteration"][: len(told)])
        assert len(told) >= len(record.trace) - 1  # the last row is in the record
    assert folder.latest() == rows[-1]


def test_messages_within_a_stage_are_rationed(folder: RunFolder) -> None:
    listener = work.Listener(folder)
    for n in range(10_000):
        listener(Progress("features", n / 10_000))
    assert 1 <= len(list(folder.rows())) < 100


def test_what_is_left_of_a_run_is_told_with_its_progress(folder: RunFolder) -> None:
    run_spec, listener = RunSpec("small").exact(), work.Listener(folder)
    listener.begin(0)
    assert (folder.latest() or {})["remaining"] is None
    shape = Shape(n=4000, d=20, pairs=60_000, documents=7000, largest_part=4000)
    predicted = estimate(run_spec, shape, LAPTOP)
    listener.begin(1, predicted)
    assert 0 < (folder.latest() or {})["remaining"] <= predicted.seconds
    row = {"iteration": 0, "seconds": 100.0, "decrement": 0.8, "objective": 1.0}
    listener(Progress("newton", None, row))
    listener(Progress("newton", None, row | {"iteration": 1, "seconds": 200.0, "decrement": 0.4}))
    latest = folder.latest() or {}
    assert latest["remaining"] > 300, "each step took 100 s"


def test_the_stop_file_stops_before_anything_is_trained(folder: RunFolder) -> None:
    folder.ask_to_stop()
    assert worker.main([str(folder.path)]) == 0
    outcome = folder.outcome()
    assert outcome is not None
    assert (outcome.state, outcome.reason) == ("stopped", "Stopped on request; 0 of 2 runs had finished.")
    assert folder.finished() == ()


def test_finished_records_are_kept_when_stopped(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)
    finish = work.Listener.finish

    def finish_and_ask(listener: work.Listener) -> None:
        finish(listener)
        folder.ask_to_stop()

    monkeypatch.setattr(work.Listener, "finish", finish_and_ask)
    worker.main([str(folder.path)])
    outcome = folder.outcome()
    assert outcome is not None
    assert outcome.reason == "Stopped on request; 1 of 2 runs had finished."
    assert folder.finished() == (0,)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (SPEC.but(dataset="nowhere"), "no data set named 'nowhere'"),
        (SPEC.but(fold="Fold7"), "no fold Fold7"),
        (SPEC.but(digest="0" * 32), "digest"),
        (SPEC.but(loss="hinge", solver="lbfgs"), "choose solver='newton', which can train it"),
        (SPEC.but(normalisation="other"), "no normalisation is called 'other'"),
        (SPEC.but(n_components=10**9), "Choose m = "),
    ],
)
def test_what_cannot_be_run_is_a_sentence(tmp_path: Path, root: Path, spec: RunSpec, why: str) -> None:
    folder = RunFolder.create(tmp_path / "run", job(root, (SPECS[1], spec)))
    assert worker.main([str(folder.path)]) == 0
    outcome = folder.outcome()
    assert outcome is not None
    assert outcome.state == "failed"
    assert why in outcome.reason
    assert folder.finished() == (0,)


def test_memory_that_runs_out_is_a_sentence(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def execute_all(*args: object, **settings: object) -> None:
        raise MemoryError

    monkeypatch.setattr(work, "execute_all", execute_all)
    worker.main([str(folder.path)])
    outcome = folder.outcome()
    assert outcome is not None
    assert outcome.reason.startswith("Memory ran out")


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_records_that_cannot_be_kept_are_a_sentence(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = RunRecord.save
    monkeypatch.setattr(
        RunRecord, "save", lambda record, path: full() if "0001" in path.name else save(record, path)
    )
    worker.main([str(folder.path)])
    outcome = folder.outcome()
    assert outcome is not None
    assert (outcome.state, outcome.reason) == (
        "failed",
        "Nothing more can be written where jobs are kept (No space left on device); 1 of 2 runs had "
        "finished, and are kept. Who runs the app can free space there; then ask again.",
    )


def test_where_there_is_no_room_for_the_outcome_the_log_has_the_reason(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunFolder, "end", full)
    with pytest.raises(SystemExit, match=r"^2 of 2 runs finished\.$"):
        worker.main([str(folder.path)])


def test_progress_that_cannot_be_told_does_not_end_a_job(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def but_progress(path: Path, *arguments: Any, **named: Any) -> Any:
        return full() if path.name == "progress.jsonl" else opened(path, *arguments, **named)

    with monkeypatch.context() as filled:
        filled.setattr(Path, "open", but_progress)
        worker.main([str(folder.path)])
    outcome = folder.outcome()
    assert outcome is not None
    assert outcome.state == "finished"


def test_a_job_that_cannot_be_queued_again_goes_on(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder.create(tmp_path / ("0" * 32), job(root))
    others = RunFolder.create(tmp_path / ("1" * 32), job(root, owner="you"))
    monkeypatch.setattr(work, "bounds", lambda: Bounds(turn_seconds=1e-9))
    monkeypatch.setattr(RunFolder, "release", full)
    assert folder.claim(ProcessId.of(os.getpid()))
    work.work(folder.path)
    outcome = folder.outcome()
    assert outcome is not None
    assert outcome.state == "finished"
    assert not others.claimed()


def test_a_fold_is_read_once_for_runs_that_share_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folds, told = work.Folds((str(root),)), list[Progress]()
    first = folds.of(SPEC, told.append)
    assert {progress.stage for progress in told} == {"data"}
    assert folds.of(SPECS[1], told.append) is first


def test_what_another_job_has_made_is_taken_over(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = open_fold(find_datasets([root])["small"], 1).digest
    known = tuple(spec.but(digest=digest) for spec in SPECS)
    first, second, unsure = (
        RunFolder.create(tmp_path / f"{number:032x}", job(root, specs))
        for number, specs in enumerate((known[:1], known, SPECS[:1]))
    )
    work.work(first.path)
    trained: list[RunSpec] = []
    real = work.execute_all

    def noting(specs, callback, *, fold):
        trained.extend(specs)
        return real(specs, callback, fold=fold)

    monkeypatch.setattr(work, "execute_all", noting)
    work.work(second.path)
    assert trained == [known[1]]
    assert second.outcome().reason == "2 of 2 runs finished."
    assert second.record(0).seconds == first.record(0).seconds
    assert [row["index"] for row in second.rows() if row["stage"] == "finished"] == [0, 1]
    work.work(unsure.path)
    assert trained == [known[1], SPECS[0]], "it does not say which data it means"


def test_only_one_process_works_on_a_folder(folder: RunFolder) -> None:
    other = ProcessId.of(os.getppid())
    assert folder.claim(other)
    assert folder.claim(other)
    assert not folder.claim(ProcessId.of(os.getpid()))
    assert worker.main([str(folder.path)]) == 1
    assert folder.outcome() is None


def test_the_command(folder: RunFolder) -> None:
    command = [sys.executable, "-m", "rankviz.experiments.worker", str(folder.path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert folder.finished() == (0, 1)


def test_a_worker_tells_that_it_is_there_before_it_imports_the_libraries(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rankviz.experiments.work", None)  # importing it fails from now on
    with pytest.raises(ImportError):
        worker.main([str(folder.path)])
    latest = folder.latest()
    assert latest is not None
    assert (latest["stage"], latest["index"]) == ("starting", 0)


def test_a_stop_ends_the_worker_while_it_imports_the_libraries(folder: RunFolder) -> None:
    """An import that takes a minute is put in the place of theirs."""
    slow = "import sys, time; sys.meta_path.insert(0, type('Slow', (), {'find_spec': staticmethod("
    slow += "lambda name, *_: time.sleep(60) if name == 'rankviz.experiments.work' else None)}))"
    code = f"{slow}; from rankviz.experiments import worker; sys.exit(worker.main(sys.argv[1:]))"
    folder.ask_to_stop()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder.path)],
        check=False,
        cwd=Path(__file__).parent.parent,
        timeout=30,
    )
    outcome = folder.outcome()
    assert outcome is not None
    assert (done.returncode, outcome.state) == (0, "stopped")
    assert outcome.reason == "Stopped on request before the first run began."


def test_the_entry_imports_none_of_the_libraries() -> None:
    code = "import sys, rankviz.experiments.worker; "
    code += "print({'numpy', 'scipy', 'pandas', 'sklearn'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout == "set()\n"


def test_a_command_without_a_folder() -> None:
    assert worker.main([]) == 2


# --- the folder ---------------------------------------------------------------------------------------------


def test_a_job_survives_its_file(folder: RunFolder, root: Path) -> None:
    assert folder.job() == Job.from_json(folder.job().to_json())
    assert folder.job().specs == SPECS
    for text in ("[]", "{}", json.dumps({"format": 99})):
        with pytest.raises(ValueError, match="job"):
            Job.from_json(text)


def test_half_written_lines_wait(folder: RunFolder) -> None:
    assert list(folder.rows()) == []
    assert folder.latest() is None
    whole = json.dumps({"stage": "newton", "index": 0, "fraction": None})
    (folder.path / "progress.jsonl").write_text(f'{whole}\n{{"stage": "evalu')
    assert list(folder.rows()) == [json.loads(whole)]
    assert folder.latest() == json.loads(whole)
    (folder.path / "progress.jsonl").write_text(f"{whole}\n" * 1000 + "17\n")
    assert len(list(folder.rows())) == 1000
    assert folder.latest() == json.loads(whole)


def test_the_last_words_of_a_log(folder: RunFolder) -> None:
    assert folder.last_words() == ""
    folder.log_file().write_text("Traceback:\n  here\nValueError: no\n\n")
    assert folder.last_words() == "ValueError: no"
