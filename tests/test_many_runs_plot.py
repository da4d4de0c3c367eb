"""Many runs in one figure: those that have both values, thinned, with the best of them always there."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankviz.plots import metric_vs_setting

METRIC = "vali:MAP"


def runs(n: int) -> pd.DataFrame:
    maps = np.resize(["nystroem", "linear"], n)
    table = pd.DataFrame({"method": "ranksvm", "feature_map": maps, "dataset": "<a>", "fold": "Fold1"})
    return table.assign(**{METRIC: np.linspace(0.2, 0.4, n)}).set_index(
        pd.Index([f"run {k}" for k in range(n)])
    )


def test_runs_without_a_value_are_left_out() -> None:
    table = runs(5)
    table.iloc[0, table.columns.get_loc(METRIC)] = np.nan
    data = metric_vs_setting.runs_data(table, [1.0, 2.0, np.nan, 4.0, 5.0], METRIC, "run 3")
    assert data["run"].tolist() == ["run 1", "run 3", "run 4"]
    assert data["best"].tolist() == [False, True, False]


def test_of_many_some_are_drawn_and_the_best_always() -> None:
    n = 3 * metric_vs_setting.MOST_RUNS
    for best in ("run 1", "run 2", f"run {n - 2}"):
        drawn = metric_vs_setting.thinned_runs(metric_vs_setting.runs_data(runs(n), range(n), METRIC, best))
        assert metric_vs_setting.MOST_RUNS <= len(drawn) <= metric_vs_setting.MOST_RUNS + 1
        assert drawn["best"].sum() == 1
        assert drawn["x"].max() - drawn["x"].min() == n - 1


def test_colours_are_those_of_methods_and_names_of_data_are_no_tags() -> None:
    figure = metric_vs_setting.runs_figure(
        metric_vs_setting.runs_data(runs(4), range(4), METRIC, "run 3"), "seed", "MAP"
    )
    assert [trace.name for trace in figure.data] == ["linear", "Nyström", "best"]
    assert all("<a>" not in text for trace in figure.data[:2] for text in trace.text)
    assert figure.data[-1].x == (3,)
