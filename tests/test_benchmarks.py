"""The measurements' computations and files; the measurements themselves are no tests."""

from __future__ import annotations

import math
import platform
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from benchmarks import (
    binary,
    large,
    linear,
    low_rank,
    low_rank_limits,
    reading,
    refits,
    report,
    scaling,
    threads,
)
from benchmarks.children import side_by_side
from benchmarks.methods import Ours, PairSVM
from rankviz import RankSVM
from rankviz.datasets import letor_workers, make_data


@pytest.fixture
def data():
    return make_data(n_queries=12, documents_per_query=(10, 20), n_features=5, seed=3)


def test_exponents_of_power_laws_come_out() -> None:
    sizes = np.array(scaling.DOCUMENTS)
    table = pd.DataFrame({"growing": "n", "map": "linear", "n": sizes})
    table = table.assign(seconds=0.1 * sizes, features=1e-9, newton=sizes**1.5, memory=sizes**2.0)
    slopes = scaling.exponents(table).set_index("quantity")["slope"]
    assert slopes.to_dict() == pytest.approx({"seconds": 1.0, "newton": 1.5, "memory": 2.0})


def test_a_sentence_says_only_what_was_fitted() -> None:
    table = pd.DataFrame({"growing": "n", "n": [10, 1000]})
    slopes = pd.DataFrame([{"growing": "n", "map": "linear", "quantity": "seconds", "slope": 1.25}])
    assert scaling.sentence(table, slopes, "n") == "From n = 10 to 1,000, linear takes seconds as n^1.25."


def test_tables_are_written_with_what_they_were_made_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    table = pd.DataFrame({"method": ["a", "b"], "seconds": [0.25, math.nan], "share": [2e-6, 12345.67]})
    text = report.write("name", "Title", table, ["A note."]).read_text()
    assert "| a | 0.25 | 2.0 × 10⁻⁶ |" in text
    assert "| b | – | 12,345.7 |" in text
    assert "A note." in text
    again = pd.read_csv(tmp_path / "results" / "name.csv", comment="#")
    pd.testing.assert_frame_equal(again, table, rtol=1e-5)


def test_scores_differ_by_the_spread_of_scores() -> None:
    assert threads.relative(np.array([1.0, 3.0]), np.array([1.0, 3.0])) == 0.0
    assert threads.relative(np.array([0.0, 2.0]), np.array([0.0, 2.5])) == 0.5
    assert threads.relative(np.zeros(2), np.zeros(2)) == 0.0


def test_facts_name_no_host_and_no_path() -> None:
    words = " ".join(report.facts().values())
    assert platform.node() not in words.split()
    assert str(Path.cwd()) not in words


def test_pairs_by_scikit_learn_end_near_the_minimum_that_ours_finds(data) -> None:
    peer = PairSVM("Nystroem", 8, C=2.0**-3, gamma=0.5, tol=1e-6)
    reached, least = peer.objectives(peer.fit(data), data)
    assert reached == pytest.approx(least, rel=1e-6)


def test_linear_pairs_by_scikit_learn_pose_our_problem(data) -> None:
    reached, _ = PairSVM("linear", 1, C=2.0**-3, tol=1e-8).objectives(
        PairSVM("linear", 1, C=2.0**-3, tol=1e-8).fit(data), data
    )
    assert reached == pytest.approx(Ours("linear", 1, 2.0**-3, tol=1e-10).fit(data).objective_, rel=1e-6)


def test_children_take_turns_and_a_failure_is_told(data, monkeypatch: pytest.MonkeyPatch) -> None:
    # a spawned child imports what its parent calls __main__; after a test of pages that would be the app
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    methods = {"linear": Ours("linear", 1, 0.1), "wrong": Ours("nonsense", 1, 0.1)}
    found = side_by_side(methods, data, data, repetitions=2)
    assert len(found["linear"].runs) == 2
    assert found["linear"].median() > 0
    assert set(found["linear"].runs[0].stages) >= {"features", "newton"}
    assert found["linear"].scores.shape == (data.n_documents,)
    assert "nonsense" in found["wrong"].failure
    assert not found["wrong"].runs


def test_exponents_of_both_forms_of_a_risk() -> None:
    n = np.array(binary.SIZES)
    sizes = pd.DataFrame({"n": [*n, *n[:4]], "form": ["sorted"] * len(n) + ["listed"] * 4})
    table = sizes.assign(seconds=1e-6 * sizes["n"] ** np.where(sizes["form"] == "sorted", 1.1, 2.0))
    assert binary.exponents(table) == pytest.approx({"sorted": 1.1, "listed": 2.0})


