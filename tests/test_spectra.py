"""Spectra against dense SVDs, known answers, and the law that the squared hinge obeys."""

from pathlib import Path

import numpy as np
import pytest
from naive_dual import C, part_of, record_of, slow_alpha
from naive_ranking import GRADES, problem, qid_of, random_grades

from rankviz.analysis.spectra import (
    MATRICES,
    dimensions_for,
    energy,
    energy_curves,
    nuclear_norm,
    numerical_rank,
    spectra,
    spectra_of,
    stable_rank,
)
from rankviz.common.progress import Progress
from rankviz.datasets import RankingData, find_datasets, open_fold
from rankviz.learning.losses import LOSSES
from rankviz.models.dual_variables import SlopeDuals, sides
from rankviz.runs.run import execute
from rankviz.runs.spec import RunSpec

each_matrix = pytest.mark.parametrize("matrix", MATRICES)


def dense(f: np.ndarray, part: RankingData, query: int, matrix: str) -> np.ndarray:
    """Singular values of the whole n_q × n_q matrix of a query, by a general SVD."""
    rows = part.query_slice(query)
    A = slow_alpha(f[rows], part.y[rows], np.array([0, rows.stop - rows.start]), C)
    return np.linalg.svd(A if matrix == "block" else A + A.T, compute_uv=False)


@each_matrix
@pytest.mark.parametrize("name", GRADES)
def test_singular_values_are_those_of_the_dense_matrix(name: str, matrix: str) -> None:
    y, ptr = GRADES[name]
    part, f = part_of(y, ptr), 2 * np.random.default_rng(2).normal(size=len(y))
    found = spectra(record_of(f), part, matrix)
    kept = {int(q): values for q, values in zip(found.table["query"], found.values, strict=True)}
    for query in range(part.n_queries):
        slow = dense(f, part, query, matrix)
        values = kept.get(int(part.query_ids[query]), np.zeros(0))
        np.testing.assert_allclose(values, slow[: len(values)], atol=1e-12)
        np.testing.assert_allclose(slow[len(values) :], 0, atol=1e-12)
        if matrix == "block" and len(values):  # of the rectangle, without its empty rows and columns
            assert len(values) == min(map(len, sides(y[part.query_slice(query)])))
    assert len(found.table) + found.n_without_pairs + found.n_zero == part.n_queries


def test_energy_rank_and_dimensions_of_known_values() -> None:
    values = np.array([3.0, 2.0, 1.0, 1e-9])
    np.testing.assert_allclose(energy(values), [9 / 14, 13 / 14, 1, 1], rtol=1e-15)
    assert [dimensions_for(values, t) for t in (0.5, 0.9, 0.92, 0.95)] == [1, 2, 2, 3]
    assert dimensions_for(np.array([3.0, 1.0]), 0.9) == 1  # exactly nine tenths, whatever the rounding
    assert numerical_rank(values) == 3
    assert numerical_rank(values, 1e-12) == 4
    assert numerical_rank(1e-200 * values) == 3


@each_matrix
@pytest.mark.parametrize("seed", range(3))
def test_kept_singular_values_serve_every_threshold(seed: int, matrix: str) -> None:
    y, ptr = random_grades(seed, 3, sizes=(2, 30))
    found = spectra(record_of(2 * np.random.default_rng(seed).normal(size=len(y))), part_of(y, ptr), matrix)
    for share in (0.1, 0.5, 0.9, 0.99, 0.999999):
        assert found.dimensions(share).tolist() == [dimensions_for(v, share) for v in found.values]
    for tolerance in (0.0, 1e-12, 1e-6, 1e-1, 0.5):
        assert found.ranks(tolerance).tolist() == [numerical_rank(v, tolerance) for v in found.values]
    assert found.ranks().tolist() == found.table["rank"].tolist()
    assert found.dimensions(0.9).tolist() == found.table["k_90"].tolist()
    assert (found.table["stable_rank"] <= found.table["rank"]).all()


def test_thresholds_of_no_queries() -> None:
    found = spectra_of(SlopeDuals(part_of(*GRADES["no pairs"]), np.zeros(6), C, LOSSES["squared_hinge"]))
    assert (len(found.table), len(found.dimensions(0.9)), len(found.ranks())) == (0, 0, 0)


def test_stable_rank_and_nuclear_norm_of_known_values() -> None:
    values = np.array([4.0, 2.0, 2.0])
    assert (stable_rank(values), nuclear_norm(values)) == (1.5, 8.0)
    assert stable_rank(1e-200 * values) == 1.5


