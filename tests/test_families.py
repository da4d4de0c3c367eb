"""Runs that share features: the same results as runs made alone, in families, with honest seconds."""

from dataclasses import replace

import numpy as np
import pytest
from conftest_runs import EVERY, others
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rankviz import Fold, Progress, RankSVM, RunRecord, RunSpec, StopRequested, execute, execute_all
from rankviz.datasets import make_fold
from rankviz.features import RBF
from rankviz.learning.objective import Status
from rankviz.models.ranksvm import fit_curve
from rankviz.runs import families as families_module
from rankviz.runs.families import families

SPEC = RunSpec("demo", n_components=20, gamma=0.5, C=0.25, seed=3, tol=1e-10)
MAPS = ("nystroem", "fourier")
SPREAD = {"nystroem": {"landmarks": "kmeans++"}, "fourier": {"frequencies": "orthogonal"}}
GRID = (1, 5, 20, 60, 5000)


@pytest.fixture(scope="module")
def fold() -> Fold:
    """Documents that repeat, and fewer distinct ones than the largest m."""
    fold = make_fold(n_queries=20, documents_per_query=(5, 20), n_features=6, seed=1)
    X = fold.train.X.copy()
    X[1::3] = X[::3][: len(X[1::3])]
    X[5:9] = 0.0
    return replace(fold, train=replace(fold.train, X=X))


def specs_over(name: str, **changes: object) -> list[RunSpec]:
    grid = GRID[:-1] if name == "fourier" else GRID
    return [SPEC.but(feature_map=name, n_components=m, **changes) for m in grid]


def assert_same_run(shared: RunRecord, alone: RunRecord, atol: float = 2e-4) -> None:
    assert shared.spec == alone.spec
    assert (shared.status, shared.n_pairs) == (alone.status, alone.n_pairs)
    assert shared.n_components == alone.n_components
    assert shared.objective == pytest.approx(alone.objective, rel=1e-8)
    for part, scores in alone.scores.items():
        np.testing.assert_allclose(shared.scores[part], scores, atol=atol)


# --- the same results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [False, True], ids=["plain", "spread out"])
@pytest.mark.parametrize("name", MAPS)
def test_a_curve_is_its_separate_runs(fold: Fold, name: str, spread: bool) -> None:
    choices = SPREAD[name] if spread else {}
    records = dict(execute_all(specs_over(name, **choices)[::-1], fold=fold))
    assert [spec.n_components for spec in records] == list(GRID[: len(records)])
    for spec, record in records.items():
        assert_same_run(record, execute(spec, fold=fold))
    starts = [record.start for record in records.values()]
    assert starts[:3] == ["zero", "the weights for m = 1", "the weights for m = 5"]


@pytest.mark.parametrize("name", [*MAPS, "linear"])
def test_a_path_over_c_is_its_separate_runs(fold: Fold, name: str) -> None:
    specs = [SPEC.but(feature_map=name, C=C) for C in (4.0, 1e-3, 0.25, 0.5, 1.0)]
    records = list(execute_all(specs, fold=fold))
    assert [spec.C for spec, _ in records] == [1e-3, 0.25, 0.5, 1.0, 4.0]
    for spec, record in records:
        assert_same_run(record, execute(spec, fold=fold))
    assert [record.start for _, record in records][1:3] == [
        "the weights for C = 0.001",
        "the weights for C = 0.25",
    ]


@pytest.mark.parametrize("name", [*MAPS, "linear"])
def test_a_warm_start_is_used(fold: Fold, name: str) -> None:
    one, other = (SPEC.but(feature_map=name, C=C) for C in (1.0, 1.1))
    after, alone = dict(execute_all([one, other], fold=fold))[other], execute(other, fold=fold)
    assert after.start == "the weights for C = 1"
    assert len(after.trace) < len(alone.trace)
    assert after.trace["objective"][0] < 0.8 * alone.trace["objective"][0]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("room", [1e12, 0.0])
def test_a_grid_over_gamma_is_its_separate_runs(
    fold: Fold, name: str, room: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families_module, "free_memory", lambda: room)
    specs = [SPEC.but(feature_map=name, gamma=g, n_components=m) for m in (30, 8) for g in (2.0, 1e-4, 0.5)]
    records = list(execute_all(specs, fold=fold))
    assert [(s.gamma, s.n_components) for s, _ in records] == [
        (g, m) for g in (1e-4, 0.5, 2.0) for m in (8, 30)
    ]
    for spec, record in records:
        assert_same_run(record, execute(spec, fold=fold))


