"""The tables behind the figures of the Low rank page."""

import numpy as np
import pandas as pd
import pytest
from naive_dual import C, part_of, record_of, slow_alpha
from naive_ranking import random_grades

from rankviz.analysis.model_duals import RunDuals
from rankviz.analysis.spectra import MATRICES, Spectra, dimensions_for, numerical_rank, spectra_of
from rankviz.learning.losses import LOSSES
from rankviz.models.dual_variables import DualBlock, ShuffledDuals, dual_block
from rankviz.plots import dual_energy, dual_matrices, dual_ranks

LOSS = LOSSES["squared_hinge"]


def found_in(seed: int, matrix: str = "block") -> tuple[Spectra, Spectra]:
    """Spectra of random blocks, and of the same shuffled."""
    y, ptr = random_grades(seed, 3, sizes=(4, 20))
    duals = RunDuals(record_of(np.random.default_rng(seed).normal(size=len(y))), part_of(y, ptr))
    return spectra_of(duals, matrix), spectra_of(ShuffledDuals(duals), matrix)


def needed(**columns: list[int]) -> pd.DataFrame:
    """Needs of queries, of which only some columns matter."""
    names = ["documents", "pairs", "active", "largest_rank", "k", "k_shuffled", "rank", "rank_shuffled"]
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"query": range(1, n + 1)} | {name: columns.get(name, [1] * n) for name in names})


def block_of(seed: int, sizes: tuple[int, int] = (15, 15)) -> DualBlock:
    y, ptr = random_grades(seed, 3, sizes=sizes)
    return dual_block(np.random.default_rng(seed).normal(size=len(y)), part_of(y, ptr), 0, C, LOSS)


def test_bins_are_closed_on_the_right() -> None:
    table = needed(rank=[1, 3, 3, 7, 10, 1], documents=[10, 10, 29, 100, 10, 320])
    bars = dual_energy.histogram_data(table, "rank", "documents")
    assert bars["queries"].tolist() == [3, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert bars["share"].sum() == pytest.approx(1)
    assert dual_energy.queries_in_bins(table, "rank", "documents", [0, 9]) == [1, 4, 5, 6]
    assert dual_energy.queries_in_bins(table, "rank", "documents", [4]) == []


def test_numbers_are_binned_by_doubling() -> None:
    k = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 5000]
    bars = dual_energy.histogram_data(needed(k=k), "k", "number")
    assert bars["queries"].tolist() == [1, 1, *[2] * 8]
    assert bars["bin"].tolist()[:4] == ["1", "2", "3–4", "5–8"]


def test_dimensions_are_counted_against_the_largest_rank_too() -> None:
    table = needed(k=[1, 5, 10], largest_rank=[10, 10, 10], documents=[100, 100, 100])
    assert dual_energy.histogram_data(table, "k", "largest")["queries"].tolist() == [
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        1,
    ]
    assert dual_energy.histogram_data(table, "k", "documents")["queries"].tolist() == [3, *[0] * 9]


def test_selected_queries_are_drawn_in_full_and_the_others_faded() -> None:
    table = needed(k=[1, 1, 2], documents=[10, 10, 10])
    bars = dual_energy.histogram_data(table, "k", "documents", selected=[1, 3])
    assert bars["selected"].tolist()[:3] == [1, 1, 0]
    full, rest = dual_energy.histogram_figure(bars, "linear", "documents", "k").data[:2]
    assert (list(full.y[:2]), list(rest.y[:2])) == ([1, 1], [1, 0])
    none = dual_energy.histogram_figure(
        dual_energy.histogram_data(table, "k", "documents"), "linear", "documents", "k"
    )
    assert list(none.data[0].y[:2]) == [2, 1]


@pytest.mark.parametrize("matrix", MATRICES)
def test_needs_are_those_of_the_spectra_and_of_the_shuffled_ones(matrix: str) -> None:
    found, shuffled = found_in(4, matrix)
    table = dual_energy.dimensions_needed(found, shuffled, 0.8, 1e-3)
    for end, spectra in (("", found), ("_shuffled", shuffled)):
        assert table[f"k{end}"].tolist() == [dimensions_for(values, 0.8) for values in spectra.values]
        assert table[f"rank{end}"].tolist() == [numerical_rank(values, 1e-3) for values in spectra.values]


