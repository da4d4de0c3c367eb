"""xu2019's protocol: grids, the choice on validation, and what `benchmarks.xu2019` says of ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import xu2019, xu2019_cells, xu2019_ranks
from benchmarks.xu2019_cells import CS, GRIDS, Trained
from benchmarks.xu2019_figures import COUPLING, METRICS, TABLE_6, TABLE_7, TABLE_8, TABLES_2_AND_4
from rankviz import Fold
from rankviz.analysis.spectra import spectra_of
from rankviz.datasets import make_data


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Fold]:
    """Five small folds in place of OHSUMED, two cells for each method, and a folder of its own."""
    parts = [make_data(n_queries=8, documents_per_query=(6, 9), n_features=3, seed=k) for k in range(15)]
    folds = [Fold(*parts[3 * k : 3 * k + 3]) for k in range(5)]
    monkeypatch.setattr(xu2019_cells, "fold_of", lambda name, fold: folds[fold - 1])
    monkeypatch.setattr(xu2019_cells.tempfile, "gettempdir", lambda: str(tmp_path))
    for method, cells in GRIDS.items():
        monkeypatch.setitem(GRIDS, method, [cells[0], cells[-1]])
    return folds


def test_no_grid_has_more_than_24_cells_and_plain_has_every_C_of_the_others() -> None:
    assert {method: len(cells) for method, cells in GRIDS.items()} == dict.fromkeys(GRIDS, 24)
    for C in CS:
        assert np.isclose([cell["C"] for cell in GRIDS["plain"]], C, rtol=1e-12).sum() == 1


def test_printed_tables_are_whole() -> None:
    assert all(len(row) == len(METRICS) for rows in TABLES_2_AND_4.values() for row in rows.values())
    assert all(len(row) == len(METRICS) for row in TABLE_7.values())
    assert (len(TABLE_8), {len(row) for row in TABLE_8.values()}) == (6, {len(COUPLING)})
    assert [ranks["plain"] for ranks in TABLE_6.values()] == [8, 92, 234]


def test_a_training_is_kept_and_read_back_exactly(small: list[Fold]) -> None:
    settings = {"C": 0.01}
    first = xu2019_cells.trained("OHSUMED", 1, "plain", settings)
    assert xu2019_cells.kept_at("OHSUMED", 1, "plain", settings).exists()
    again = xu2019_cells.trained("OHSUMED", 1, "plain", settings)
    pd.testing.assert_frame_equal(again.test, first.test, check_names=False)
    pd.testing.assert_series_equal(again.vali, first.vali)
    assert (again.status, again.steps, again.seconds) == (first.status, first.steps, first.seconds)


def test_every_setting_has_a_file_of_its_own() -> None:
    names = {
        xu2019_cells.kept_at(name, 1, m, cell) for name in ("a", "b") for m in GRIDS for cell in GRIDS[m]
    }
    assert len(names) == 2 * 4 * 24


def test_settings_are_chosen_on_the_validation_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two cells the one with the larger validation value, though the other is better on the test part."""

    def cells(name: str, fold: int, method: str) -> list[tuple[dict[str, float], Trained]]:
        def made(vali: float, test: float) -> Trained:
            table = pd.DataFrame(dict.fromkeys(METRICS, [test] * 8))
            return Trained(pd.Series(dict.fromkeys(METRICS, vali)), table, "CERTIFIED", 1, 0.1)

        return [({"C": 1e-6}, made(0.2, 0.9)), ({"C": 1e-5}, made(0.3, 0.1))]

    monkeypatch.setattr(xu2019, "grid", cells)
    choice = xu2019.chosen_by("OHSUMED", "MAP")
    assert {one.settings["C"] for folds in choice.values() for one in folds} == {1e-5}


def test_tables_2_and_4_hold_the_printed_rows_and_ours(small: list[Fold]) -> None:
    choices = {criterion: xu2019.chosen_by("OHSUMED", criterion) for criterion in xu2019.CRITERIA}
    table = xu2019.means("OHSUMED", choices)
    printed = table[table["figures"] == "xu2019"]
    assert printed.set_index("method")["MAP"].to_dict() == {
        "plain": 0.4427,
        "factorised": 0.4518,
        "regularised": 0.4480,
    }
    assert len(table) == 3 + 2 * 5
    folds = [one.trained.test["MAP"].mean() for one in choices["MAP"]["plain"]]
    ours = table[(table["method"] == "plain") & (table["figures"] == "rankviz, chosen by MAP")]
    assert ours["MAP"].item() == pytest.approx(np.mean(folds), abs=5e-5)
    differences = xu2019.differences("OHSUMED", choices["MAP"])
    assert len(differences) == 3 * 4
    assert len(xu2019.claims("OHSUMED", choices["MAP"])) == 17
    assert len(xu2019.settings(choices["MAP"])) == 5 * 5


def test_tenths_count_every_query_once_and_a_whole_tenth_below() -> None:
    counted = xu2019_ranks._bins("x", pd.Series([0.05, 0.1, 0.3, 0.31, 1.0]))
    assert list(counted.values()) == ["x", 2, 0, 1, 1, 0, 0, 0, 0, 0, 1]


def test_random_duals_have_the_largest_rank_that_grades_allow() -> None:
    """Without any training: full rank is what α without structure have."""
    data = make_data(n_queries=6, documents_per_query=(6, 12), n_features=3, seed=0)
    for matrix in ("block", "symmetrised"):
        found = spectra_of(xu2019_ranks.drawn(data), matrix).table
        assert found["rank"].tolist() == found["largest_rank"].tolist()


def test_rows_that_have_the_printed_ranks_are_named() -> None:
    tolerances = {f"tolerance {tol:g}": ["1 / 2 / 3", "8 / 92 / 234"] for tol in (1e-3, 1e-6, 1e-9)}
    table = pd.DataFrame(
        {"features": "raw", "model": ["a", "b"], "settings": "C = 1", "matrix": "A_l"} | tolerances
    )
    assert xu2019_ranks._fitting(table, "8 / 92 / 234") == "Of 2 rows these have it: b (C = 1), A_l, raw."
    assert "None of the 2" in xu2019_ranks._fitting(table, "5 / 5 / 5")


def test_without_the_sets_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RANKVIZ_LETOR", raising=False)
    xu2019.main()
    assert "RANKVIZ_LETOR is not set" in capsys.readouterr().out