def test_landmarks_that_earlier_ones_span(fold: Fold) -> None:
    """On a line nearly all landmarks are skipped; which ones depends on γ."""
    line = np.random.default_rng(5).normal(size=(fold.train.n_documents, 1)) @ np.ones((1, 6))
    thin = replace(fold, train=replace(fold.train, X=line))
    specs = [SPEC.but(n_components=m, gamma=g, tol=1e-6) for g in (2.0**-12, 2.0**-6) for m in (3, 10, 100)]
    records = dict(execute_all(specs, fold=thin))
    used = [record.n_components for record in records.values()]
    assert used[2] < 20
    assert used == sorted(used[:3]) + sorted(used[3:])
    for spec, record in records.items():
        alone = execute(spec, fold=thin)
        assert record.n_components == alone.n_components
        assert record.objective == pytest.approx(alone.objective, rel=1e-5)


def test_truncated_maps_stand_alone(fold: Fold) -> None:
    specs = [SPEC.but(n_components=m, rank=4, C=C) for m in (10, 20) for C in (0.1, 0.2)]
    assert [[s.n_components for s in family] for family in families(specs)] == [[10, 10], [20, 20]]
    for spec, record in execute_all(specs, fold=fold):
        assert_same_run(record, execute(spec, fold=fold))


def test_runs_from_zero_share_features_only(fold: Fold) -> None:
    for spec, record in execute_all(specs_over("nystroem", start="zero"), fold=fold):
        alone = execute(spec, fold=fold)
        assert record.start == "zero"
        assert "start" not in record.seconds
        assert record.trace["cg_iterations"].tolist() == alone.trace["cg_iterations"].tolist()


def test_one_spec_is_a_family_of_its_own(fold: Fold) -> None:
    [(spec, record)] = execute_all([SPEC, SPEC], fold=fold)
    assert spec is SPEC
    assert record.start == "zero"
    assert list(execute_all([], fold=fold)) == []


# --- families -----------------------------------------------------------------------------------------------


def test_families_differ_in_m_gamma_and_c_only() -> None:
    data = dict.fromkeys(("dataset", "fold", "digest"), "another") | {"normalisation": "query_zscore"}
    numbers = {"seed": 4, "tol": 0.5, "rank": 7}
    words = {
        name: next(other for other in setting.options if other != SPEC.values[name])
        for name, setting in SPEC.declared().items()
        if setting.options
    }
    others = data | numbers | words | {"costs": "grade", "method": "factorized"}
    assert set(others) == {*data, *SPEC.values, "method"} - {"n_components", "gamma", "C"}
    for name, value in others.items():
        assert len(families([SPEC, SPEC.but(**{name: value})])) == 2, name
    assert len(families([SPEC, SPEC.but(gamma="scale"), SPEC.but(gamma=0.1)])) == 1
    for spec in (SPEC.factorized(2, 0.5), SPEC.regularized(1.0, 2.0, 0.5)):
        assert len(families([spec, spec.but(C=0.1), spec.but(n_components=3), spec])) == 3
    assert families([SPEC, SPEC.but(C=0.1, n_components=3), SPEC]) == [
        [SPEC.but(C=0.1, n_components=3), SPEC]
    ]


def test_families_share_no_other_setting_of_any_map_or_kernel() -> None:
    for spec in EVERY:
        differing = others(spec)
        for name in differing.keys() - spec.kind.varying(spec.values):
            assert len(families([spec, differing[name]])) == 2, name


# --- seconds, stopping, faults ------------------------------------------------------------------------------


def test_seconds_are_those_of_a_run_alone_on_its_way(fold: Fold) -> None:
    records = [record for _, record in execute_all(specs_over("fourier"), fold=fold)]
    assert list(records[0].seconds) == ["features", "pairs", "newton", "data", "evaluate"]
    assert list(records[1].seconds) == ["features", "pairs", "start", "newton", "data", "evaluate"]
    newton = [record.seconds["newton"] for record in records]
    assert [record.seconds.get("start", 0.0) for record in records] == pytest.approx(
        np.cumsum([0, *newton[:-1]])
    )
    features = [record.seconds["features"] for record in records]
    assert features == sorted(features)
    assert len({record.seconds["pairs"] for record in records}) == 1


