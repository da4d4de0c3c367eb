"""Dual variables: plain loops, every loss and cost, the gap they prove, shuffled values, and who refuses."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import strangers
from naive_dual import C, part_of, record_of, slow_alpha
from naive_ranking import GRADES, problem, qid_of, random_grades, slow_pairs

import rankviz
from rankviz.analysis.model_duals import RunDuals
from rankviz.datasets import DataError, Fold, RankingData
from rankviz.learning.losses import LOSSES
from rankviz.models import dual_variables
from rankviz.models.dual_variables import (
    DualBlock,
    Duals,
    GivenDuals,
    ShuffledDuals,
    SlopeDuals,
    check_blocks,
    dual_block,
    entries_by_query,
    shuffled,
    sides,
)
from rankviz.models.ranker import Ranker
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec

X, Y, PTR = problem(3, n_queries=12)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))


def fitted(**settings: object) -> rankviz.RankSVM:
    return rankviz.RankSVM(**{"C": 2.0**-3, "tol": 1e-8} | settings).fit_data(DATA)


def weights_of(duals: Duals, model: rankviz.RankSVM) -> np.ndarray:
    """Σ_P α_ij (φ_i − φ_j) by a plain loop."""
    Phi, w = model.feature_map_.operator(DATA.X).dense(), 0.0
    for query, block in enumerate(duals):
        first, A = DATA.query_slice(query).start, block.full()
        for i, j in slow_pairs(block.y, np.array([0, len(block.y)])):
            w = w + A[i, j] * (Phi[first + i] - Phi[first + j])
    return np.asarray(w)


@pytest.mark.parametrize("costs", [None, "grade_query", "margin"])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_the_dual_variables_are_the_models_less_its_gradient(loss: str, costs: str | None) -> None:
    model = fitted(loss=loss, costs=costs)
    duals = rankviz.duals(model, DATA)
    w = weights_of(duals, model)
    size = np.linalg.norm(model.coef_)
    assert np.linalg.norm(model.coef_ - w) == pytest.approx(
        model.trace_["gradient_norm"].iloc[-1], rel=1e-6, abs=1e-9 * size
    )
    assert np.linalg.norm(model.coef_ - w) <= 2e-2 * size
    np.testing.assert_allclose(DATA.X.T @ duals.document_weights(), w, atol=1e-12 * size)


def test_a_loss_that_rises_has_negative_dual_variables_and_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """w = Σ α_ij (φ_i − φ_j) and ½‖∇‖² bounds the distance from the optimum, whatever the signs of α."""
    monkeypatch.setitem(LOSSES, "insensitive", strangers.RISING_LOSS)
    settings = {"feature_map": "exact", "gamma": 0.1, "loss": "insensitive", "C": 100.0}
    model = fitted(**settings, tol=1e-2)
    duals = rankviz.duals(model, DATA)
    alpha = np.concatenate([block.alpha[block.is_pair] for block in duals])
    assert (alpha < 0).any()
    assert (alpha > 0).any()
    assert sum(block.n_active for block in duals) == np.count_nonzero(alpha)
    apart = np.linalg.norm(model.coef_ - weights_of(duals, model))
    assert apart == pytest.approx(model.trace_["gradient_norm"].iloc[-1], rel=1e-6)
    optimum = fitted(**settings, tol=1e-12).objective_
    assert optimum < model.objective_ <= optimum + model.gap_ * model.objective_


@pytest.mark.parametrize("costs", [None, "grade_query"])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_hinges_dual_variables_prove_its_gap(tol: float, costs: str | None) -> None:
    """They are feasible, 0 ≤ α ≤ C·c_ij, and (P − D)/P with D = Σα − ½‖w(α)‖² is the model's gap."""
    model = fitted(loss="hinge", tol=tol, costs=costs)
    duals = rankviz.duals(model, DATA)
    for query, block in enumerate(duals):
        assert (block.alpha >= 0).all()
        assert (block.alpha <= duals.ceiling(query) * (1 + 1e-9)).all()
    total, w = sum(block.alpha.sum() for block in duals), weights_of(duals, model)
    proved = 1 - (total - 0.5 * w @ w) / model.objective_
    assert duals.gap == model.gap_ == pytest.approx(proved, rel=1e-6, abs=1e-12)
    assert duals.gap <= tol