def test_energy_curves_start_at_nothing_and_end_at_all() -> None:
    curves = energy_curves([np.array([2.0]), np.array([1.0, 1.0, 1.0, 1.0])], 3)
    assert curves.tolist() == [[0, 1, 1, 1], [0, 0.25, 0.5, 0.75]]
    assert energy_curves([], 3).shape == (0, 4)


@each_matrix
@pytest.mark.parametrize("n_grades", [2, 3, 4, 5])
def test_the_squared_hinge_with_every_pair_active_obeys_its_law(n_grades: int, matrix: str) -> None:
    """α_ij = 2C(1 − f_i + f_j): rank at most 2(R − 1), and symmetrised 2R, less 1 if R is odd."""
    y, ptr = random_grades(n_grades, n_grades, sizes=(30, 60))
    f = 0.4 * np.random.default_rng(5).uniform(-1, 1, len(y))
    table = spectra(record_of(f), part_of(y, ptr), matrix).table
    assert (table["active"] == table["pairs"]).all()
    assert (table["rank"] <= table["law"]).all()
    assert (table["rank"] == table["law"]).any()
    expected = {"block": 2 * n_grades - 2, "symmetrised": 2 * n_grades - n_grades % 2}[matrix]
    assert set(table["law"]) == {expected}


@each_matrix
@pytest.mark.parametrize("seed", range(6))
def test_largest_rank_is_reached_by_arbitrary_values_only(seed: int, matrix: str) -> None:
    y, ptr = random_grades(seed, 2 + seed % 4, sizes=(2, 20))
    part, rng = part_of(y, ptr), np.random.default_rng(seed)
    for query in range(part.n_queries):
        grades = part.y[part.query_slice(query)]
        A = np.where(grades[:, None] > grades, rng.uniform(1, 2, (len(grades),) * 2), 0.0)
        sizes = np.unique(grades, return_counts=True)[1]
        reached = np.linalg.matrix_rank(A if matrix == "block" else A + A.T)
        assert MATRICES[matrix].largest_rank(sizes) == reached
    table = spectra(record_of(3 * rng.normal(size=len(y))), part, matrix).table
    assert (table["rank"] <= table["largest_rank"]).all()


def test_queries_without_pairs_or_dual_variables_are_left_out_and_counted() -> None:
    y, qid = np.array([1, 0, 2, 2, 1, 0]), np.array([1, 1, 2, 2, 3, 3])
    part = RankingData.from_arrays(np.zeros((6, 1)), y, qid)
    found = spectra(record_of(np.array([0.0, 0.0, 5.0, 0.0, 1.0, 0.0])), part, "block")
    assert found.table["query"].tolist() == [1]
    assert (found.n_without_pairs, found.n_zero) == (1, 1)


def test_the_table_of_a_query_of_two_documents() -> None:
    part = RankingData.from_arrays(np.zeros((2, 1)), np.array([1, 0]), np.array([4, 4]))
    found = spectra(record_of(np.zeros(2)), part, "block")
    assert found.values[0].tolist() == [2 * C]
    row = found.table.iloc[0].to_dict()
    assert row == {
        "query": 4,
        "documents": 2,
        "grades": 2,
        "pairs": 1,
        "active": 1,
        "rank": 1,
        "k_90": 1,
        "Dim_90": 0.5,
        "Dim_100": 0.5,
        "largest_rank": 1,
        "law": 2,
        "stable_rank": 1.0,
        "nuclear": 2 * C,
    }


def test_progress_is_told_for_every_query() -> None:
    X, y, ptr = problem(1)
    told: list[Progress] = []
    part = RankingData.from_arrays(X, y, qid_of(ptr))
    spectra(record_of(np.zeros(len(y))), part, "block", told.append)
    assert [p.fraction for p in told] == [q / part.n_queries for q in range(part.n_queries)]


@pytest.mark.letor
def test_ohsumed_allows_half_of_the_ranks_that_the_paper_prints(letor_root: Path) -> None:
    """xu2019 Table 6 prints 8, 92 and 234 for plain Ranking SVM: A + Aᵀ can have them, A cannot."""
    fold = open_fold(find_datasets([letor_root])["OHSUMED"], "Fold1")
    record = execute(RunSpec("OHSUMED", feature_map="linear", C=2.0**-13), fold=fold)
    allowed = {}
    for matrix in MATRICES:
        table = spectra(record, fold.train, matrix).table.set_index("query")
        allowed[matrix] = table.loc[[49, 45, 35], "largest_rank"].tolist()
        assert table["k_90"].median() <= 2
    assert allowed == {"block": [4, 46, 117], "symmetrised": [8, 92, 234]}
