"""What pages make is kept in the run store, what that has is not made again; without it pages work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from runs_once import RunsOnce
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.datasets import load_demo
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.store import StoreOutOfReach, Study
from rankviz.store.execution import LocalWorkers
from ui.shared import run_store
from ui.shared.runs import _memory

SPEC = RunSpec("synthetic-demo", digest=load_demo(1).digest, feature_map="linear")


def test_what_a_page_makes_is_kept_and_found_again(
    open_page: Callable[..., AppTest], runs_once: RunsOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_page("train", m=20)
    run_store.keeper().settle()
    table = run_store.run_store().listing.every()
    assert {"linear", "nystroem"} <= set(table["feature_map"])
    assert set(table["state"]) == {"done"}
    _memory.cache_clear()  # as after a restart

    def nothing(*_: object, **__: object) -> None:
        raise AssertionError("it was made again")

    monkeypatch.setattr("ui.shared.runs.execute_all", nothing)
    app = open_page("train", m=20)
    assert not app.exception


def test_pages_work_without_the_store(
    open_page: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKVIZ_STORE", str(tmp_path / "file" / "runs.sqlite"))
    app = open_page("train", m=20)
    assert not app.exception
    assert not app.error
    run_store.keeper().settle()
    assert "cannot be opened" in run_store.keeper().why
    with pytest.raises(StoreOutOfReach):
        run_store.run_store()


def test_a_sweep_that_stands_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[LocalWorkers] = []
    monkeypatch.setattr(LocalWorkers, "see_to_it", lambda self: looked.append(self))
    run_store.look_after()
    assert looked == []
    study = run_store.run_store().studies.submit(Study("me", "a sweep"), [SPEC])
    run_store.look_after()
    assert len(looked) == 1
    run_store.run_store().studies.pause(study, "me")
    run_store.look_after()
    assert len(looked) == 1


def test_what_jobs_have_left_is_taken_over(runs_once: RunsOnce) -> None:
    ((_, record),) = runs_once([SPEC], lambda _: None, fold=load_demo(1))
    jobs = JobStore()
    RunFolder.create(jobs.folder / ("b" * 32), Job((record.spec,), "me", "A job", (), 1, 0.0), [record])
    run_store.look_after()
    assert list(run_store.run_store().listing.seen_by("me").index) == [record.spec.hash]
