"""`execute`: runs as their specs say, records that survive files, runs in shards, and replays."""

import dataclasses
import gc
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest_runs import SPEC

import rankviz
from rankviz import DataError, Fold, Progress, RankSVM, RunRecord, RunSpec, StopRequested, execute
from rankviz.common import npz
from rankviz.common.errors import SettingError
from rankviz.common.progress import Stopwatch
from rankviz.datasets import NORMALISATIONS, normalise
from rankviz.learning.objective import Status, TraceRow
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.solvers import SOLVERS
from rankviz.metrics.evaluation import compared
from rankviz.runs import run as run_module
from rankviz.runs.estimate import Shape
from rankviz.runs.run import model_from, plan_in_shards, play, playable, reason_not_in_shards
from rankviz.shards import Here


@pytest.fixture(scope="module")
def record(fold: Fold) -> RunRecord:
    return execute(SPEC, fold=fold)


# --- execute ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_execute_is_training_and_evaluating_by_hand(fold: Fold, normalisation: str) -> None:
    spec = SPEC.but(normalisation=normalisation)
    record, used = execute(spec, fold=fold), normalise(fold, normalisation)
    svm = RankSVM("nystroem", n_components=25, gamma=0.5, C=0.25, random_state=3)
    svm.fit(used.train.X, used.train.y, qid=used.train.qid)
    np.testing.assert_array_equal(record.weights, svm.coef_)
    assert list(record.metrics) == list(record.scores) == ["train", "vali", "test"]
    for part, data in used.parts.items():
        np.testing.assert_allclose(record.scores[part], svm.predict(data.X), rtol=1e-11, atol=1e-13)
        pd.testing.assert_frame_equal(record.metrics[part], compared(svm.predict(data.X), data)[0])
    assert (record.objective, record.n_pairs, record.n_components) == (
        svm.objective_,
        svm.n_pairs_,
        svm.n_components_,
    )
    assert record.status == Status.CONVERGED.value
    assert record.spec == spec.but(digest=fold.digest)


def test_a_record_says_what_it_took(record: RunRecord) -> None:
    assert list(record.seconds) == ["features", "pairs", "newton", "data", "evaluate"]
    assert min(record.seconds.values()) >= 0
    assert record.peak_memory > 10_000_000
    assert record.versions["numpy"] == np.__version__
    assert list(record.trace.columns) == list(TraceRow.__annotations__)


def test_equal_specs_give_equal_results(fold: Fold, record: RunRecord) -> None:
    again = execute(record.spec, fold=fold)
    np.testing.assert_array_equal(again.weights, record.weights)
    pd.testing.assert_frame_equal(again.trace.drop(columns="seconds"), record.trace.drop(columns="seconds"))
    assert again.spec.hash == record.spec.hash


def test_other_data_than_the_spec_names(fold: Fold) -> None:
    with pytest.raises(DataError, match="digest") as caught:
        execute(SPEC.but(digest="0" * 32), fold=fold)
    assert fold.digest in str(caught.value)


def test_data_are_looked_up_by_name(monkeypatch: pytest.MonkeyPatch, fold: Fold, record: RunRecord) -> None:
    asked: list[tuple[object, object]] = []

    def open_fold(dataset: object, name: object, progress: object) -> Fold:
        asked.append((dataset, name))
        return fold

    monkeypatch.setattr(run_module, "find_datasets", lambda roots: {"demo": "the demo", "other": "another"})
    monkeypatch.setattr(run_module, "open_fold", open_fold)
    np.testing.assert_array_equal(execute(record.spec).weights, record.weights)
    assert asked == [("the demo", "Fold1")]
    with pytest.raises(DataError, match="one of demo, other"):
        execute(RunSpec("nowhere"))


@pytest.mark.parametrize("stage", ["features", "pairs", "evaluate"])
def test_stopped_without_a_result(fold: Fold, stage: str) -> None:
    with pytest.raises(StopRequested):
        execute(SPEC, lambda p: p.stage == stage, fold=fold)


def test_stopped_during_newton_gives_a_record_though_the_stop_stands(fold: Fold, tmp_path: Path) -> None:
    stopped: list[bool] = []

    def stop(progress: Progress) -> bool:
        stopped.extend([True] if progress.stage == "newton" else [])
        return bool(stopped)

    record = execute(SPEC, stop, fold=fold)
    assert record.status == Status.STOPPED.value
    assert len(record.trace) == 0
    assert record.weights.tolist() == [0.0] * 25
    assert_same(RunRecord.load(record.save(tmp_path / "r")), record)
    assert RunRecord.from_bytes(dataclasses.replace(record, status="in other words").to_bytes()).stopped


