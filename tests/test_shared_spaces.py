"""Test that each fit in a shared space equals a fit of its own."""

from collections.abc import Iterable
from itertools import chain, permutations
from typing import Any

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from sklearn.base import clone

from rankviz import Fold, RankingData, RankSVM, RunSpec, execute, execute_all, fit_curve
from rankviz.datasets import make_fold
from rankviz.features import exact
from rankviz.learning.kernel_space import KernelSpace
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.training import Training
from rankviz.shards import Here

X, Y, PTR = problem(6, n_queries=12)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
NEW = np.random.default_rng(6).normal(size=(20, X.shape[1]))
GAMMAS = (0.05, 0.4, 3.0)
MODELS = {
    "kernel space": RankSVM("exact"),
    "kernel space, Laplacian": RankSVM("exact", kernel="laplacian"),
    "kernel space, polynomial": RankSVM("exact", kernel="polynomial", degree=2),
    "factored kernel": RankSVM("exact"),
    "Nyström": RankSVM("nystroem", 25),
    "Nyström, polynomial": RankSVM("nystroem", 25, kernel="polynomial", degree=2),
    "truncated Nyström": RankSVM("nystroem", 25, rank=10),
    "Fourier": RankSVM("fourier", 30),
    "wide Fourier": RankSVM("fourier", 4 * len(Y)),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> RankSVM:
    if request.param.startswith("kernel space"):
        monkeypatch.setattr(exact, "SMALL", 5)
    unfitted: RankSVM = clone(MODELS[request.param]).set_params(tol=1e-10, C=0.1)
    return unfitted


def check(model: RankSVM, training: Training, tasks: Iterable[dict[str, Any]], rel: float = 1e-8) -> None:
    """Fits with these settings, one after another in one training, are those of separate fits."""
    fits: dict[str, RankSVM] = {}
    for settings in tasks:
        found = clone(model).set_params(**settings)
        found.fit_in(training)
        if (alone := fits.get(str(settings))) is None:
            alone = fits[str(settings)] = clone(model).set_params(**settings).fit_data(DATA)
        assert found.objective_ == pytest.approx(alone.objective_, rel=rel), settings
        np.testing.assert_allclose(found.predict(NEW), alone.predict(NEW), atol=1e-4, err_msg=str(settings))


@pytest.mark.parametrize("keep", [False, True], ids=["", "arguments kept"])
def test_fits_of_several_gammas_in_one_space(model: RankSVM, keep: bool) -> None:
    """There and back, in every order, so that nothing of a γ serves another one."""
    training = model.training(DATA, keep_arguments=keep)
    orders = chain.from_iterable(permutations(GAMMAS))
    check(model, training, [{"gamma": gamma} for gamma in list(orders)[:9]])


def test_fits_of_several_C_and_gammas_in_one_space(model: RankSVM) -> None:
    training = model.training(DATA)
    pairs = [(0.1, 0.05), (4.0, 0.05), (4.0, 0.4), (0.1, 0.4), (0.15, 0.4), (0.1, 0.05)]
    check(model, training, [{"C": C, "gamma": gamma} for C, gamma in pairs], rel=1e-7)


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier"])
def test_fits_of_several_gammas_in_shards(feature_map: str) -> None:
    model = RankSVM(feature_map, 20, tol=1e-10, C=0.1)
    training = model.training_in_shards(DATA, Here(3))
    check(model, training, [{"gamma": gamma} for gamma in (0.05, 0.4, 0.05)])
    tasks = [{"n_components": 8, "gamma": gamma} for gamma in (0.4, 0.05)]
    check(model, training, tasks)


def test_fits_of_several_gammas_of_many_documents() -> None:
    """Beyond 2,000 distinct documents the exact kernel is trained in its own space without being asked to."""
    rng = np.random.default_rng(1)
    data = RankingData.from_arrays(
        rng.normal(size=(2100, 4)), rng.integers(0, 2, 2100), np.arange(2100) // 14
    )
    model = RankSVM("exact", C=0.1)
    assert isinstance(model.set_params(gamma=1.0).training(data).space, KernelSpace)
    found = [one.objective_ for one in fit_curve(model, data, gamma=[0.01, 0.2])]
    alone = [clone(model).set_params(gamma=gamma).fit_data(data).objective_ for gamma in (0.01, 0.2)]
    assert found == pytest.approx(alone, rel=1e-5)
    assert abs(found[0] - found[1]) > 0.01 * found[0], "γ matters"


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=20, documents_per_query=(6, 12), n_features=6, seed=3)


CHANGES: dict[str, list[dict[str, Any]]] = {
    "nystroem": [
        {"gamma": 0.5},
        {"gamma": "scale"},
        {"C": 0.5},
        {"n_components": 6},
        {"kernel": "laplacian"},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "polynomial", "degree": 3},
        {"kernel": "polynomial", "degree": 3, "coef0": 0.2},
        {"landmarks": "kmeans++"},
        {"rank": 4},
        {"rank": 5},
        {"seed": 1},
        {"loss": "huber"},
        {"costs": "grade_query"},
        {"normalisation": "query_zscore"},
    ],
    "fourier": [
        {"gamma": 0.5},
        {"n_components": 6},
        {"kernel": "laplacian"},
        {"frequencies": "orthogonal"},
        {"seed": 1},
    ],
    "exact": [
        {"gamma": 0.5},
        {"kernel": "laplacian"},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "polynomial", "degree": 3},
        {"kernel": "polynomial", "degree": 3, "coef0": 0.2},
    ],
}


@pytest.mark.parametrize("place", [*CHANGES, "kernel space"])
def test_runs_that_differ_in_one_setting_made_together(
    fold: Fold, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "kernel space":
        monkeypatch.setattr(exact, "SMALL", 5)
    feature_map = place if place in CHANGES else "exact"
    m = {} if feature_map == "exact" else {"n_components": 12}
    base = RunSpec("demo", feature_map=feature_map, gamma=0.1, C=0.1, tol=1e-8, **m)
    specs = [base, *(base.but(**change) for change in CHANGES[feature_map])]
    together = dict(execute_all(specs, fold=fold))
    assert len(together) == len(specs)
    alone = {spec: execute(spec, fold=fold) for spec in specs}
    for spec in specs:
        assert together[spec].objective == pytest.approx(alone[spec].objective, rel=1e-6), spec
        for part, scores in alone[spec].scores.items():
            np.testing.assert_allclose(together[spec].scores[part], scores, atol=1e-3)
    objectives = [record.objective for record in alone.values()]
    assert min(np.diff(np.sort(objectives))) > 0, "each of these settings matters"


def test_a_preconditioner_serves_its_own_features_and_C(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one would lead to the same end, only slower."""
    given: list[object] = []
    solve = TruncatedNewton.solve

    def record_and_solve(
        self: TruncatedNewton, objective: Any, w: Any, report: Any, precondition: Any
    ) -> Any:
        given.append(precondition)
        return solve(self, objective, w, report, precondition)

    monkeypatch.setattr(TruncatedNewton, "solve", record_and_solve)
    model = RankSVM("nystroem", 25)
    training = model.training(DATA)
    tasks = [(25, 0.05, 0.1), (25, 0.05, 0.15), (25, 0.05, 4.0)]
    tasks += [(25, 0.4, 4.0), (20, 0.4, 4.0), (20, 0.4, 3.0)]
    for m, gamma, C in tasks:
        clone(model).set_params(n_components=m, gamma=gamma, C=C).fit_in(training)
    assert [one is not None for one in given] == [False, True, False, False, False, True]