def test_both_forms_of_a_risk_find_the_same() -> None:
    data = binary.one_query(300)
    one, other = (binary.row(data, form) for form in binary.FORMS)
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-9)
    assert one["less scikit-learn's"] == pytest.approx(0.0, abs=1e-12)
    assert one["mean loss of a pair"] >= 1 - one["AUC"]


def test_fits_and_solvers_are_told_with_what_they_reach(monkeypatch: pytest.MonkeyPatch, data) -> None:
    monkeypatch.setattr(linear, "REPETITIONS", 1)
    monkeypatch.setattr(linear, "FEW", 1)
    row = linear.fit("some", [data, data], 1.0, C=0.01)
    assert row["fit, median s"] >= row["solver alone, median s"] > 0
    assert row["duality gap / objective"] < 1e-2
    table = pd.DataFrame(linear.solvers(data, 1e-3)).set_index("solver")
    assert float(table.loc["L-BFGS (SciPy)", "above the optimum"]) <= 1e-6
    assert (table["seconds"] > 0).all()


def test_a_large_fit_is_told_with_its_memory(data) -> None:
    row = large.row("nystroem", data, {"n_components": 20, "gamma": 0.1}, 1.0)
    assert row["status"] == "converged"
    assert row["peak GB"] > 0


def test_low_rank_models_are_told_with_where_they_end(data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    table = pd.DataFrame(low_rank.fits("some", data, 1)).set_index("model")
    assert len(table) == 5
    assert (table["failure"] == "–").all()
    assert (table["iterations"] > 0).all()
    assert (table["above it"] >= 0.0).all()
    assert table.loc["RankSVM, hinge", "above it"] <= 1e-6
    assert table.loc[[name for name in table.index if "regularised" in name], "above it"].max() <= 1.1e-3
    assert {row["blocks"] for row in low_rank.spectra("some", data)} == {12}


def test_limits_of_low_rank_models(data, monkeypatch: pytest.MonkeyPatch) -> None:
    """The objective by K with the least it could be, and the plain model where the nuclear norm goes."""
    monkeypatch.setattr(low_rank_limits, "CS", (1e-2,))
    monkeypatch.setattr(low_rank_limits, "FACTORS", (1, 2))
    table = pd.DataFrame(low_rank_limits.more_factors("some", data)).set_index("training")
    values = table[["K = 1", "K = 2", "least"]].map(lambda told: float(told.split()[0]))
    assert len(table) == 3
    assert (values["least"] <= values[["K = 1", "K = 2"]].min(axis=1)).all()
    assert values.loc["from one factor to K", "K = 2"] <= values.loc["from one factor to K", "K = 1"]
    rows = pd.DataFrame(low_rank_limits.less_nuclear("some", data))
    apart = (rows["objective"].astype(float) - rows["plain"].astype(float)).abs()
    assert apart.iloc[-1] < 1e-3 * apart.iloc[0]
    assert rows["‖w − w_plain‖/‖w_plain‖"].iloc[-1] < rows["‖w − w_plain‖/‖w_plain‖"].iloc[0]


def test_refits_are_timed_for_every_kind_of_change(data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refits, "CHANGES", 2)
    monkeypatch.setattr(refits, "COLD", 1)
    table = pd.DataFrame(refits.refits("some", data, RankSVM("nystroem", n_components=10)))
    assert (table[["median", "least", "cold", "made ready"]] > 0).all(axis=None)
    assert len(table) == 5
    row = refits.estimates("some", data, RankSVM("linear"))
    assert row["queries"] == data.n_queries
    assert -1.0 <= row["correlation"] <= 1.0


def test_text_is_read_and_what_that_takes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_workers, "WORTHWHILE_BYTES", letor_workers.WORTHWHILE_BYTES)  # `read` sets it
    path = tmp_path / "one.txt"
    reading.generate(path, 200_000)
    row = reading.row(path, reading.FIRST, 2, [reading.reading(path, reading.FIRST, 2, tmp_path)])
    assert row["documents/s"] > 0
    assert reading.memory_of_a_worker(path) > 10e6
    for way in (reading.INTO_MEMORY, reading.AGAIN, reading.LOOKED_AT):
        told = reading.read(str(path), way, str(tmp_path))
        assert told["matrix"] == 8 * reading.FEATURES * told["documents"]


def test_what_a_host_took_is_a_share_of_what_was_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([(30, 10)])
    monkeypatch.setattr(report, "_TICKS", (0, 0))
    monkeypatch.setattr(report, "_processor_ticks", lambda: next(ticks))
    assert report.facts()["taken"].startswith("25% ")
    monkeypatch.setattr(report, "_processor_ticks", lambda: None)
    assert "taken" not in report.facts(), "where the system does not tell"
