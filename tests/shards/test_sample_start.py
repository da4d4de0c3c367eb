"""Large fits in shards start from a fit of a sample of queries: the same optimum, with fewer products."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankviz import Progress, RankSVM, StopRequested
from rankviz.datasets import make_data
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.pairs import PLAIN
from rankviz.learning.sorted_risk import risk_of
from rankviz.learning.training import MapFamily, Task
from rankviz.shards import Here, ShardedSpace, objective
from rankviz.shards.part import leading
from rankviz.shards.storage import DoubleStorage, NoStorage, Plan

DATA = make_data(n_queries=320, documents_per_query=(20, 40), n_features=12, seed=0)
WORDS = "the weights for 6 % of the training queries"
SETTINGS: dict[str, dict[str, Any]] = {
    "linear": {"feature_map": "linear"},
    "fourier": {"feature_map": "fourier", "n_components": 300},
    "hinge": {"feature_map": "linear", "loss": "hinge"},
}


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small fits count as large."""
    monkeypatch.setattr(objective, "SAMPLED", 1)


def fitted(shards: int = 5, threads: int = 2, **settings: Any) -> RankSVM:
    return RankSVM(**({"gamma": 0.3, "C": 0.02} | settings)).fit_in_shards(DATA, Here(shards, threads))


def space_of(loss: str = "squared_hinge", feature_map: str = "fourier", **settings: Any) -> ShardedSpace:
    model = RankSVM(feature_map, n_components=20, gamma=0.3, C=0.02, loss=loss)
    where = settings.pop("where", Here(5))
    family = MapFamily(model.unfitted_map(1.0, 0), DATA.X)
    plan = Plan(where.count(DATA.n_documents), settings.pop("storage", DoubleStorage()), 0, 0.0)
    return ShardedSpace(family, DATA, model._first_loss(), PLAIN, where, plan)


def coarser(space: ShardedSpace) -> Task | None:
    return space.coarser(Task(20, 0.3, 0.02), space.risk())


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_optimum_is_the_same_with_fewer_products(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted(**settings)
    monkeypatch.setattr(objective, "SAMPLED", 10**9)
    before = fitted(**settings)
    assert (model.start_, before.start_) == (WORDS, "zero")
    assert model.status_.converged
    assert model.seconds_["start"] > 0.0
    apart = sum(np.sqrt(2 * found.gap_ * found.objective_) for found in (model, before))
    assert np.linalg.norm(model.coef_ - before.coef_) <= apart
    assert model.objective_ == pytest.approx(before.objective_, rel=2e-6)
    if "n_components" in settings:  # from zero, a narrow map has its first direction free
        assert model.trace_["products"].sum() < before.trace_["products"].sum()


def test_threads_do_not_change_the_weights() -> None:
    one, two, four = (fitted(threads=threads, **SETTINGS["fourier"]).coef_ for threads in (1, 2, 4))
    np.testing.assert_array_equal(two, one)
    np.testing.assert_array_equal(four, one)


@pytest.mark.parametrize("stored", [DoubleStorage(), NoStorage()], ids=lambda s: s.words)
def test_the_sample_is_the_objective_of_its_queries_with_a_larger_C(stored: Any) -> None:
    space = space_of(storage=stored)
    task = coarser(space)
    assert task == Task(20, 0.3, 0.02, share=1 / 16)
    own = space.objective(task, space.risk(), 0)
    whole = space.objective(replace(task, share=1.0), space.risk(), 0)
    rows, ptr, before = [], [0], 0
    for part in space._parts.parts:
        for query in range(leading(part.ptr, 1 / 16)):
            rows += range(before + part.ptr[query], before + part.ptr[query + 1])
            ptr.append(len(rows))
        before += len(part.y)
    assert len(DATA.y) / 16 <= len(rows) == own.n <= len(DATA.y) / 8
    risk = risk_of(DATA.y[rows], np.array(ptr), space._loss)
    C = 0.02 * space.risk().total_cost / risk.total_cost
    plain = RankObjective(space.map(task).operator(DATA.X[rows]), risk, C)
    w = np.random.default_rng(0).normal(size=20)
    expected, found = plain.at(w), own.at(w)
    assert own.n_pairs == plain.n_pairs
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-9)
    np.testing.assert_allclose(own.hessian_product(found, w), plain.hessian_product(expected, w), rtol=1e-9)
    # every pair costs 1 at equal scores, so both objectives are equal there
    assert own.at(0 * w).value == pytest.approx(whole.at(0 * w).value, rel=1e-12)


@pytest.mark.parametrize("settings", [{"preconditioner": "none"}, {"solver": "lbfgs"}], ids=str)
def test_solvers_to_compare_with_start_from_zero(settings: dict[str, Any]) -> None:
    assert fitted(**settings).start_ == "zero"


def test_a_sample_needs_many_queries_and_a_risk_that_it_shortens() -> None:
    assert coarser(space_of()) is not None
    assert coarser(space_of(loss="rankrls")) is None, "one solve trains it"
    assert coarser(space_of(where=Here(200))) is None, "one query of each shard is too many"


def test_a_small_fit_takes_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    few = space_of(), space_of(feature_map="linear")
    assert all(coarser(space) is not None for space in few)
    monkeypatch.setattr(objective, "PAIRS_PER_COLUMN", 10**6)  # then the closed form is better
    assert coarser(few[1]) is None
    monkeypatch.undo()
    assert coarser(few[0]) is None, "20 columns of so few documents are no large fit"


def test_progress_has_no_scores_and_records_of_the_sample() -> None:
    told: list[Progress] = []
    model = RankSVM(C=0.02).fit_in_shards(DATA, Here(5), callback=told.append)
    assert {len(progress.scores) for progress in told if progress.scores is not None} == {len(DATA.y)}
    values = {progress.record["objective"] for progress in told if progress.record}
    assert values <= set(model.trace_["objective"])


def test_a_stop_during_the_sample_has_no_result() -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return sum(progress.stage == "newton" for progress in seen) > 9

    with pytest.raises(StopRequested):
        RankSVM(C=0.02).fit_in_shards(DATA, Here(5, threads=1), callback=stop)
    assert all(progress.record is None for progress in seen)


@pytest.mark.parametrize("most", [64, 10**6], ids=["sampled", "closed form"])
def test_away_from_zero_many_sampled_pairs_replace_the_closed_form(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objective, "PAIRS_PER_COLUMN", most)
    space = space_of()
    whole = space.objective(Task(20, 0.3, 0.02), space.risk(), 0)
    w = np.random.default_rng(0).normal(size=20)
    kinds = [whole.preconditioner(whole.at(v)).kind for v in (0 * w, w)]
    assert kinds == ["closed form", "sampled pairs" if most == 64 else "closed form"]
