"""Test warnings of `fit`: a solver that did not converge, and unused settings."""

import warnings
from typing import Any

import numpy as np
import pytest
from conftest_estimators import QID, X, Y
from sklearn.exceptions import ConvergenceWarning

from rankviz import (
    DataWarning,
    FactorizedRankSVM,
    RankingData,
    RankSVM,
    RegularizedRankSVM,
    RunSpec,
    SettingWarning,
    execute,
    fit_curve,
)
from rankviz.common.errors import SettingError
from rankviz.datasets import make_fold
from rankviz.learning.objective import Status
from rankviz.learning.solvers import SOLVERS
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.low_rank_settings import DUAL_SOLVERS, FACTOR_SOLVERS

DATA = RankingData.from_arrays(X, Y, QID)

# --- models that tell no documents apart ------------------------------------------------------------------


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact"])
def test_a_column_with_a_large_offset_that_hides_the_others_is_said(feature_map: str) -> None:
    """gamma="scale" is then so small that the kernel is 1 for all documents."""
    shifted = X + np.where(np.arange(X.shape[1]) == 0, 1e8, 0.0)
    with pytest.warns(DataWarning, match=r"every score the same.*normalise the features.*gamma") as caught:
        model = RankSVM(feature_map).fit(shifted, Y, qid=QID)
    assert not np.ptp(model.predict(shifted))
    assert [warning.filename for warning in caught] == [__file__]


def test_features_without_differences_are_said() -> None:
    with pytest.warns(DataWarning, match="every score the same"):
        RankSVM().fit(np.ones_like(X), Y, qid=QID)


def test_models_of_a_curve_with_equal_scores_are_said() -> None:
    with pytest.warns(DataWarning, match="every score the same") as caught:
        list(fit_curve(RankSVM("nystroem", C=0.1), DATA, gamma=[1e-14, 0.2]))
    assert len(caught) == 1
    with pytest.warns(DataWarning, match="no preference pair"):
        list(fit_curve(RankSVM(), RankingData.from_arrays(X, 0 * Y, QID)))


# --- solvers that end before they are there ---------------------------------------------------------------


LIMITED: dict[str, FeatureRanker] = {
    **{name: RankSVM(solver=name, max_iter=1, C=10.0) for name in SOLVERS},
    "hinge": RankSVM(loss="hinge", max_iter=1),
    "exact": RankSVM("exact", max_iter=1, C=10.0),
    "without preconditioner": RankSVM(preconditioner="none", max_iter=1, C=10.0),
    **{f"factors, {name}": FactorizedRankSVM(C=10.0, solver=name, max_iter=1) for name in FACTOR_SOLVERS},
    **{f"duals, {name}": RegularizedRankSVM(C=10.0, solver=name, max_iter=1) for name in DUAL_SOLVERS},
}


@pytest.mark.parametrize("name", LIMITED)
def test_every_solver_that_ends_at_its_limit_says_so(name: str) -> None:
    words = r"SVM stopped at the largest.*duality gap \d.*of the objective.*max_iter.*tol.*smaller C"
    with pytest.warns(ConvergenceWarning, match=words) as caught:
        model = LIMITED[name].fit(X, Y, qid=QID)
    assert str(caught[0].message).startswith(type(model).__name__)
    assert caught[0].filename == __file__
    assert model.status_ is Status.MAX_ITERATIONS
    assert not model.status_.converged


def test_a_stalled_fit_asks_for_another_tolerance() -> None:
    with pytest.warns(ConvergenceWarning, match=r"stalled.*More iterations would change nothing.*larger tol"):
        model = RankSVM(tol=1e-320, loss="hinge").fit(X, Y, qid=QID)
    assert model.status_ is Status.STALLED


def test_a_diverged_fit_asks_for_a_smaller_c() -> None:
    model = RankSVM().fit(X, Y, qid=QID)
    for status in Status:
        model.status_ = status
        assert (model.doubt() == "") == (status.converged or status is Status.STOPPED), status
    model.status_, model.gap_ = Status.DIVERGED, float("nan")
    assert model.doubt().endswith("without bound. Choose a smaller C, or another solver.")
    assert "gap" not in model.doubt()


