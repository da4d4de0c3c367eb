"""The tables behind the figures on the plain, factorised and regularised model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from naive_dual import part_of, slow_alpha
from naive_ranking import random_grades, slow_pairs

from rankviz import RunSpec, execute
from rankviz.analysis.model_duals import run_duals, thresholded_blocks
from rankviz.analysis.spectra import COLUMNS, Spectra, numerical_rank, spectra_of
from rankviz.datasets import Fold, find_datasets, open_fold
from rankviz.models.dual_variables import DualBlock, GivenDuals, hinge_values
from rankviz.plots import dual_ranks, low_rank_models
from rankviz.plots.low_rank_models import MODELS
from rankviz.runs.record import RunRecord

PLAIN = RunSpec("synthetic-demo", feature_map="linear", C=2.0**-6, loss="hinge")
SPECS = (PLAIN, PLAIN.factorized(2, PLAIN.C), PLAIN.regularized(0.01, 1.0, PLAIN.C))


@pytest.fixture(scope="module")
def fold() -> Fold:
    return open_fold(find_datasets()["synthetic-demo"], "Fold1")


@pytest.fixture(scope="module")
def records(fold: Fold) -> dict[str, RunRecord]:
    return {spec.method: execute(spec, fold=fold) for spec in SPECS}


def spectra_with(**columns: list[float]) -> Spectra:
    """Spectra of queries of which only some columns matter, with the singular values 4, 2, 1."""
    n = len(columns["query"])
    table = pd.DataFrame({name: columns.get(name, [3] * n) for name in COLUMNS})
    return Spectra(table, [np.array([4.0, 2.0, 1.0])] * n, 0, 0)


def test_a_query_whose_matrix_is_zero_has_rank_zero() -> None:
    found = dict(
        zip(
            MODELS, (spectra_with(query=[7, 3]), spectra_with(query=[3]), spectra_with(query=[])), strict=True
        )
    )
    table = dual_ranks.models_data(found, 0.9, 0.3)
    assert table["query"].tolist() == [3, 7]
    assert table["rank_plain"].tolist() == [2, 2]
    assert table["rank_factorised"].tolist() == [2, 0]
    assert table["k_regularised"].tolist() == [0, 0]
    medians = dual_ranks.medians(table, "rank").set_index("model")
    assert medians.loc["factorized", ["low", "high"]].tolist() == [0, 0]
    figure = dual_ranks.models_figure(
        table, "linear", measure="rank", against="pairs", allowed=dual_ranks.rank_bounds(table, 2, "block")
    )
    assert list(figure.data[1].y) == [2, dual_ranks.ZERO_AT]


def test_ranks_are_those_of_each_models_own_blocks(fold: Fold, records: dict[str, RunRecord]) -> None:
    duals = [run_duals(records[m], fold.train) for m in MODELS[:2]]
    duals.append(thresholded_blocks(records["regularized"], fold.train))
    table = dual_ranks.models_data(dict(zip(MODELS, map(spectra_of, duals), strict=True)), 0.9, 1e-6)
    place = int(np.flatnonzero(fold.train.query_ids == table["query"].iloc[5])[0])
    for name, source in zip(("plain", "factorised", "regularised"), duals, strict=True):
        values = np.linalg.svd(source.block(place).full(), compute_uv=False)
        assert table[f"rank_{name}"].iloc[5] == numerical_rank(values, 1e-6)


@pytest.mark.parametrize("matrix", ["block", "symmetrised"])
def test_the_mask_bounds_the_rank_of_k_factors(
    matrix: str, fold: Fold, records: dict[str, RunRecord]
) -> None:
    found = spectra_of(run_duals(records["factorized"], fold.train), matrix).table
    allowed = dual_ranks.rank_bounds(found, 2, matrix).set_index("grades")["bound"]
    assert allowed.tolist() == [(2 if matrix == "symmetrised" else 1) * 2 * (r - 1) for r in allowed.index]
    assert (found["rank"] <= allowed.loc[found["grades"]].to_numpy()).all()


def test_selected_queries_alone_are_summarised() -> None:
    table = pd.DataFrame(
        {name: [1, 2, 9] for name in ("query", "documents", "grades", "pairs", "largest_rank")}
    )
    for model in ("plain", "factorised", "regularised"):
        table[f"rank_{model}"] = [1, 2, 9]
    drawn = dual_ranks.models_figure(
        table,
        "linear",
        measure="rank",
        against="documents",
        allowed=dual_ranks.rank_bounds(table, 1, "block").query("bound > 0"),
        selected=[9],
    )
    assert drawn.data[0].marker.opacity == (dual_ranks.FADED, dual_ranks.FADED, dual_ranks.STRONG)
    assert drawn.data[4].y[0] == 9


def test_hinge_values_are_those_of_a_plain_loop() -> None:
    y, ptr = random_grades(3, 3, sizes=(4, 12))
    f, C = np.random.default_rng(3).normal(size=len(y)), 0.25
    part, A = part_of(y, ptr), slow_alpha(f, y, ptr, 0.25)

    def rectangle(query: int) -> np.ndarray:
        rows = part.query_slice(query)
        block = DualBlock.given(y[rows], f[rows], np.zeros(_shape(y[rows])))
        inside: np.ndarray = A[rows, rows][np.ix_(block.winners, block.losers)]
        return inside

    primal, dual = hinge_values(GivenDuals(part, f, C, rectangle, 0.0))
    pairs = slow_pairs(y, ptr)
    square = sum(A[i, j] * (f[i] - f[j]) for i, j in pairs)
    assert primal == pytest.approx(0.5 * square + C * sum(max(0.0, 1 - f[i] + f[j]) for i, j in pairs))
    assert dual == pytest.approx(A.sum() - 0.5 * square)


def _shape(y: np.ndarray) -> tuple[int, int]:
    return int((y > y.min()).sum()), int((y < y.max()).sum())


def test_hinge_values_are_what_models_report(fold: Fold, records: dict[str, RunRecord]) -> None:
    for model, record in records.items():
        primal, dual = hinge_values(run_duals(record, fold.train))
        known = record.trace["gap"].iloc[-1] if model == "ranksvm" else record.solution["gap"][0]
        assert (primal - dual) / primal == pytest.approx(known, abs=1e-5)
    assert hinge_values(run_duals(records["factorized"], fold.train))[1] == pytest.approx(
        -records["factorized"].objective
    )


def trace_of(record: RunRecord, objectives: list[float], solver: str) -> RunRecord:
    steps = np.arange(len(objectives))
    trace = pd.DataFrame({"iteration": steps, "objective": objectives, "gap": 0.1, "seconds": 0.5 * steps})
    seconds = {"newton": 0.5 * steps[-1] + 2.0}
    spec = record.spec.but(solver=solver)
    return replace(record, spec=spec, trace=trace, seconds=seconds, objective=objectives[-1])


def test_curves_are_distances_to_the_best_of_their_own_model(records: dict[str, RunRecord]) -> None:
    runs = [
        trace_of(records["factorized"], [0.0, -50.0, -99.5], "lbfgs"),
        trace_of(records["factorized"], [0.0, -100.0], "query_steps"),
        trace_of(records["regularized"], [-8.0], "fista"),
    ]
    table = low_rank_models.curves_data(runs)
    assert table["above"].tolist() == pytest.approx([1.0, 0.5, 0.005, 1.0, 0.0, 0.0])
    assert table["seconds"].tolist() == pytest.approx([2.0, 2.5, 3.0, 2.0, 2.5, 2.0])
    assert table["printed"].tolist() == [False] * 3 + [True] * 2 + [False]
    assert low_rank_models.last_rows(table)["above"].tolist() == pytest.approx([0.005, 0.0, 0.0])
    near = low_rank_models.first_within(table, 0.01)
    assert near["iteration"].tolist() == [2, 1, 0]
    assert "factorised, paper's steps, after 2.5 s (iteration 1)" in low_rank_models.race_sentence(table)
    drawn = low_rank_models.curves_figure(table, "iteration")
    assert list(drawn.data[1].x) == [1, 2]
    assert drawn.data[1].y[-1] == low_rank_models.LEAST_DISTANCE


def test_a_run_that_never_comes_near_is_said(records: dict[str, RunRecord]) -> None:
    runs = [trace_of(records["regularized"], [o], s) for o, s in ((-8.0, "fista"), (-4.0, "alternating"))]
    assert low_rank_models.race_sentence(low_rank_models.curves_data(runs)).endswith(
        "regularised, paper's steps not at all"
    )


def test_the_sweep_over_k_has_a_band_over_seeds(records: dict[str, RunRecord]) -> None:
    base = records["factorized"]
    runs = [replace(base, spec=base.spec.but(factors=K, seed=s)) for s in (0, 1) for K in (1, 5)]
    table = low_rank_models.sensitivity_data(runs, "vali", "MAP")
    assert table["value"].tolist() == pytest.approx([base.metrics["vali"]["MAP"].mean()] * 4)
    lines = low_rank_models.over_seeds(table.assign(value=[1.0, 2.0, 3.0, 6.0]))
    assert lines[["factors", "mean", "low", "high", "seeds"]].to_numpy().tolist() == [
        [1, 2.0, 1.0, 3.0, 2],
        [5, 4.0, 2.0, 6.0, 2],
    ]


def test_the_objective_takes_the_place_of_a_metric(records: dict[str, RunRecord]) -> None:
    table = low_rank_models.sensitivity_data([records["factorized"]], "vali", low_rank_models.OBJECTIVE)
    assert table["value"].tolist() == [records["factorized"].objective]
    fig = low_rank_models.factors_figure(table, "linear", low_rank_models.OBJECTIVE, plain=None, grid=(1, 2))
    assert "plain" not in [trace.name for trace in fig.data]
    assert "lower is better" in fig.layout.yaxis.title.text


def test_the_plain_model_and_printed_values_are_drawn_beside_the_sweep(records: dict[str, RunRecord]) -> None:
    table = low_rank_models.sensitivity_data([records["factorized"]], "vali", "MAP")
    printed = pd.Series([0.1, 0.9], index=[1, 2])
    fig = low_rank_models.factors_figure(table, "linear", "MAP", plain=0.5, grid=(1, 2), printed=printed)
    drawn = {trace.name: list(trace.y) for trace in fig.data}
    assert drawn["plain, with the hinge"] == [0.5, 0.5]
    assert drawn["xu2019, Table 7"] == [0.1, 0.9]
    low, high = fig.layout.yaxis.range
    assert low <= 0.1 < 0.9 <= high


def test_ranks_beside_the_largest_possible_have_a_diagonal() -> None:
    found = dict(zip(MODELS, [spectra_with(query=[3, 7], largest_rank=[4, 9])] * 3, strict=True))
    table = dual_ranks.models_data(found, 0.9, 0.3)
    allowed = dual_ranks.rank_bounds(table, 2, "block")
    fig = dual_ranks.models_figure(table, "linear", measure="rank", against="largest_rank", allowed=allowed)
    diagonal = next(trace for trace in fig.data if trace.name == "as large as the grades allow")
    assert (list(diagonal.x), list(diagonal.y)) == ([1, 9], [1, 9])


def test_cells_that_are_not_there_yet_are_empty(records: dict[str, RunRecord]) -> None:
    base = records["regularized"]
    zero = replace(base, solution={"low_rank": np.zeros(3), "gap": np.zeros(1)})
    runs = [replace(one, spec=one.spec.but(nuclear=nuclear)) for one, nuclear in ((base, 1.0), (zero, 10.0))]
    table = low_rank_models.sensitivity_data(runs, "vali", "NDCG@1")
    assert table["all_zero"].tolist() == [False, True]
    cells = low_rank_models.weights_figure(table, "NDCG@1", (1.0, 10.0), (0.1, 1.0)).data[0]
    assert [[text[-5:] for text in row] for row in cells.text] == [
        ["", f"{table['value'][0]:.3f}"],
        ["", "A = 0"],
    ]
    assert np.isnan(cells.z[0][0])
    assert cells.z[0][1] == table["value"][0]
    assert cells.zmax - cells.zmin >= 0.02 - 1e-9


def test_models_are_drawn_side_by_side_and_the_middle_one_in_place() -> None:
    places = pd.DataFrame({m: dual_ranks.shifted(pd.Series([1, 10, 100]), m) for m in MODELS})
    assert places["factorized"].tolist() == [1, 10, 100]
    steps = np.log10(places).diff(axis=1).iloc[:, 1:].to_numpy()
    assert steps == pytest.approx(2 * dual_ranks.APART)
