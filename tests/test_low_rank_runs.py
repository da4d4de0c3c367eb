"""Runs of the factorised and the regularised model: from a spec to a record, and what records give back."""

from dataclasses import replace

import numpy as np
import pytest

import rankviz
from rankviz import DataError, Fold, Progress, RunSpec, StopRequested, execute
from rankviz.analysis.model_duals import run_duals, thresholded_blocks
from rankviz.learning.objective import Status
from rankviz.models.low_rank import LowRankRanker
from rankviz.models.low_rank_blocks import Blocks
from rankviz.runs.estimate import Rates, Shape, check_budget, estimate, total_seconds
from rankviz.runs.run import model_from, model_of

PLAIN = RunSpec("demo", "Fold1", feature_map="linear")
SPECS = (
    PLAIN.factorized(2, 0.05).but(seed=3),
    PLAIN.factorized(2, 0.05, solver="query_steps").but(seed=3),
    PLAIN.regularized(0.05, 1.0, 0.05),
    PLAIN.regularized(0.05, 1.0, 0.05, solver="alternating").but(seed=3),
    PLAIN.but(feature_map="nystroem", n_components=25, gamma=0.5, seed=3).factorized(3, 0.1),
)


def test_what_only_rank_svm_knows_is_put_aside() -> None:
    odd = PLAIN.but(loss="logistic", costs="grade", preconditioner="none", tol=1e-9, start="zero")
    assert odd.factorized(2, 0.05).but(seed=3) == SPECS[0]
    assert odd.regularized(0.05, 1.0, 0.05) == SPECS[2]
    truncated = SPECS[4].but(method="ranksvm", rank=3, tol=1e-9)
    assert truncated.rank == 3
    assert truncated.factorized(3, 0.1) == SPECS[4]


@pytest.mark.parametrize("spec", SPECS)
def test_a_run_is_training_and_evaluating_by_hand(spec: RunSpec, fold: Fold) -> None:
    record, model = execute(spec, fold=fold), model_of(spec).fit_data(fold.train)
    assert isinstance(model, LowRankRanker)
    np.testing.assert_allclose(record.weights, model.coef_, rtol=1e-12, atol=1e-14)
    for part, data in fold.parts.items():
        np.testing.assert_allclose(record.scores[part], model.predict(data.X), rtol=1e-9, atol=1e-12)
        assert len(record.metrics[part]) == data.n_queries
    assert (record.objective, record.status) == (model.objective_, model.status_.value)
    assert set(record.seconds) == {"data", "features", "newton", "evaluate"}
    again = model_from(record, fold.train)
    np.testing.assert_allclose(again.predict(fold.test.X), record.scores["test"], rtol=1e-9, atol=1e-12)
    for one, other in zip(rankviz.duals(again, fold.train), run_duals(record, fold.train), strict=True):
        np.testing.assert_allclose(one.alpha, other.alpha, rtol=1e-12, atol=1e-14)


def test_blocks_of_a_record_are_those_that_make_its_weights(fold: Fold) -> None:
    for spec in (SPECS[0], SPECS[2], PLAIN):
        record = execute(spec, fold=fold)
        found = run_duals(record, fold.train)
        w = fold.train.X.T @ found.document_weights()
        np.testing.assert_allclose(w, record.weights, atol=2e-3 * float(np.abs(record.weights).max()))


def test_only_the_regularised_model_has_matrices_beside_alpha(fold: Fold) -> None:
    record = execute(SPECS[2], fold=fold)
    blocks = thresholded_blocks(record, fold.train)
    cut, whole = np.zeros(0), np.zeros(0)
    for query, _, _ in Blocks(fold.train.y, fold.train.ptr).queries():
        cut = np.append(cut, np.linalg.svd(blocks.block(query).alpha, compute_uv=False)[0])
        top = np.linalg.svd(run_duals(record, fold.train).block(query).alpha, compute_uv=False)[0]
        whole = np.append(whole, top)
    np.testing.assert_allclose(cut, np.maximum(whole - 0.05 / 2.0, 0.0), atol=1e-9)
    assert cut.max() > 0.0
    with pytest.raises(ValueError, match="factori"):
        thresholded_blocks(execute(SPECS[0], fold=fold), fold.train)


@pytest.mark.parametrize("spec", SPECS[:4])
def test_progress_is_told_and_a_stop_gives_the_weights_so_far(spec: RunSpec, fold: Fold) -> None:
    told: list[Progress] = []
    execute(spec, told.append, fold=fold)
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == ["features", "newton", "evaluate"]
    long = spec.but(tol=1e-6)
    record = execute(long, lambda p: bool(p.record) and p.record["iteration"] >= 2, fold=fold)
    assert record.status == Status.STOPPED.value
    assert record.trace["iteration"].iloc[-1] >= 2
    with pytest.raises(StopRequested):
        execute(spec, lambda p: p.stage == "features", fold=fold)


def test_the_cost_grows_with_what_it_depends_on(fold: Fold) -> None:
    shape = Shape.of(fold)
    large = replace(shape, n=100 * shape.n, entries=100 * shape.entries, queries=100 * shape.queries)
    for spec in SPECS:
        small, more = estimate(spec, shape), estimate(spec, large)
        assert 0 < small.seconds < more.seconds
        assert small.bytes < more.bytes
    assert estimate(SPECS[0].but(factors=20), large).bytes > estimate(SPECS[0], large).bytes
    pair = [estimate(spec, large) for spec in (SPECS[0], SPECS[2])]
    assert total_seconds(pair) == pytest.approx(sum(each.seconds for each in pair))
    with pytest.raises(DataError, match="memory"):
        check_budget(estimate(SPECS[2], large), budget=1e5)


SIZES = Shape(n=9000, d=45, pairs=370_000, documents=16_000, largest_part=9000, queries=60, entries=300_000)
RATES = Rates(flops=5e10, exp=1e9, cos=1e8, memory=1e10)


def seconds(spec: RunSpec) -> float:
    """Predicted ones, of these sizes and at these rates."""
    return estimate(spec, SIZES, RATES).seconds


@pytest.mark.parametrize("spec", [SPECS[1], SPECS[2], SPECS[3]])
def test_predicted_seconds_grow_with_c_up_to_the_limit_of_iterations(spec: RunSpec) -> None:
    found = [seconds(spec.but(C=C)) for C in (1e-9, 1e-3, 1e-2, 1e6, 1e8)]
    assert found[0] < found[1] < found[2] < found[3] == found[4]


def test_predicted_seconds_of_factors_and_of_a_small_nuclear_norm() -> None:
    """Factors cost by the divisors of K; FISTA starts near the end where the nuclear norm weighs little."""
    by_factors = [seconds(PLAIN.factorized(K, 0.1)) for K in (1, 5, 19, 20)]
    assert by_factors == sorted(by_factors)
    assert by_factors[-1] < 5 * by_factors[0]
    little, more = (seconds(PLAIN.regularized(nuclear, 1.0, 0.05)) for nuclear in (1e-3, 1.0))
    assert little < 0.2 * more
    steps = [seconds(PLAIN.regularized(nuclear, 1.0, 0.05, "alternating")) for nuclear in (1e-3, 1.0)]
    assert steps[0] == steps[1]
