"""The tables behind the figures of the Low rank page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from naive_dual import C, part_of, record_of, slow_alpha
from naive_ranking import random_grades

from rankviz.dual import DualBlock, dual_block
from rankviz.losses import LOSSES
from rankviz.plots import dim_histogram, dual_heatmap, energy_curve, rank_by_activity, singular_values
from rankviz.spectra import COLUMNS, MATRICES, Spectra, spectra

LOSS = LOSSES["squared_hinge"]


def spectra_with(**columns: list[int]) -> Spectra:
    """Spectra of queries of which only some columns matter."""
    table = pd.DataFrame({name: columns.get(name, 1) for name in COLUMNS}, index=range(len(columns["rank"])))
    return Spectra(table, [], 0, 0)


def found_in(seed: int, matrix: str = "block") -> Spectra:
    y, ptr = random_grades(seed, 3, sizes=(4, 20))
    return spectra(record_of(np.random.default_rng(seed).normal(size=len(y))), part_of(y, ptr), matrix)


def block_of(seed: int, sizes: tuple[int, int] = (15, 15)) -> DualBlock:
    y, ptr = random_grades(seed, 3, sizes=sizes)
    return dual_block(np.random.default_rng(seed).normal(size=len(y)), part_of(y, ptr), 0, C, LOSS)


def test_bins_are_closed_on_the_right() -> None:
    ranks, documents = [1, 3, 3, 7, 10, 1], [10, 10, 29, 100, 10, 320]
    table = dim_histogram.data(spectra_with(rank=ranks, documents=documents))
    bars = table[table["measure"] == "rank"]
    assert bars["queries"].tolist() == [3, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert bars["share"].sum() == pytest.approx(1)
    assert len(dim_histogram.figure(table, "nystroem").data) == 3


def test_energy_is_the_mean_over_queries_with_its_quantiles() -> None:
    found = found_in(1)
    table = energy_curve.data(found)
    first = [values[0] ** 2 / (values**2).sum() for values in found.values]
    row = table.set_index("k").loc[1]
    assert row["mean"] == pytest.approx(np.mean(first))
    assert row["low"] == pytest.approx(np.quantile(first, 0.1))
    assert row["high"] == pytest.approx(np.quantile(first, 0.9))
    assert table["k"].tolist() == list(range(1, len(table) + 1))
    assert table["mean"].is_monotonic_increasing
    assert energy_curve.figure(table, "linear").data[-1].y.tolist() == table["mean"].tolist()


@pytest.mark.parametrize("order", dual_heatmap.ORDERS)
@pytest.mark.parametrize("matrix", MATRICES)
def test_heat_map_shows_every_pair_in_its_place(matrix: str, order: str) -> None:
    block = block_of(2)
    table = dual_heatmap.data(block, matrix, order)
    slow = slow_alpha(block.f, block.y, np.array([0, len(block.y)]), C)
    assert len(table) == block.n_pairs * (1 if matrix == "block" else 2)
    assert table["alpha"].sum() == pytest.approx(slow.sum() * (1 if matrix == "block" else 2))
    for side in ("row", "column"):
        places = table.drop_duplicates(side).sort_values(side)
        keys = ["score"] if order == "score" else ["grade", "score"]
        falling = places[[f"{side}_{key}" for key in keys]]
        assert falling.equals(falling.sort_values(list(falling.columns), ascending=False))
    for row in table.itertuples():
        better = (row.row_grade, row.row_score), (row.column_grade, row.column_score)
        (_, high), (_, low) = sorted(better, reverse=True)
        assert row.alpha == pytest.approx(2 * C * max(0.0, 1 - high + low), abs=1e-15)


def test_heat_map_of_many_documents_draws_some_evenly_spread() -> None:
    table = dual_heatmap.data(block_of(3, (700, 700)), "symmetrised", "grade")
    assert table["row"].max() == table["column"].max() == dual_heatmap.MOST
    drawn = dual_heatmap.figure(table, "symmetrised", "grade").data[0]
    assert drawn.z.shape == (dual_heatmap.MOST, dual_heatmap.MOST)
    assert np.isnan(drawn.z).sum() == dual_heatmap.MOST**2 - len(table)


def test_singular_values_are_shown_relative_to_the_largest() -> None:
    table = singular_values.data(np.array([4.0, 2.0, 0.0]))
    assert table["relative"].tolist() == [1, 0.5, 0]
    assert table["energy"].tolist() == [0.8, 1, 1]
    assert list(singular_values.figure(table, "linear").data[0].x) == [1, 2]
    assert len(singular_values.drawn(singular_values.data(np.array([1.0, *[1e-17] * 50])))) == 12
    assert len(singular_values.drawn(singular_values.data(np.ones(51)))) == 51


def test_rank_by_activity_separates_queries_with_every_pair_active() -> None:
    table = rank_by_activity.data(spectra_with(rank=[1, 5], pairs=[4, 4], active=[4, 3]))
    assert table["active_share"].tolist() == [1, 0.75]
    some, every = rank_by_activity.figure(table, "fourier").data
    assert (list(some.y), list(every.y)) == ([5], [1])


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_figure_is_drawn_of_one_query_of_two_documents(matrix: str) -> None:
    y, ptr = np.array([1, 0]), np.array([0, 2])
    part = part_of(y, ptr)
    found, block = spectra(record_of(np.zeros(2)), part, matrix), dual_block(np.zeros(2), part, 0, C, LOSS)
    for module in (dim_histogram, energy_curve, rank_by_activity):
        assert module.figure(module.data(found), "linear").data
    assert singular_values.figure(singular_values.data(found.values[0]), "linear").data
    assert dual_heatmap.figure(dual_heatmap.data(block, matrix, "grade"), matrix, "grade").data