def test_the_kernel_of_a_part_is_computed_once(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, int]] = []
    matrix = RBF.matrix

    def counted(kernel: RBF, X: np.ndarray, Z: np.ndarray, *settings: object) -> np.ndarray:
        shapes.append((len(X), len(Z)))
        return matrix(kernel, X, Z, *settings)

    monkeypatch.setattr(RBF, "matrix", counted)
    list(execute_all(specs_over("nystroem"), fold=fold))
    landmarks, *parts = shapes  # the kernel of landmarks with each other comes first
    assert landmarks[0] == landmarks[1]
    assert [n for n, _ in parts] == [part.n_documents for part in fold.parts.values()]


def test_stopped_in_the_middle(fold: Fold) -> None:
    finished: list[RunRecord] = []

    def stop(progress: Progress) -> bool:
        return len(finished) == 2 and progress.stage == "newton"

    for _, record in execute_all(specs_over("nystroem"), stop, fold=fold):
        finished.append(record)
    assert [record.status for record in finished] == [Status.CONVERGED.value] * 2 + [Status.STOPPED.value]
    with pytest.raises(StopRequested):
        list(execute_all(specs_over("nystroem"), lambda p: p.stage == "features", fold=fold))


def test_a_stopped_run_is_nowhere_to_start_from(fold: Fold) -> None:
    svm = RankSVM("nystroem", n_components=20, C=1.0)
    training = svm.training(fold.train)

    def raising(progress: Progress) -> None:
        if progress.stage == "newton":
            raise StopRequested

    assert svm.fit_in(training, raising).result.status is Status.STOPPED
    assert svm.fit_in(training).start == "zero"
    assert svm.fit_in(training).start == "the weights for the same settings"


def test_a_run_that_did_not_converge_is_nowhere_to_start_from(fold: Fold) -> None:
    svm = RankSVM("nystroem", n_components=20, C=1.0, max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        first, second = fit_curve(svm, fold.train, C=[1.0, 2.0])
    assert (first.status_, second.start_) == (Status.MAX_ITERATIONS, "zero")


# --- fit_curve ----------------------------------------------------------------------------------------------


def test_fit_curve_is_separate_fits(fold: Fold) -> None:
    svm = RankSVM(
        "fourier", n_components=7, gamma=0.3, C=0.5, random_state=np.random.RandomState(1), tol=1e-10
    )
    found = list(fit_curve(svm, fold.train, n_components=[30, 10], C=[1.0, 0.1], gamma=[0.2]))
    assert [(s.n_components, s.C) for s in found] == [(10, 0.1), (10, 1.0), (30, 0.1), (30, 1.0)]
    assert len({s.random_state for s in found}) == 1
    for one in found:
        alone = RankSVM(**one.get_params()).fit_data(fold.train)
        assert one.objective_ == pytest.approx(alone.objective_, rel=1e-8)
        np.testing.assert_allclose(one.predict(fold.test.X), alone.predict(fold.test.X), atol=2e-4)
    assert not hasattr(svm, "coef_")


def test_fit_curve_stopped(fold: Fold) -> None:
    def stop(progress: Progress) -> bool:
        return progress.stage == "newton"

    found = list(fit_curve(RankSVM("nystroem"), fold.train, n_components=[5, 10], callback=stop))
    assert [one.status_ for one in found] == [Status.STOPPED]


@pytest.mark.parametrize("name", ["nystroem", "fourier"])
def test_wide_maps_start_from_fewer_features(fold: Fold, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.learning.training.WIDE", 40)
    model = RankSVM(name, n_components=60, gamma=0.25, C=0.5, tol=1e-8)
    wide, narrow = (clone(model).set_params(n_components=m).fit_data(fold.train) for m in (60, 30))
    assert wide.start_ == "the weights for m = 5"
    assert wide.seconds_["start"] > 0
    assert narrow.start_ == "zero"
    alone = clone(model)
    alone.fit_in(alone.training(fold.train), alone=True)
    assert alone.start_ == "zero"
    assert wide.objective_ == pytest.approx(alone.objective_, rel=1e-7)
    plain = clone(model).set_params(preconditioner="none").fit_data(fold.train)
    assert plain.start_ == "zero"