def test_energy_is_the_mean_over_queries_with_its_quantiles() -> None:
    found, shuffled = found_in(1)
    inside = np.arange(len(found.values)) != 1
    table = dual_energy.energy_data(found, inside)
    first = [values[0] ** 2 / (values**2).sum() for values in found.values]
    del first[1]
    row = table.set_index("k").loc[1]
    assert row["mean"] == pytest.approx(np.mean(first))
    assert row["low"] == pytest.approx(np.quantile(first, 0.1))
    assert row["high"] == pytest.approx(np.quantile(first, 0.9))
    assert table["mean"].is_monotonic_increasing
    both = dual_energy.with_shuffled(table, dual_energy.energy_data(shuffled, inside))
    drawn = dual_energy.energy_figure(both, "linear", 0.9).data
    assert drawn[-1].y.tolist() == both.loc[both["of"] == "model", "mean"].tolist()
    assert drawn[1].y.tolist() == both.loc[both["of"] == "shuffled", "mean"].tolist()


@pytest.mark.parametrize("order", dual_matrices.ORDERS)
@pytest.mark.parametrize("matrix", MATRICES)
def test_heat_map_shows_every_pair_in_its_place(matrix: str, order: str) -> None:
    block = block_of(2)
    table = dual_matrices.heatmap_data(block, matrix, order)
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
    table = dual_matrices.heatmap_data(block_of(3, (700, 700)), "symmetrised", "grade")
    assert table["row"].max() == table["column"].max() == dual_matrices.MOST
    drawn = dual_matrices.heatmap_figure(table, "symmetrised", "grade", (0, 1)).data[0]
    assert drawn.z.shape == (dual_matrices.MOST, dual_matrices.MOST)
    assert np.isnan(drawn.z).sum() == dual_matrices.MOST**2 - len(table)


def test_colours_of_what_is_left_out_lie_evenly_about_nothing() -> None:
    table = dual_matrices.heatmap_data(block_of(2), "block", "grade")
    assert dual_matrices.colour_limits(table) == (0.0, table["alpha"].max())
    scales = [
        dual_matrices.heatmap_figure(table, "block", "grade", limits).data[0] for limits in ((0, 2), (-2, 2))
    ]
    assert (scales[0].zmin, scales[1].zmin) == (0, -2)
    assert scales[0].colorscale != scales[1].colorscale


def test_spectrum_of_a_block_is_shown_relative_to_its_largest_value() -> None:
    values = np.array([4.0, 2.0, 0.0])
    table = dual_matrices.spectrum_data(values)
    assert table["relative"].tolist() == [1, 0.5, 0]
    assert table["energy"].tolist() == [0.8, 1, 1]
    fig = dual_matrices.spectrum_figure(table, "linear", tolerance=1e-6, share=0.9, chosen=1, last=12)
    assert list(fig.data[0].x) == [1, 2]
    assert "k = 2 for 90 %" in [note.text for note in fig.layout.annotations]
    assert dual_matrices.last_drawn(np.array([1.0, *[1e-17] * 50])) == 12
    assert dual_matrices.last_drawn(np.array([*[1.0] * 30, *[1e-17] * 50])) == 60
    assert dual_matrices.last_drawn(np.ones(51)) == 51


def test_losses_of_one_query_and_of_all_are_drawn_against_the_rank() -> None:
    one = pd.DataFrame({"k": [1, 3], "energy": [0.9, 1], "alpha_error": [0.3, 0], "w_error": [0.1, 0]})
    table = dual_matrices.truncation_data(one.assign(**{"NDCG@10": 0.5}), one.assign(**{"NDCG@10": 0.4}))
    assert table["scope"].tolist() == ["query", "query", "all", "all"]
    fig = dual_matrices.truncation_figure(table, "linear", "validation", chosen=1, last=12)
    assert {trace.name for trace in fig.data} >= {"α, this query alone", "w, every query"}
    errors = next(trace for trace in fig.data if trace.name == "α, every query")
    assert errors.y[0] == 0.3
    assert np.isnan(errors.y[1])  # nothing is lost: a logarithmic axis has no place for it