def test_reading_metrics_again_and_again_takes_no_memory(record: RunRecord) -> None:
    def read(times: int) -> None:
        for _ in range(times):
            record.metrics["vali"]["NDCG@10"].mean()

    read(10)  # what is made once
    gc.collect()
    tracemalloc.start()
    read(400)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100 * 400, "bytes a read; other threads take some, too"


# --- RunRecord --------------------------------------------------------------------------------------------


def assert_same(one: RunRecord, other: RunRecord) -> None:
    for field in dataclasses.fields(RunRecord):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "metrics":
            assert list(a) == list(b)
            for part in a:
                pd.testing.assert_frame_equal(a[part], b[part])
        elif field.name in ("scores", "solution"):
            assert list(a) == list(b)
            for name in a:
                np.testing.assert_array_equal(a[name], b[name])
        elif field.name == "trace":
            pd.testing.assert_frame_equal(a, b)
        elif field.name == "weights":
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, field.name


LOW_RANK = {"method": "factorized", "solver": "lbfgs"}, {"method": "regularized", "solver": "fista"}


@pytest.mark.parametrize(
    "change", [{}, {"feature_map": "linear"}, {"feature_map": "fourier"}, {"rank": 5}, *LOW_RANK]
)
def test_record_round_trip(fold: Fold, tmp_path: Path, change: dict[str, object]) -> None:
    record = execute(SPEC.but(**change), fold=fold)
    assert_same(RunRecord.load(record.save(tmp_path / "r.npz")), record)
    assert [p.name for p in tmp_path.iterdir()] == ["r.npz"]


DAMAGE = {
    "format": lambda m, a: (m | {"format": 0}, a),
    "an earlier format": lambda m, a: (m | {"format": 1}, a),
    "no start": lambda m, a: ({k: v for k, v in m.items() if k != "start"}, a),
    "no word on stops": lambda m, a: ({k: v for k, v in m.items() if k != "stopped"}, a),
    "no spec": lambda m, a: ({k: v for k, v in m.items() if k != "spec"}, a),
    "spec with more": lambda m, a: (m | {"spec": m["spec"] | {"x": 1}}, a),
    "spec is text": lambda m, a: (m | {"spec": "x"}, a),
    "no status": lambda m, a: ({k: v for k, v in m.items() if k != "status"}, a),
    "columns in a list": lambda m, a: (m | {"columns": ["train"]}, a),
    "columns missing": lambda m, a: (m | {"columns": m["columns"] | {"test": ["MAP"]}}, a),
    "part without scores": lambda m, a: (m, {k: v for k, v in a.items() if k != "scores_vali"}),
    "queries missing": lambda m, a: (m, a | {"queries_test": a["queries_test"][1:]}),
    "flat trace": lambda m, a: (m, a | {"trace": a["trace"][0]}),
    "trace not finite": lambda m, a: (m, a | {"trace": a["trace"] + np.nan}),
    "trace of one number": lambda m, a: (m, a | {"trace": np.array(1.0)}),
    "no weights": lambda m, a: (m, {k: v for k, v in a.items() if k != "weights"}),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_records(record: RunRecord, tmp_path: Path, damage: object) -> None:
    path = record.save(tmp_path / "r")
    npz.write_npz(path, *damage(*npz.read_npz(path, "run record")))
    with pytest.raises(DataError, match="run record"):
        RunRecord.load(path)


def test_other_files_are_no_records(record: RunRecord, tmp_path: Path, fold: Fold) -> None:
    svm = RankSVM().fit_data(fold.train)
    with pytest.raises(DataError, match="run record"):
        RunRecord.load(rankviz.save(svm, tmp_path / "m"))
    with pytest.raises(DataError, match="model"):
        rankviz.load(record.save(tmp_path / "r"))
    with pytest.raises(DataError, match="run record"):
        RunRecord.load(tmp_path / "missing")


# --- timing -----------------------------------------------------------------------------------------------


def test_stopwatch_adds_up() -> None:
    clock = Stopwatch()
    clock.lap("a")
    clock.lap("b")
    first = clock.laps["a"]
    sum(range(10_000))
    clock.lap("a")
    assert list(clock.laps) == ["a", "b"]
    assert clock.laps["a"] > first >= 0


_ALLOCATION = """
import numpy as np
from rankviz.common.memory import peak_memory, reset_peak_memory
np.ones(20_000_000)
reset_peak_memory()
before, block = peak_memory(), np.ones(8_000_000)
print((peak_memory() - before) / block.nbytes)
"""


def test_peak_memory_sees_an_allocation() -> None:
    """In a process of its own: threads of other tests may free memory meanwhile."""
    ran = subprocess.run([sys.executable, "-c", _ALLOCATION], capture_output=True, text=True, check=True)
    assert 0.5 < float(ran.stdout) < 2.0


def test_the_model_of_a_record_says_how_training_ended(fold: Fold, tmp_path: Path) -> None:
    """One that was not trained to its end is not taken for one that was, also of a file."""
    begun: list[bool] = []

    def stop(progress: Progress) -> bool:
        begun.extend([True] if progress.stage == "newton" else [])
        return len(begun) > 4

    record = execute(SPEC.but(loss="hinge"), stop, fold=fold)
    model = model_from(record, fold.train)
    for again in (model, rankviz.load(rankviz.save(model, tmp_path / "m"))):
        assert again.status_ is Status.STOPPED
    of_old = model_from(dataclasses.replace(record, status="in other words"), fold.train)
    assert not hasattr(of_old, "status_")


def test_a_file_of_the_model_of_a_record_has_its_gap_and_its_trace(fold: Fold, tmp_path: Path) -> None:
    record = execute(RunSpec("small", loss="hinge"), fold=fold)
    model = rankviz.load(rankviz.save(model_from(record, fold.train), tmp_path / "m"))
    pd.testing.assert_frame_equal(model.trace_, record.trace)
    assert (model.start_, model.seconds_) == (record.start, record.seconds)
    found = rankviz.duals(model, fold.train)
    assert found.gap == model.gap_ == record.trace["gap"].iloc[-1] > 0.0
    assert sum(block.alpha.sum() for block in found) > 0.0


def spec_of(fold: Fold, **changes: object) -> RunSpec:
    return RunSpec("made", digest=fold.digest, feature_map="nystroem", n_components=10).but(**changes)


@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier"])
def test_what_can_be_made_in_shards_is_planned(fold: Fold, feature_map: str) -> None:
    spec = spec_of(fold, feature_map=feature_map)
    assert reason_not_in_shards(spec, Shape.of(fold)) == ""
    assert plan_in_shards(spec, fold, Here(3)).words.startswith("3 shards")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"solver": "sgd_pair"}, "needs all pairs in one place"),
        ({"method": "factorized"}, "cannot be trained in shards here"),
        ({"share": 0.5}, "cannot be trained in shards here"),
    ],
)
def test_what_cannot_is_refused_with_the_same_words(fold: Fold, changes: dict[str, object], why: str) -> None:
    spec = spec_of(fold, **changes)
    assert why in reason_not_in_shards(spec, Shape.of(fold))
    for make in (
        lambda: plan_in_shards(spec, fold, Here(2)),
        lambda: execute(spec, fold=fold, where=Here(2)),
    ):
        with pytest.raises(SettingError, match=why):
            make()


