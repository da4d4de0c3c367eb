"""Fits in shards come to the same model as fits in one piece; what they refuse, say and report."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_shards import awkward_data
from numpy.typing import ArrayLike
from sklearn.base import clone

from rankviz import DataError, Progress, RankSVM, StopRequested
from rankviz.common.errors import SettingError
from rankviz.common.memory import megabytes
from rankviz.datasets import make_data
from rankviz.features.fourier import FittedFourier
from rankviz.features.kernel_matrix import storage_words, stored_bytes
from rankviz.features.operator import CholeskyBasis, DenseBasis
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import TrainingSizes
from rankviz.shards import Backend, Here, storage
from rankviz.shards.storage import NoStorage, SingleStorage

DATA = awkward_data()
SETTINGS: list[dict[str, Any]] = [
    {"feature_map": "linear"},
    {"feature_map": "nystroem", "n_components": 25},
    {"feature_map": "nystroem", "n_components": 300},
    {"feature_map": "fourier", "n_components": 300},
    {"feature_map": "linear", "loss": "hinge"},
    {"feature_map": "fourier", "n_components": 20, "loss": "logistic"},
    {"feature_map": "linear", "loss": "smooth_hinge", "costs": "grade_query"},
    {"feature_map": "linear", "solver": "lbfgs"},
    {"feature_map": "linear", "solver": "newton_yuan"},
]


def both(settings: dict[str, Any], where: Backend) -> tuple[RankSVM, RankSVM]:
    settings = {"gamma": 0.3, "C": 0.02} | settings
    return RankSVM(**settings).fit_data(DATA), RankSVM(**settings).fit_in_shards(DATA, where)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: " ".join(map(str, s.values())))
def test_the_model_is_the_same(settings: dict[str, Any], here: Backend) -> None:
    one, model = both(settings, here)
    apart = sum(
        np.sqrt(2 * found.gap_ * found.objective_) for found in (one, model)
    )  # of each to the optimum
    assert np.linalg.norm(model.coef_ - one.coef_) <= apart + 1e-12
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-5)
    assert (model.status_, model.n_pairs_, model.start_) == (one.status_, one.n_pairs_, one.start_)


def test_one_shard_is_todays_path_number_by_number() -> None:
    """Also with pairs that are drawn, as long as the same generator draws them: here there are none."""
    one, model = both({"feature_map": "fourier", "n_components": 200}, Here(1))
    np.testing.assert_array_equal(model.coef_, one.coef_)
    pd.testing.assert_frame_equal(model.trace_.drop(columns="seconds"), one.trace_.drop(columns="seconds"))


def test_a_path_over_m_and_c_shares_features(here: Backend) -> None:
    """The space of shards serves every fit of a family: fewer features are the first columns."""
    wide = RankSVM("nystroem", n_components=40, gamma=0.3, C=0.02)
    training = wide.training_in_shards(DATA, here)
    for m, C in ((10, 0.02), (40, 0.02), (40, 0.1)):
        model = RankSVM("nystroem", n_components=m, gamma=0.3, C=C)
        model.fit_in(training)
        alone = RankSVM("nystroem", n_components=m, gamma=0.3, C=C).fit_data(DATA)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-5)
        assert model.n_components_ == m
    assert model.start_ == "the weights for C = 0.02"


def test_stop_stops_with_the_weights_so_far() -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return progress.record is not None

    model = RankSVM("linear", C=50.0, tol=1e-12).fit_in_shards(DATA, Here(16, threads=2), callback=stop)
    assert "on request" in model.status_.value
    assert len(model.coef_) == DATA.n_features


def test_stop_while_features_are_computed_stops() -> None:
    with pytest.raises(StopRequested):
        RankSVM("nystroem", n_components=10).fit_in_shards(
            DATA, Here(16, threads=2), callback=lambda progress: progress.stage == "features"
        )


def test_what_goes_wrong_in_a_shard_is_raised_here() -> None:
    def fail(item: int) -> int:
        if item == 7:
            raise DataError("seven", expected="another", remedy="Choose another.")
        return item

    where = Here(10, threads=2)
    with pytest.raises(DataError, match="seven"):
        where.map(fail, where.scatter(range(10)))


def test_progress_of_features_is_told_by_shard() -> None:
    told: list[float | None] = []

    def note(progress: Progress) -> None:
        if progress.stage == "features":
            told.append(progress.fraction)

    RankSVM("nystroem", n_components=10).fit_in_shards(DATA, Here(4, threads=1), callback=note)
    assert [fraction for fraction in told if fraction is not None][-4:] == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("solver", ["sgd_query", "sgd_pair"])
def test_solvers_that_list_pairs_are_refused(solver: str) -> None:
    with pytest.raises(SettingError, match="choose solver='newton'"):
        RankSVM(solver=solver).fit_in_shards(DATA, Here())


def test_the_exact_kernel_of_many_documents_is_refused() -> None:
    data = make_data(n_queries=60, documents_per_query=(40, 50), seed=0)
    with pytest.raises(SettingError, match="choose an approximation"):
        RankSVM("exact").fit_in_shards(data, Here())


@pytest.mark.parametrize("shards", [0, -1, True, 1.5, "2"])
def test_there_is_at_least_one_shard(shards: Any) -> None:
    with pytest.raises(SettingError, match="a whole number of at least 1"):
        Here(shards)


def test_there_are_no_more_shards_than_queries() -> None:
    """A million of them never came to an end."""
    model, many = RankSVM(C=0.5), Here(10**6, threads=2)
    assert model.shard_plan(DATA, many).words.startswith(f"{DATA.n_queries} shards")
    found = model.fit_in_shards(DATA, many)
    np.testing.assert_allclose(found.coef_, RankSVM(C=0.5).fit_data(DATA).coef_, atol=1e-4)


def test_memory_decides_how_features_are_kept_and_says_so_before() -> None:
    model = RankSVM("nystroem", n_components=100, gamma=0.3, C=0.02)
    where, size = Here(16, threads=2), 100 * DATA.n_documents
    rich = model.shard_plan(DATA, where)
    assert "double precision" in rich.words
    assert rich.words.startswith("16 shards")
    model.set_params(memory_limit=rich.need - 1)
    middle = model.shard_plan(DATA, where)
    assert "single precision" in middle.words
    assert rich.need - middle.need == 4 * size
    model.set_params(memory_limit=middle.need - 1)
    poor = model.shard_plan(DATA, where)
    assert "again for every product" in poor.words
    assert middle.need - poor.need == 4 * size - 2 * 8 * size // 16  # two threads have one shard's each
    model.fit_in_shards(DATA, where)
    assert model.memory_need_ == poor.need
    one = RankSVM("nystroem", n_components=100, gamma=0.3, C=0.02).fit_data(DATA)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-5)
    model.set_params(memory_limit=poor.need - 1)
    with pytest.raises(DataError, match=r"Choose m = \d+ or .*a cluster with a worker") as refused:
        model.fit_in_shards(DATA, where)
    fits = int(re.search(r"m = (\d+)", str(refused.value))[1])
    model.set_params(n_components=fits).fit_in_shards(DATA, where)


def test_a_fit_keeps_its_features_as_memory_allows_and_says_so() -> None:
    data = make_data(n_queries=100, documents_per_query=(90, 110), seed=0)
    model = RankSVM("nystroem", n_components=300, gamma=0.3, C=0.02)
    limit, objectives, words = None, [], []
    for _ in range(3):
        model.set_params(memory_limit=limit)
        planned = model.plan(data).words
        model.fit_data(data)
        assert model.memory_plan_ == planned
        assert limit is None or model.memory_need_ <= limit
        limit = model.memory_need_ - 1
        objectives.append(model.objective_)
        words.append(planned)
    kept = ("one piece, features in double", "features in single", "features computed again")
    for text, expected in zip(words, kept, strict=True):
        assert expected in text
        assert f"{megabytes(data.X.nbytes)} of it for the documents" in text
    np.testing.assert_allclose(objectives, objectives[0], rtol=3e-6)
    with pytest.raises(DataError, match=r"Choose m = \d+ or fewer") as refused:
        model.set_params(memory_limit=limit).fit_data(data)
    fits = int(re.search(r"m = (\d+)", str(refused.value).partition("Choose")[2])[1])
    model.set_params(n_components=fits).fit_data(data)


def test_one_query_is_one_shard_that_keeps_its_features_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_data(n_queries=1, documents_per_query=(2000, 2000), seed=0)
    model = RankSVM("fourier", n_components=50, gamma=0.3, C=0.02)
    one = clone(model).fit_data(data)
    monkeypatch.setattr("rankviz.models.ranksvm.FeatureSpace", None)
    model.set_params(memory_limit=one.memory_need_ - 1).fit_data(data)
    assert model.memory_plan_.startswith("1 shard, features in single")
    assert model.objective_ == pytest.approx(one.objective_, rel=3e-6)


def test_mapped_documents_take_memory_only_while_they_are_needed(tmp_path: Path) -> None:
    DATA.X.tofile(tmp_path / "X.bin")
    mapped = replace(DATA, X=np.memmap(tmp_path / "X.bin", np.float64, "r", shape=DATA.X.shape))
    wide, linear, where = RankSVM("fourier", n_components=50), RankSVM(), Here(4)
    assert wide.shard_plan(mapped, where).documents == 0
    assert "stay in their file" in wide.shard_plan(mapped, where).words
    for plan in (wide.plan(mapped), linear.shard_plan(mapped, where), wide.shard_plan(DATA, where)):
        assert plan.documents == DATA.X.nbytes


def test_solvers_that_form_features_are_not_fitted_in_shards() -> None:
    model = RankSVM("nystroem", n_components=60, solver="sgd_pair", max_iter=1)
    enough = model.plan(DATA)
    assert enough.shards == 1
    with pytest.raises(DataError, match="needs about"):
        model.set_params(memory_limit=enough.need - 1).plan(DATA)


WEIGHTS = np.random.default_rng(3).integers(1, 4, DATA.n_queries).repeat(np.diff(DATA.ptr))
MANY: dict[str, tuple[RankSVM, ArrayLike | None]] = {
    "linear": (RankSVM(C=0.1), None),
    "weighted": (RankSVM(C=0.1), WEIGHTS),
    "costs": (RankSVM(C=0.1, costs="grade_query"), WEIGHTS),
    "hinge": (RankSVM(C=0.01, loss="hinge"), None),
    "nystroem": (RankSVM("nystroem", n_components=60, gamma=0.3, C=0.1), None),
    "truncated": (RankSVM("nystroem", n_components=60, rank=20, gamma=0.3, C=0.1), None),
    "fourier": (RankSVM("fourier", n_components=60, gamma=0.3, C=0.1), None),
}


@pytest.mark.parametrize("name", MANY)
def test_many_documents_are_fitted_in_shards_with_the_same_result(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, weights = MANY[name]
    asked = {"qid": DATA.qid, "sample_weight": weights}
    one = clone(given).fit(DATA.X, DATA.y, **asked)
    assert one.memory_plan_.startswith("one piece")
    monkeypatch.setattr(storage, "IN_SHARDS", 10)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr("rankviz.shards.backend.cores", lambda n=threads: n)
        many = clone(given).fit(DATA.X, DATA.y, **asked)
        assert many.memory_plan_.startswith(f"{storage.FEWEST} shards")
        found.append(many.coef_.tobytes())
    assert len(set(found)) == 1
    assert many.objective_ == pytest.approx(one.objective_, rel=3e-6)
    assert many.n_pairs_ == one.n_pairs_


@pytest.mark.parametrize("made", [FittedFourier, DenseBasis, CholeskyBasis])
def test_features_in_single_precision_skip_only_zeros(made: type) -> None:
    kind, rank = (
        ("fourier", None) if made is FittedFourier else ("nystroem", 30 if made is DenseBasis else None)
    )
    unfitted = RankSVM(kind, n_components=150, rank=rank, gamma=2.0).unfitted_map(2.0, 0)
    fitted = unfitted.fit(DATA.X)
    assert made in (type(fitted), type(fitted.basis))
    base = SingleStorage().base(DATA.X, fitted).base
    assert base.dtype == np.float32
    np.testing.assert_allclose(base, fitted.operator(DATA.X).dense(), rtol=1e-6, atol=1e-7)


def test_features_that_single_precision_cannot_hold_are_refused() -> None:
    tiny = {"kernel": "polynomial", "degree": 4, "coef0": 0.0, "gamma": 1e-20}
    fitted = RankSVM("nystroem", n_components=5, **tiny).unfitted_map(1e-20, 0).fit(DATA.X)
    with pytest.raises(SettingError, match="single precision holds"):
        SingleStorage().base(DATA.X, fitted)


def test_features_that_pass_are_cut_into_smaller_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = DATA, "nystroem", "rbf", 100, "squared_hinge", Here(3, threads=2), None, (NoStorage(),)
    large = storage.plan_for(*asked)
    monkeypatch.setattr(storage, "MOST_TEMPORARY", 8 * 100 * 50)
    small = storage.plan_for(*asked)
    assert (large.shards, small.shards) == (3, math.ceil(DATA.n_documents / 50))
    temporary = 8 * 100 * DATA.n_documents
    assert large.need - small.need == 2 * temporary // 3 - 2 * temporary // small.shards


def test_how_many_workers_would_do_is_said() -> None:
    sizes = TrainingSizes("nystroem", 2000, 10**8, 136, cuts=4 * 10**8)
    need = sizes.bytes - sizes.base_bytes
    workers = math.ceil(need / (0.7 * 16e9))
    assert workers > 2
    assert f"a cluster with {workers} workers of 16.0 GB" in storage._remedy("squared_hinge", 0, need)


def test_a_loss_that_lists_its_pairs_says_what_would_do() -> None:
    model = RankSVM("linear", loss="logistic", memory_limit=1e5)
    with pytest.raises(DataError, match="listed pairs") as refused:
        model.fit_in_shards(DATA, Here())
    assert LOSSES["logistic"].unlisted in str(refused.value)


def test_the_plan_of_an_exact_kernel_counts_its_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    n = DATA.n_documents
    plans = [RankSVM("exact", gamma=0.3).plan(DATA)]
    need = plans[0].need
    plans += [RankSVM("exact", gamma=0.3, memory_limit=need + room).plan(DATA) for room in (3 * n * n, 100)]
    matrices = [stored_bytes(n, 8), stored_bytes(n, 4), 0]
    assert [plan.total - plan.documents - plan.need for plan in plans] == matrices
    assert [plan.words.split(": ")[0] for plan in plans] == [
        f"one piece, {storage_words(dtype)}" for dtype in (np.float64, np.float32, None)
    ]
