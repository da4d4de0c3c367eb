"""Learning curves and label noise: intervals over queries and draws, tables, figures and sentences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.analysis.reference_runs import SAMPLE_COLUMNS, sample_table
from rankviz.datasets import make_fold
from rankviz.metrics.significance import crossed_interval, interval
from rankviz.plots import metric_vs_setting as plot
from ui.study.ndcg_vs_m_words import of_queries, of_wrong_grades

FOLD = make_fold(n_queries=60, documents_per_query=(6, 12), seed=4)
SPEC = RunSpec("made", feature_map="linear", C=0.05)
SHARES = (0.1, 0.5)


@pytest.fixture(scope="module")
def records() -> list[RunRecord]:
    models = (SPEC, SPEC.but(feature_map="fourier", n_components=10, gamma=0.25))
    parts = [m.but(share=s, draw=d) for m in models for s in SHARES for d in range(3)]
    noise = [SPEC.but(flipped=0.3, draw=d) for d in range(3)]
    return [record for _, record in execute_all([*models, *parts, *noise], fold=FOLD)]


def test_with_one_draw_it_is_the_interval_over_queries() -> None:
    values = np.random.default_rng(0).random(40)
    plain, crossed = interval(values), crossed_interval(values[None])
    assert crossed.mean == pytest.approx(plain.mean)
    assert (crossed.low, crossed.high) == pytest.approx((plain.low, plain.high))


def _ends(values: np.ndarray) -> tuple[float, float]:
    found = crossed_interval(values)
    return found.low, found.high


def test_its_length_is_that_of_three_variances() -> None:
    """Rows and columns with symmetric effects of their own: there is no correction for skewness."""
    columns, rows = np.repeat([-1.0, 1.0], 30), np.array([-2.0, 0.0, 2.0])
    low, high = _ends(columns + rows[:, None])
    n, t = 60, stats.t.ppf(0.975, 59)
    assert (high - low) / 2 == pytest.approx((1 + 1 / n) * t * np.sqrt(1 / (n - 1) + (8 / 3) / 3))


def test_it_covers_the_mean_about_as_often_as_it_says() -> None:
    """Draws and queries with effects of their own: 95 % intervals err on the wide side."""
    rng, hits, of = np.random.default_rng(2), 0, 200
    for _ in range(of):
        values = rng.normal(0, 1, (8, 1)) + rng.normal(0, 1, 30) + rng.normal(0, 1, (8, 30))
        low, high = _ends(values)
        hits += low <= 0 <= high
    assert 0.88 * of <= hits <= of


def test_queries_left_out_are_left_out() -> None:
    values = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 4.0]])
    found = crossed_interval(values)
    assert (found.mean, found.n_queries) == (2.5, 2)
    assert np.isnan(crossed_interval(values[:, :1]).low)
    assert np.isnan(crossed_interval(values[:, 1:2]).mean)
    with pytest.raises(ValueError, match="at least one row"):
        crossed_interval(np.zeros((0, 3)))


def test_the_table_has_a_row_for_each_share(records: list[RunRecord]) -> None:
    own = [r for r in records if r.spec.feature_map == "linear"]
    table = sample_table(own, "vali", "NDCG@10")
    assert list(table) == SAMPLE_COLUMNS
    assert table[["share", "flipped", "draws"]].to_numpy().tolist() == [
        [0.1, 0.0, 3],
        [0.5, 0.0, 3],
        [1.0, 0.0, 1],
        [1.0, 0.3, 3],
    ]
    assert table["queries"].tolist() == [4, 18, 36, 36]
    half = [r.metrics["vali"]["NDCG@10"].to_numpy() for r in own if r.spec.share == 0.5]
    whole = next(r for r in own if not r.spec.sample.drawn).metrics["vali"]["NDCG@10"].to_numpy()
    row = table.iloc[1]
    assert row["mean"] == pytest.approx(np.mean(half))
    assert row["difference"] == pytest.approx(np.mean(half) - whole.mean())
    assert np.count_nonzero(np.mean(half, axis=0) != whole) == 3
    assert np.isnan(row["difference_low"]), "three queries of twelve that differ are too few"
    row = table.iloc[0]
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert table.iloc[2]["difference"] == 0
    assert not table.iloc[2]["distinguishable"]


def test_rounding_is_no_difference_to_the_whole(records: list[RunRecord]) -> None:
    """Values that are 1, 2, … units in the last place above those of the whole model are the same values."""
    whole = next(record for record in records if not record.spec.sample.drawn)
    values = np.linspace(0.2, 0.3, 12)
    above = values + np.arange(1, 13) * np.spacing(values)
    parts = [whole.metrics | {"vali": pd.DataFrame({"MAP": own})} for own in (values, above)]
    made = [
        replace(whole, spec=spec, metrics=part)
        for spec, part in zip((whole.spec, whole.spec.but(flipped=0.3)), parts, strict=True)
    ]
    row = sample_table(made, "vali", "MAP").iloc[1]
    assert (above > values).all()
    assert row["difference"] == 0.0
    assert np.isnan(row["difference_low"])
    assert not row["distinguishable"]


def test_without_the_whole_there_is_nothing_to_compare_with(records: list[RunRecord]) -> None:
    table = sample_table([r for r in records if r.spec.sample.drawn], "vali", "NDCG@10")
    assert table["difference"].isna().all()
    assert not table["distinguishable"].any()


@pytest.mark.parametrize(("axis", "ticks"), [(plot.QUERIES, [4, 18, 36]), (plot.WRONG, [0, 30])])
def test_the_figure_draws_the_table(
    records: list[RunRecord], axis: plot.SampleAxis, ticks: list[float]
) -> None:
    other = "share" if axis is plot.WRONG else "flipped"
    drawn = [r for r in records if other not in r.spec.sample.values]
    table = plot.sample_data(drawn, "vali", "NDCG@10")
    figure = plot.sample_figure(table, axis, "NDCG@10")
    lines = {trace.name: trace for trace in figure.data if trace.name}
    assert set(lines) == set(table["label"])
    line = table[table["label"] == "linear"].sort_values(axis.column)
    np.testing.assert_allclose(lines["linear"].y, line["mean"])
    np.testing.assert_allclose(lines["linear"].x, line[axis.column] * axis.scale)
    assert list(figure.layout.xaxis.tickvals) == pytest.approx(ticks)
    band = next(trace for trace in figure.data if trace.fill == "toself")
    whole = line.loc[line["difference"] == 0, "mean"].iloc[0]
    assert max(band.y) == pytest.approx(whole + line["difference_high"].max())
    assert min(band.y) == pytest.approx(whole + line["difference_low"].min())


def test_without_the_whole_there_is_no_band(records: list[RunRecord]) -> None:
    table = plot.sample_data([r for r in records if r.spec.share < 1], "vali", "NDCG@10")
    figure = plot.sample_figure(table, plot.QUERIES, "NDCG@10")
    assert not [y for trace in figure.data if trace.fill == "toself" for y in trace.y]
    low, high = figure.layout.yaxis.range
    assert low < table["mean"].min()
    assert table["mean"].max() < high


def rows(*values: tuple[float, float, float, float, bool]) -> pd.DataFrame:
    """A table of share, mean, and the difference with its interval; 40 queries judge."""
    return pd.DataFrame(
        [
            {
                "share": share,
                "flipped": round(1.0 - share, 2),
                "queries": round(120 * share),
                "mean": mean,
                "difference": mean - 0.7,
                "difference_low": low,
                "difference_high": high,
                "distinguishable": apart,
                "judged_by": 40,
            }
            for share, mean, low, high, apart in values
        ]
    )


WHOLE = (1.0, 0.7, 0.0, 0.0, False)
CLOSE = (0.5, 0.69, -0.03, 0.01, False)
WORSE = (0.25, 0.6, -0.15, -0.05, True)
BETTER = (0.75, 0.72, 0.01, 0.03, True)


@pytest.mark.parametrize(
    ("table", "queries", "wrong"),
    [
        (
            rows(WORSE, CLOSE, WHOLE),
            "with 60 of 120 training queries does not differ significantly from the model with all (0.690 "
            "against 0.700, 95 % interval of the difference [−0.030, +0.010], 40 queries); with 30 it is",
            "with 50 % of its training grades flipped does not differ",
        ),
        (
            rows(WORSE, WHOLE),
            "still gains from more training queries: with 30 of 120",
            "worse by 0.100 (95 %",
        ),
        (rows(BETTER, WHOLE), "with 90 of 120 training queries is better by 0.020", "25 % of its training"),
        (rows(WHOLE), "on all 120 training queries", "on the original grades"),
        (rows(WORSE, WHOLE).assign(judged_by=5), "5 queries are too few", "5 queries are too few"),
    ],
)
def test_sentences(table: pd.DataFrame, queries: str, wrong: str) -> None:
    assert queries in of_queries(table, "Nyström", "MAP")
    assert wrong in of_wrong_grades(table, "Nyström", "MAP")


def test_an_interval_that_leaves_out_zero_does_not_end_there() -> None:
    table = rows((0.5, 0.65, -0.1, -0.0002, True), WHOLE)
    assert "(95 % interval [0.0002, 0.1000])" in of_queries(table, "Nyström", "MAP")