def test_an_exact_kernel_of_many_documents_has_a_coefficient_for_each(fold: Fold) -> None:
    many = replace(Shape.of(fold), n=200_000)
    assert "one coefficient for each" in reason_not_in_shards(spec_of(fold, feature_map="exact"), many)


PLAYED = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, start="zero")


def test_newton_methods_can_be_played_and_no_others() -> None:
    assert [name for name in SOLVERS if playable(PLAYED.but(solver=name))] == ["newton", "newton_yuan"]
    assert not playable(PLAYED.factorized(2, 0.25))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if playable(PLAYED.but(solver=name))])
def test_scores_are_those_of_the_trace(fold: Fold, solver: str) -> None:
    found = play(PLAYED.but(solver=solver), fold)
    record = execute(PLAYED.but(solver=solver), fold=fold)
    assert found.record.trace["objective"].tolist() == record.trace["objective"].tolist()
    assert len(found.scores) == len(record.trace)
    assert not found.scores[0].any()
    np.testing.assert_array_equal(found.scores[-1], record.scores["train"])
    pairs = preference_pairs(fold.train.y, fold.train.ptr)
    active = [int((pairs.margins(f) < 1).sum()) for f in found.scores]
    assert active == record.trace["active_pairs"].tolist()


def test_the_hinge_has_one_frame_for_each_row(fold: Fold) -> None:
    found = play(PLAYED.but(loss="hinge"), fold)
    assert len(found.scores) == len(found.record.trace)
    pairs = preference_pairs(fold.train.y, fold.train.ptr)
    for f, (_, row) in zip(found.scores, found.record.trace.iterrows(), strict=True):
        t = pairs.margins(f)
        assert int(((t < 1) & (t >= 1 - row["smoothing"])).sum()) == pytest.approx(row["active_pairs"], abs=1)


def test_other_solvers_are_refused(fold: Fold) -> None:
    with pytest.raises(ValueError, match="not a Newton method"):
        play(PLAYED.but(solver="lbfgs"), fold)
