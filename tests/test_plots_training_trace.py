"""The trace of one run as it is: whatever quantities its rows have."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from rankviz import RunRecord, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.plots import convergence


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