def test_rank_by_activity_separates_queries_with_every_pair_active() -> None:
    table = dual_ranks.activity_data(needed(rank=[1, 5], pairs=[4, 4], active=[4, 3]).assign(law=2))
    assert table["active_share"].tolist() == [1, 0.75]
    some, every, law = dual_ranks.activity_figure(table, "fourier").data
    assert set(law.y) == {2}
    assert (list(some.y), list(every.y)) == ([5], [1])


def test_rank_is_told_for_every_c_with_its_band() -> None:
    rows = {"C": [0.5, 0.5, 0.25, 0.25], "rank": [4, 6, 2, 2], "law": 4, "largest_rank": 9}
    rows |= {"pairs": 10, "active": [10, 5, 10, 10], "active_share": [1, 0.5, 1, 1]}
    table = dual_ranks.by_C_data(pd.DataFrame(rows))
    assert table["C"].tolist() == [0.25, 0.5]
    assert table["rank"].tolist() == [2, 5]
    assert table["active_share"].tolist() == [1, 0.75]
    assert table["lawful"].tolist() == [1, 0.5]
    drawn = next(t for t in dual_ranks.by_C_figure(table, "fourier", 0.5).data if t.name == "median rank")
    assert list(drawn.x) == [-2, -1]


def test_stairs_and_errors_are_drawn() -> None:
    stairs = pd.DataFrame({"query": [1, 2], "pairs": 9, "boundary": 1, "stairs": [3, 5], "rank": [3, 6]})
    ranks = dual_ranks.stairs_figure(stairs.assign(k_90=1), "linear").data
    assert [list(trace.y) for trace in ranks] == [[0, 6], [3, 6], [1, 1]]
    assert dual_ranks.stairs_figure(stairs.assign(k_90=1)[:0], "linear").data
    rough = pd.DataFrame(
        {"error": [1e-9, 1e-3] * 2, "tolerance": [1e-6] * 2 + [1e-2] * 2, "rank": [2, 9, 2, 2]}
    )
    fits = pd.DataFrame({"tol": [1e-1, 1e-8], "error": [1e-2, 0.0], "rank": [2, 2]})
    *lines, own = dual_ranks.error_figure(rough, fits, "linear", tolerance=1e-6, largest=9).data
    assert [list(line.y) for line in lines] == [[2, 9], [2, 2]]
    assert lines[0].line.width > lines[1].line.width
    assert list(own.x) == [1e-2, dual_ranks.LEAST_ERROR]


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_figure_is_drawn_of_one_query_of_two_documents(matrix: str) -> None:
    y, ptr = np.array([1, 0]), np.array([0, 2])
    part = part_of(y, ptr)
    duals = RunDuals(record_of(np.zeros(2)), part)
    found, block = spectra_of(duals, matrix), dual_block(np.zeros(2), part, 0, C, LOSS)
    assert dual_ranks.activity_figure(dual_ranks.activity_data(found.table), "linear").data
    needs = dual_energy.dimensions_needed(found, spectra_of(ShuffledDuals(duals), matrix), 0.9, 1e-6)
    for scale in dual_energy.SCALES:
        assert dual_energy.histogram_figure(
            dual_energy.histogram_data(needs, "k", scale), "linear", scale, "k"
        ).data
    curve = dual_energy.energy_data(found, np.array([True]))
    assert dual_energy.energy_figure(dual_energy.with_shuffled(curve, curve), "linear", 0.9).data
    table = dual_matrices.spectrum_data(found.values[0])
    assert dual_matrices.spectrum_figure(table, "linear", tolerance=1e-6, share=0.9, chosen=5, last=12).data
    drawn = dual_matrices.heatmap_data(block, matrix, "grade")
    assert dual_matrices.heatmap_figure(drawn, matrix, "grade", dual_matrices.colour_limits(drawn)).data