def test_stopped_on_request_is_no_reason_to_warn() -> None:
    model = RankSVM(C=10.0).fit(X, Y, qid=QID, callback=lambda progress: progress.stage == "newton")
    assert model.status_ is Status.STOPPED


def test_models_of_a_curve_are_warned_of_each() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        models = list(fit_curve(RankSVM(max_iter=1), DATA, C=[5.0, 10.0]))
    assert [model.status_ for model in models] == [Status.MAX_ITERATIONS] * 2
    assert len(caught) == 2
    assert {warning.filename for warning in caught} == {__file__}


def test_a_run_keeps_its_status_and_is_silent() -> None:
    """Pages show the status of runs; warnings in a worker would be lost."""
    fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    spec = RunSpec(fold.name, "1", feature_map="linear", C=100.0, solver="sgd_pair", tol=1e-9)
    record = execute(spec, fold=fold)
    assert record.status == Status.MAX_ITERATIONS.value


# --- settings that are not read ---------------------------------------------------------------------------

UNREAD: list[tuple[dict[str, Any], str]] = [
    ({"kernel": "laplacian"}, "kernel='laplacian' is not read with feature_map='linear'; it is"),
    ({"gamma": 0.1}, "gamma=0.1 is not read with feature_map='linear'; it is with kernel="),
    ({"n_components": 7}, "feature_map='nystroem' or 'fourier'"),
    ({"feature_map": "exact", "n_components": 7}, "feature_map='nystroem' or 'fourier'"),
    (
        {"feature_map": "exact", "kernel": "linear", "gamma": 0.1},
        "gamma=0.1 is not read with kernel='linear'",
    ),
    ({"feature_map": "exact", "degree": 2}, "with kernel='rbf'; it is with kernel='polynomial'"),
    ({"degree": 2}, "kernel='polynomial' and feature_map='nystroem', 'fourier' or 'exact'"),
    ({"feature_map": "nystroem", "coef0": 0.0}, "coef0=0.0 is not read with kernel='rbf'"),
    ({"feature_map": "fourier", "landmarks": "kmeans++"}, "it is with feature_map='nystroem'"),
    ({"feature_map": "nystroem", "frequencies": "orthogonal"}, "it is with feature_map='fourier'"),
]


@pytest.mark.parametrize(
    ("ranker", "settings", "words"),
    [
        *((RankSVM, *one) for one in UNREAD),
        (FactorizedRankSVM, *UNREAD[0]),
        (RegularizedRankSVM, *UNREAD[-1]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_settings_that_are_not_read_are_named(ranker: type, settings: dict[str, Any], words: str) -> None:
    with pytest.warns(SettingWarning) as caught:
        model = ranker(**settings).fit(X, Y, qid=QID)
    assert len(caught) == 1
    assert words in str(caught[0].message)
    assert caught[0].filename == __file__
    others = {name: value for name, value in settings.items() if name != [*settings][-1]}
    plain = ranker(**others).fit(X, Y, qid=QID)
    np.testing.assert_array_equal(model.coef_, plain.coef_)  # it is true that nothing reads it


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "lbfgs", "preconditioner": "none"}, "it is with solver='newton'"),
        ({"solver": "newton_yuan", "tol": 1e-3}, "its? own rule; it is with solver='newton', 'sgd_query'"),
    ],
)
def test_settings_of_solvers_that_are_not_read(settings: dict[str, Any], words: str) -> None:
    with pytest.warns(SettingWarning, match=words):
        RankSVM(**settings).fit(X, Y, qid=QID)


def test_a_curve_over_what_is_not_read_says_so() -> None:
    with pytest.warns(SettingWarning, match=r"gamma=0\.5 is not read with feature_map='linear'"):
        list(fit_curve(RankSVM(), DATA, gamma=[0.5]))


