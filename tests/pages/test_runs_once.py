"""Test that runs are trained once: the same progress is reported, and only finished runs are kept."""

from __future__ import annotations

import pytest
import runs_once as runs_once_module
from runs_once import RunsOnce

from rankviz import Fold, Progress, RunSpec
from rankviz.datasets import make_fold
from rankviz.runs.run import execute_all


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=8, documents_per_query=(4, 8), n_features=3, seed=1)


def specs(fold: Fold) -> list[RunSpec]:
    return [RunSpec("demo", digest=fold.digest, feature_map="linear", C=C) for C in (0.1, 1.0)]


def reports(runs: RunsOnce, fold: Fold) -> list[object]:
    """Stages and records in the order in which they come."""
    events: list[object] = []
    for found in runs(specs(fold), lambda progress: events.append(progress), fold=fold):
        events.append(found)
    return events


def test_the_same_is_told_again_without_training(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = RunsOnce()
    first = reports(runs, fold)
    monkeypatch.setattr(runs_once_module, "execute_all", None)
    again = reports(runs, fold)
    assert len(again) == len(first)
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_it_is_what_training_tells(fold: Fold) -> None:
    runs, stages = RunsOnce(), list[str]()
    reports(runs, fold)
    real = list(execute_all(specs(fold), lambda progress: stages.append(progress.stage), fold=fold))
    again = reports(runs, fold)
    assert [event.stage for event in again if isinstance(event, Progress)] == stages
    records = [event for event in again if not isinstance(event, Progress)]
    assert [spec for spec, _ in records] == [spec for spec, _ in real]
    for (_, record), (_, other) in zip(records, real, strict=True):
        assert record.weights.tolist() == other.weights.tolist()


def test_what_an_error_ends_is_trained_again(fold: Fold) -> None:
    def too_long(progress: Progress) -> None:
        raise TimeoutError

    runs = RunsOnce()
    with pytest.raises(TimeoutError):
        list(runs(specs(fold), too_long, fold=fold))
    assert len(reports(runs, fold)) > 2
    with pytest.raises(TimeoutError):  # of what is told again too
        list(runs(specs(fold), too_long, fold=fold))


def test_other_data_of_the_same_name_are_refused(fold: Fold) -> None:
    other = make_fold(n_queries=8, documents_per_query=(4, 8), n_features=3, seed=2)
    with pytest.raises(AssertionError):
        list(RunsOnce()(specs(fold), lambda progress: None, fold=other))
