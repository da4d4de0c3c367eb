"""Ranking error of approximate models against an exact one: known orders, one subspace law, refusals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from rankviz import RunSpec, execute
from rankviz.analysis.reference_runs import (
    objective_distance,
    objective_table,
    ranking_error_table,
    ranking_errors,
)
from rankviz.common.errors import SettingError
from rankviz.datasets import Fold, make_fold
from rankviz.features import EXACT
from rankviz.runs.record import RunRecord

SPEC = RunSpec("small", n_components=500, gamma=0.5, C=0.25)


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=12, documents_per_query=(5, 20), n_features=4, seed=1)


@pytest.fixture(scope="module")
def exact(fold: Fold) -> RunRecord:
    return execute(SPEC.exact(), fold=fold)


@pytest.fixture(scope="module")
def approximate(fold: Fold) -> list[RunRecord]:
    nystroem = [SPEC.but(n_components=m, seed=seed) for m in (3, 40) for seed in (0, 1)]
    others = [
        SPEC.but(n_components=10, landmarks="kmeans++"),
        SPEC.but(n_components=40, feature_map="fourier", frequencies="orthogonal"),
    ]
    return [execute(spec, fold=fold) for spec in (*nystroem, *others)]


def with_scores(record: RunRecord, scores: np.ndarray) -> RunRecord:
    return replace(record, scores=record.scores | {"test": scores})


def test_values_are_those_of_each_query(exact: RunRecord, approximate: list[RunRecord], fold: Fold) -> None:
    data = fold.test
    found = ranking_errors(approximate[0], exact, data, "test")
    assert found.index.tolist() == data.query_ids.tolist()
    for position in range(data.n_queries):
        rows = data.query_slice(position)
        left, right = approximate[0].scores["test"][rows], exact.scores["test"][rows]
        k = min(10, len(left))
        tops = [set(sorted(range(len(s)), key=lambda i, s=s: (-s[i], i))[:k]) for s in (left, right)]
        assert found["tau"].iloc[position] == pytest.approx(kendalltau(left, right).statistic)
        assert found["overlap"].iloc[position] == len(tops[0] & tops[1]) / k


def test_the_same_model_agrees_with_itself(exact: RunRecord, fold: Fold) -> None:
    found = ranking_errors(exact, exact, fold.test, "test")
    assert found["tau"].tolist() == pytest.approx([1.0] * fold.test.n_queries)
    assert (found["overlap"] == 1).all()
    turned = ranking_errors(with_scores(exact, -exact.scores["test"]), exact, fold.test, "test")
    assert turned["tau"].tolist() == pytest.approx([-1.0] * fold.test.n_queries)
    assert objective_distance(exact, exact) == 0


def test_ties_go_by_file_order_and_leave_tau_open(exact: RunRecord, fold: Fold) -> None:
    flat = with_scores(exact, np.zeros(fold.test.n_documents))
    found = ranking_errors(flat, exact, fold.test, "test", top=3)
    assert found["tau"].isna().all()
    in_file_order = with_scores(exact, -np.arange(fold.test.n_documents, dtype=float))
    expected = ranking_errors(in_file_order, exact, fold.test, "test", top=3)["overlap"]
    assert found["overlap"].tolist() == expected.tolist()


def test_a_long_table_has_every_query_of_every_run(
    exact: RunRecord, approximate: list[RunRecord], fold: Fold
) -> None:
    table = ranking_error_table(approximate, exact, fold.vali, "vali")
    assert table.columns.tolist() == ["map", "choice", "m", "seed", "query", "tau", "overlap"]
    assert len(table) == len(approximate) * fold.vali.n_queries
    one = table[(table["m"] == 40) & (table["seed"] == 1)].set_index("query")
    expected = ranking_errors(approximate[3], exact, fold.vali, "vali")
    np.testing.assert_array_equal(one[["tau", "overlap"]], expected)
    runs = table[["map", "choice"]].drop_duplicates().to_numpy().tolist()
    assert runs == [["nystroem", "uniform"], ["nystroem", "kmeans++"], ["fourier", "orthogonal"]]
    means = table[table["choice"] == "uniform"].groupby("m")["tau"].mean()
    assert means[3] < means[40] <= 1
    assert ranking_error_table([], exact, fold.vali, "vali").columns.tolist() == table.columns.tolist()


def test_nystroem_never_has_the_lower_objective(exact: RunRecord, approximate: list[RunRecord]) -> None:
    """Its weights lie in a subspace of the exact kernel's, so its minimum is one over fewer models."""
    table = objective_table(approximate, exact)
    assert table.columns.tolist() == ["map", "choice", "m", "seed", "distance"]
    distances = table[table["map"] == "nystroem"].groupby("m")["distance"].min()
    assert distances[3] > distances[40] > -1e-5
    assert table["distance"].iloc[0] == pytest.approx(approximate[0].objective / exact.objective - 1)
    assert objective_table([], exact).columns.tolist() == table.columns.tolist()


@pytest.mark.parametrize("change", [{"fold": "Fold2"}, {"normalisation": "query_minmax"}, {"digest": "0"}])
def test_runs_on_other_data_are_refused(exact: RunRecord, fold: Fold, change: dict[str, str]) -> None:
    other = replace(exact, spec=exact.spec.but(**change))
    with pytest.raises(ValueError, match=f"differ in {next(iter(change))}"):
        ranking_errors(other, exact, fold.test, "test")


def test_other_problems_and_other_parts_are_refused(exact: RunRecord, fold: Fold) -> None:
    other = replace(exact, spec=exact.spec.but(C=9.0))
    assert ranking_errors(other, exact, fold.test, "test")["tau"].min() == pytest.approx(1)
    with pytest.raises(ValueError, match="differ in C"):
        objective_distance(other, exact)
    with pytest.raises(ValueError, match="another part"):
        ranking_errors(exact, exact, fold.train, "test")


def test_only_an_exact_kernel_is_compared_with_and_the_same_problem(
    exact: RunRecord, approximate: list[RunRecord]
) -> None:
    with pytest.raises(SettingError, match="Nyström, m = 3 has no exact kernel"):
        objective_distance(exact, approximate[0])
    linear = replace(approximate[0], spec=SPEC.linear(0.25))
    with pytest.raises(SettingError, match="linear does not approximate a kernel"):
        objective_distance(linear, exact)
    changes = {"costs": "query", "loss": "huber", "kernel": "laplacian", "gamma": 2.0, "C": 9.0}
    for name, value in changes.items():
        other = replace(approximate[0], spec=approximate[0].spec.but(**{name: value}))
        with pytest.raises(SettingError, match=f"differ in {name}"):
            objective_distance(other, exact)
    stochastic = replace(approximate[0], spec=approximate[0].spec.but(solver="sgd_query", seed=5))
    assert objective_distance(stochastic, exact) == objective_distance(approximate[0], exact)


def test_low_rank_models_are_compared_with_their_own_kind() -> None:
    runs = {K: SPEC.factorized(K, 0.25) for K in (2, 5)}
    two, five = (replace_spec(spec) for spec in runs.values())
    exact = replace_spec(runs[2].but(feature_map=EXACT))
    assert objective_distance(two, exact) == 0.0
    with pytest.raises(SettingError, match="differ in factors"):
        objective_distance(five, exact)
    with pytest.raises(SettingError, match="differ in method"):
        objective_distance(replace_spec(SPEC), exact)


def replace_spec(spec: RunSpec) -> RunRecord:
    nothing = np.zeros(0)
    return RunRecord(spec, "", -1.0, 0, 0, {}, {}, nothing, pd.DataFrame(), {}, 0, {})