def test_defaults_given_in_words_and_seeds_are_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankSVM(kernel="rbf", gamma="scale", degree=3, coef0=1, n_components=np.int64(500)).fit(X, Y, qid=QID)
        RankSVM(random_state=5, memory_limit=1e9, max_iter=50).fit(X, Y, qid=QID)
        model = RankSVM("nystroem", 20, 0.1, rank=5, landmarks="kmeans++").fit(X, Y, qid=QID)
    assert model.coef_.shape == (5,)


@pytest.mark.parametrize("feature_map", ["linear", "fourier", "exact"])
def test_a_rank_where_nothing_reads_it_is_refused(feature_map: str) -> None:
    for fit in (lambda model: model.fit(X, Y, qid=QID), lambda model: model.fit_data(DATA)):
        with pytest.raises(SettingError, match=f"rank=5 is not read with .*{feature_map}'.*'nystroem'"):
            fit(RankSVM(feature_map, rank=5))
    with pytest.raises(SettingError, match="rank=5"):
        next(fit_curve(RankSVM(feature_map, rank=5), DATA))


# --- settings beyond what numbers can hold ----------------------------------------------------------------

MAPS = [
    (name, kernel)
    for name in ("nystroem", "fourier", "exact")
    for kernel in ("rbf", "laplacian", "polynomial")
    if (name, kernel) != ("fourier", "polynomial")
]


@pytest.mark.parametrize(
    ("ranker", "feature_map", "kernel"),
    [*((RankSVM, *one) for one in MAPS), (FactorizedRankSVM, *MAPS[0]), (RegularizedRankSVM, *MAPS[-1])],
)
def test_a_gamma_beyond_numbers_is_refused(ranker: type, feature_map: str, kernel: str) -> None:
    with pytest.raises(ValueError, match=r"gamma up to|smaller γ"):
        ranker(feature_map=feature_map, kernel=kernel, gamma=1e308).fit(X, Y, qid=QID)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact"])
def test_the_largest_gamma_that_is_named_will_do(feature_map: str, kernel: str) -> None:
    with pytest.raises(SettingError) as refused:
        RankSVM(feature_map, kernel=kernel, gamma=1e308).fit(X, Y, qid=QID)
    largest = float(str(refused.value).rsplit(" ", 1)[1])
    model = RankSVM(feature_map, kernel=kernel, gamma=largest * 0.99).fit(X, Y, qid=QID)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(SettingError, match="gamma up to"):
        model.predict(X * 1e9)


@pytest.mark.parametrize("C", [1e308, 1e200])
@pytest.mark.parametrize(
    "settings", [{}, {"loss": "hinge"}, {"loss": "logistic"}, {"solver": "lbfgs"}], ids=str
)
def test_a_c_beyond_numbers_is_refused(settings: dict[str, Any], C: float) -> None:
    with pytest.raises(SettingError, match=r"C=1e\+\d+ is too large.*C up to"):
        RankSVM(C=C, **settings).fit(X, Y, qid=QID)
    for ranker in (FactorizedRankSVM, RegularizedRankSVM):
        with pytest.raises(SettingError, match="C up to"):
            ranker(C=C).fit(X, Y, qid=QID)


def test_a_kernel_that_double_precision_cannot_hold_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="smaller coef0 or degree"):
        RankSVM("exact", kernel="polynomial", coef0=1e20).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="smaller γ, coef0 or degree"):
        RankSVM("exact", kernel="polynomial", coef0=1e300).fit(X, Y, qid=QID)


def test_a_coupling_beyond_numbers_is_refused() -> None:
    """Its steps would be halved without end."""
    with pytest.raises(SettingError, match=r"coupling=1e\+308 must be at most"):
        RegularizedRankSVM(coupling=1e308).fit(X, Y, qid=QID)
    model = RegularizedRankSVM(coupling=1e139, max_iter=5).fit_data(DATA)
    assert model.status_ is Status.MAX_ITERATIONS
