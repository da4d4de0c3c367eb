"""Tables and figures of convergence: gaps, what was reached when, and the runs told apart."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.learning.objective import Status
from rankviz.plots import convergence

SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25)
PLAIN = SPEC.but(preconditioner="none")


@pytest.fixture(scope="module")
def records(fold: Fold) -> list[RunRecord]:
    return [execute(spec, fold=fold) for spec in (SPEC, PLAIN, SPEC.but(C=4.0))]


@pytest.fixture(scope="module")
def references(records: list[RunRecord], fold: Fold) -> list[RunRecord]:
    wanted = dict.fromkeys(record.spec.reference(convergence.REFERENCE_TOL) for record in records)
    return [execute(spec, fold=fold) for spec in wanted]


def test_runs_of_one_objective_share_a_reference(
    records: list[RunRecord], references: list[RunRecord]
) -> None:
    assert len(references) == 2
    table = convergence.convergence_data(records, references)
    for record, (_, rows) in zip(records, table.groupby("label", sort=False), strict=True):
        alike = [r for r in [*records, *references] if r.spec.problem == record.spec.problem]
        best = min(r.objective for r in alike)
        expected = (record.trace["objective"] - best) / best
        np.testing.assert_allclose(rows["gap"], expected, rtol=1e-12)
        assert (rows["gap"] >= 0).all()


def test_without_reference_there_is_no_gap(records: list[RunRecord]) -> None:
    assert convergence.convergence_data(records)["gap"].isna().all()


def test_a_point_is_reached_when_the_iteration_before_has_ended(records: list[RunRecord]) -> None:
    table = convergence.convergence_data(records[:1])
    assert table["reached_cg"].tolist() == [0, *table["cg_total"][:-1]]
    assert table["reached_seconds"].tolist() == [0.0, *table["seconds"][:-1]]
    assert table["cg_total"].iloc[-1] == records[0].trace["cg_iterations"].sum()
    line = convergence.quantity_figure(table, "gradient", "cg").data[0]
    assert line.x[-1] == records[0].trace["cg_iterations"].sum()
    assert line.y[-1] == line.y[-2]
    assert len(line.x) == len(records[0].trace) + 1


@pytest.mark.parametrize("y", convergence.QUANTITIES)
@pytest.mark.parametrize("x", convergence.AXES)
def test_every_quantity_against_every_axis(
    y: str, x: str, records: list[RunRecord], references: list[RunRecord]
) -> None:
    table = convergence.convergence_data(records, references)
    fig = convergence.quantity_figure(table, y, x)
    assert [trace.name for trace in fig.data] == list(dict.fromkeys(table["label"]))
    for trace in fig.data:
        assert np.isfinite(np.asarray(trace.y, float)).all()
        assert (np.diff(np.asarray(trace.x, float)) >= 0).all()


def test_gaps_below_the_reference_are_drawn_at_it(records: list[RunRecord]) -> None:
    table = convergence.convergence_data(records[:1], records[:1])
    assert table["gap"].iloc[-1] == 0.0
    assert convergence.quantity_figure(table, "gap", "iteration").data[0].y[-1] == convergence.REFERENCE_TOL


def test_runs_look_different(records: list[RunRecord]) -> None:
    table = convergence.convergence_data(records)
    lines = convergence.quantity_figure(table, "gradient", "iteration").data
    assert len({line.line.color for line in lines}) == 1, "colour means method"
    assert len({(line.line.dash, line.marker.symbol, line.opacity) for line in lines}) == 3


def test_reading_says_when_the_tolerance_was_not_reached(records: list[RunRecord]) -> None:
    slow = replace(records[1], status=Status.MAX_ITERATIONS.value)
    assert "do not reach the tolerance" in convergence.effort_sentence(records[0], slow)


def test_a_stochastic_solver_minimises_what_the_others_do() -> None:
    """Its seed is its own: on a map that draws nothing no other run has one."""
    plain = SPEC.linear(0.25)
    for seed in (0, 1):
        drawn = plain.but(solver="sgd_pair", seed=seed)
        assert drawn.problem == plain.problem
        assert drawn.reference(1e-10) == plain.reference(1e-10)
    assert SPEC.but(seed=1).problem != SPEC.problem  # there it draws the features


def test_traces_that_tell_less_are_drawn_as_far_as_they_go(fold: Fold, records: list[RunRecord]) -> None:
    low_rank = [execute(SPEC.factorized(2, 0.25, solver), fold=fold) for solver in ("lbfgs", "query_steps")]
    table = convergence.convergence_data([*low_rank, records[0]], low_rank)
    own = table[table["solver"] != "newton"]
    assert own[["cg_total", "reached_products", "duality", "gradient_norm"]].isna().all().all()
    assert (own["gap"] >= 0).all()  # objectives below zero: shares are of their size
    assert own["reached_seconds"].tolist() == own["seconds"].tolist()
    both = convergence.quantity_figure(table, "gap", "seconds").data
    assert [trace.name for trace in both] == list(table["label"].unique())
    assert len({trace.line.dash for trace in both[:2]}) == 2, "dashes mean solvers"
    (newton,) = convergence.quantity_figure(table, "gradient", "iteration").data
    assert newton.name not in list(own["label"])
    assert not convergence.quantity_figure(own, "active", "products").data
    one = convergence.objective_figure(own)
    assert [trace.name for trace in one.data] == list(own["label"].unique())
    assert convergence.race_sentence(own).startswith("Seconds in this one run until within 10⁻⁴ of its ")
    steps = int(low_rank[0].trace["iteration"].iloc[-1])
    assert convergence.effort_sentence(low_rank[0]) == f"{steps:,} iterations reach the tolerance"


def test_the_race_names_who_came_near_and_who_did_not(
    records: list[RunRecord], references: list[RunRecord]
) -> None:
    table = convergence.convergence_data(records, references)
    last = table["label"] == table["label"].iloc[-1]
    told = convergence.race_sentence(table.assign(gap=table["gap"].where(~last, 1.0)))
    assert told.startswith("Products until within 10⁻⁴ of its own best objective: C = 2⁻², preconditioned")
    nobody = convergence.race_sentence(table.assign(gap=1.0))
    assert nobody == "No run comes within 10⁻⁴ of its own best objective"
    assert told.endswith("C = 2², preconditioned never")


@pytest.fixture(scope="module")
def record() -> RunRecord:
    fold = make_fold(n_queries=5, documents_per_query=(5, 8), n_features=3, seed=1)
    spec = RunSpec("demo", feature_map="linear", C=0.1)
    return execute(spec.factorized(2, 0.1), fold=fold)


def test_the_table_is_the_trace(record: RunRecord) -> None:
    table = convergence.trace_data(record)
    for name in ("iteration", "objective", "gap"):
        assert table[name].tolist() == record.trace[name].tolist()
    assert set(table["label"]) == {"factorised RankSVM, 2 factors"}


def test_a_panel_for_each_quantity(record: RunRecord) -> None:
    fig = convergence.trace_figure(convergence.trace_data(record))
    assert [trace.y.tolist() for trace in fig.data] == [
        record.trace[name].tolist() for name in convergence.TRACE_TITLES
    ]
    assert fig.layout.yaxis2.type == "log"
    assert fig.layout.yaxis.type is None, "objectives of these models are below 0"


def test_what_a_trace_has_not_is_left_out(record: RunRecord) -> None:
    few = replace(record, trace=record.trace[["objective"]])
    table = convergence.trace_data(few)
    assert table["iteration"].tolist() == list(range(len(few.trace)))
    assert len(convergence.trace_figure(table).data) == 1
    none = replace(record, trace=pd.DataFrame({"something": [1.0, 2.0]}))
    assert convergence.trace_quantities(convergence.trace_data(none)) == []