@pytest.mark.parametrize("solver", ["lbfgs", "sgd_query", "newton_yuan"])
def test_dual_variables_of_every_solver(solver: str) -> None:
    model = fitted(solver=solver, max_iter=20)
    w = weights_of(rankviz.duals(model, DATA), model)
    apart = np.linalg.norm(model.coef_ - w)
    assert apart == pytest.approx(model.trace_["gradient_norm"].iloc[-1], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "smooth_hinge"])
def test_a_run_has_those_of_its_model(loss: str) -> None:
    spec = RunSpec("none", feature_map="nystroem", n_components=20, gamma=0.3, loss=loss, costs="grade")
    record = execute(spec, fold=Fold(DATA, DATA, DATA))
    model = fitted(feature_map="nystroem", n_components=20, gamma=0.3, loss=loss, costs="grade", C=spec.C)
    model = model.set_params(tol=spec.tol).fit_data(DATA)
    run, own = RunDuals(record, DATA), rankviz.duals(model, DATA)
    assert run.gap == own.gap
    for one, other in zip(run, own, strict=True):
        np.testing.assert_allclose(one.alpha, other.alpha, rtol=1e-9, atol=1e-12)


def test_a_query_whose_block_is_too_large_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its memory is that of all combinations of its documents, whatever bytes were sent."""
    n = 30_000
    large = RankingData.from_arrays(np.zeros((n, 1)), np.arange(n) % 2, np.full(n, 7))
    entries = [entries_by_query(part.y, part.ptr).tolist() for part in (large, DATA)]
    rectangles = [[len(side) for side in sides(Y[a:b])] for a, b in itertools.pairwise(PTR)]
    assert entries == [[n * n // 4], [rows * columns for rows, columns in rectangles]]
    monkeypatch.setattr(dual_variables, "free_memory", lambda: 1e12)
    SlopeDuals(large, np.zeros(n), C, LOSSES["squared_hinge"])
    with pytest.raises(DataError, match=r"query 7: .* 30,000 documents .* 16.9 GB .* at most 4,000 entries"):
        check_blocks(large, 4000)
    monkeypatch.setattr(dual_variables, "free_memory", lambda: 1e9)
    with pytest.raises(DataError, match=r"at most 9,333,333 entries"):
        SlopeDuals(large, np.zeros(n), C, LOSSES["squared_hinge"])


def test_blocks_are_made_when_asked_for() -> None:
    asked: list[int] = []

    def rectangle(query: int) -> np.ndarray:
        asked.append(query)
        return np.ones(tuple(map(len, sides(Y[DATA.query_slice(query)]))))

    duals = GivenDuals(DATA, np.zeros(len(Y)), 1.0, rectangle, gap=0.25)
    assert (len(duals), duals.n_queries, asked) == (DATA.n_queries, DATA.n_queries, [])
    next(iter(duals))
    duals.block(3)
    assert (asked, duals.gap, duals.ceiling(0)) == ([0, 3], 0.25, 1.0)


def test_given_rectangles_count_at_pairs_only() -> None:
    y = np.array([2, 0, 1])
    block = DualBlock.given(
        y, np.zeros(3), np.array([[1.0, 2.0], [3.0, 4.0]])
    )  # rows 0 and 2, columns 1 and 2
    assert block.document_weights.tolist() == [3.0, -4.0, 1.0]
    assert (block.n_pairs, block.n_active) == (3, 3)
    with pytest.raises(ValueError, match=r"shape \(3, 3\) for a query with 2 documents that are preferred"):
        DualBlock.given(y, np.zeros(3), np.zeros((3, 3)))


def _sides(query: int) -> tuple[np.ndarray, np.ndarray]:
    return sides(Y[DATA.query_slice(query)])


class Unsolved(Ranker):
    """A ranker that is no `RankSVM`."""

    coef_, n_pairs_ = np.zeros(1), len(slow_pairs(Y, PTR))

    def fit_data(self, data: RankingData, *, callback: object = None) -> Unsolved:
        return self


class Solved(Unsolved):
    """One that knows its dual variables."""

    def duals(self, data: RankingData) -> Duals:
        return GivenDuals(data, np.zeros(len(Y)), 1.0, lambda q: np.zeros(tuple(map(len, _sides(q)))))


def test_a_model_may_have_its_own() -> None:
    assert isinstance(rankviz.duals(Solved(), DATA), GivenDuals)
    with pytest.raises(ValueError, match="dual variables of Unsolved are not known"):
        rankviz.duals(Unsolved(), DATA)


def test_a_model_that_counts_no_pairs_is_refused_as_any_other() -> None:
    model = strangers.ListNet().fit_data(DATA)
    assert not hasattr(model, "n_pairs_")
    with pytest.raises(ValueError, match="dual variables of ListNet are not known"):
        rankviz.duals(model, DATA)


def test_refusals_are_sentences(tmp_path: Path) -> None:
    other = RankingData.from_arrays(X[:20], Y[:20], qid_of(PTR)[:20])
    with pytest.raises(DataError, match="pairs that the model was trained on"):
        rankviz.duals(fitted(), other)
    stored = rankviz.load(rankviz.save(fitted(loss="hinge"), tmp_path / "model.npz"))
    del stored.trace_  # as of a file from before it was kept
    with pytest.raises(ValueError, match="fit it again"):
        rankviz.duals(stored, DATA)
    squared = rankviz.duals(rankviz.load(rankviz.save(fitted(), tmp_path / "model.npz")), DATA)
    np.testing.assert_array_equal(squared.block(0).alpha, rankviz.duals(fitted(), DATA).block(0).alpha)


LOSS = LOSSES["squared_hinge"]


@pytest.mark.parametrize("name", GRADES)
def test_blocks_are_those_of_the_plain_loop(name: str) -> None:
    y, ptr = GRADES[name]
    f, part = np.random.default_rng(1).normal(size=len(y)), part_of(y, ptr)
    whole = slow_alpha(f, y, ptr, C)
    for query in range(part.n_queries):
        block, rows = dual_block(f, part, query, C, LOSS), part.query_slice(query)
        slow = whole[rows, rows]
        np.testing.assert_allclose(block.full(), slow, atol=1e-15)
        np.testing.assert_allclose(block.symmetrised(), slow + slow.T, atol=1e-15)
        assert block.n_active == np.count_nonzero(slow)
        assert block.is_pair.any(axis=0).all()
        assert block.is_pair.any(axis=1).all()
        assert block.n_pairs == len(slow_pairs(y[rows], np.array([0, rows.stop - rows.start])))


def test_shuffled_blocks_have_the_same_values_on_the_same_pairs() -> None:
    y, ptr = random_grades(5, 4, sizes=(6, 20))
    duals = RunDuals(record_of(2 * np.random.default_rng(5).normal(size=len(y))), part_of(y, ptr))
    mixed, again = ShuffledDuals(duals), ShuffledDuals(duals)
    assert len(mixed) == len(duals)
    for query, block in enumerate(duals):
        other = mixed.block(query)
        np.testing.assert_array_equal(other.alpha, again.block(query).alpha)
        np.testing.assert_array_equal(np.sort(other.alpha.ravel()), np.sort(block.alpha.ravel()))
        assert not other.alpha[~block.is_pair].any()
        assert (other.n_pairs, other.n_active) == (block.n_pairs, block.n_active)


def test_a_shuffle_moves_values() -> None:
    y, ptr = random_grades(6, 3, sizes=(20, 20))
    block = RunDuals(record_of(np.random.default_rng(6).normal(size=len(y))), part_of(y, ptr)).block(0)
    assert not np.array_equal(shuffled(block, np.random.default_rng(0)).alpha, block.alpha)
