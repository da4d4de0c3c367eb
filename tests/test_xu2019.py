"""xu2019's protocol: grids, the choice on validation, and the tables of `benchmarks.xu2019`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import xu2019
from benchmarks.xu2019 import CS, GRIDS, METRICS, Trained
from rankviz import Fold
from rankviz.analysis.spectra import spectra_of
from rankviz.datasets import make_data


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put five small folds in place of OHSUMED, and two cells for each method."""
    parts = [make_data(n_queries=8, documents_per_query=(6, 9), n_features=3, seed=k) for k in range(15)]
    monkeypatch.setattr(xu2019, "fold_of", lambda _, fold: Fold(*parts[3 * fold - 3 : 3 * fold]))
    monkeypatch.setattr(xu2019, "fit", xu2019.fit.func)  # nothing is kept on the disk
    for method, cells in GRIDS.items():
        monkeypatch.setitem(GRIDS, method, [cells[0], cells[-1]])


def test_no_grid_has_more_than_24_cells_and_plain_has_every_C_of_the_others() -> None:
    assert {method: len(cells) for method, cells in GRIDS.items()} == dict.fromkeys(GRIDS, 24)
    for C in CS:
        assert np.isclose([cell["C"] for cell in GRIDS["plain"]], C, rtol=1e-12).sum() == 1


def test_settings_are_chosen_on_the_validation_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two cells the one with the larger validation value is chosen, though its test value is smaller."""

    def made(C: float, vali: float, test: float) -> Trained:
        table = pd.DataFrame(dict.fromkeys(METRICS, [test] * 8))
        return Trained({"C": C}, pd.Series(dict.fromkeys(METRICS, vali)), table, "CERTIFIED", 0.1)

    found = [made(1e-6, 0.2, 0.9), made(1e-5, 0.3, 0.1)]
    monkeypatch.setattr(xu2019, "cells", lambda *_: found)
    choice = xu2019.chosen_by("OHSUMED", "MAP")
    assert {one.settings["C"] for folds in choice.values() for one in folds} == {1e-5}


@pytest.mark.usefixtures("small")
def test_tables_2_and_4_hold_the_printed_rows_and_ours() -> None:
    choices = {criterion: xu2019.chosen_by("OHSUMED", criterion) for criterion in ("MAP", "NDCG@5")}
    table = xu2019.means("OHSUMED", choices)
    printed = table[table["figures"] == "xu2019"].set_index("method")["MAP"].to_dict()
    assert printed == {"plain": 0.4427, "factorised": 0.4518, "regularised": 0.4480}
    assert len(table) == 3 + 2 * 5
    folds = [one.test["MAP"].mean() for one in choices["MAP"]["plain"]]
    ours = table[(table["method"] == "plain") & (table["figures"] == "rankviz, chosen by MAP")]
    assert ours["MAP"].item() == pytest.approx(np.mean(folds), abs=5e-5)
    assert len(xu2019.differences("OHSUMED", choices["MAP"])) == 3 * 4
    assert len(xu2019.claims("OHSUMED", choices["MAP"])) == 17


def test_tenths_count_every_query_once_and_a_whole_tenth_below() -> None:
    counted = xu2019.tenths("x", pd.Series([0.05, 0.1, 0.3, 0.31, 1.0]))
    assert list(counted.values()) == ["x", 2, 0, 1, 1, 0, 0, 0, 0, 0, 1]


def test_random_duals_have_the_largest_rank_that_grades_allow() -> None:
    data = make_data(n_queries=6, documents_per_query=(6, 12), n_features=3, seed=0)
    for matrix in ("block", "symmetrised"):
        found = spectra_of(xu2019.drawn(data), matrix).table
        assert found["rank"].tolist() == found["largest_rank"].tolist()
