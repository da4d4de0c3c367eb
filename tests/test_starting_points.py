"""Test starting settings: known sets by their contents, others by distances and a few fits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.report import RESULTS
from rankviz import Fold, execute, load_fold
from rankviz.common.settings import Powers
from rankviz.datasets import RankingData, make_fold
from rankviz.features.kernels import GAMMA
from rankviz.runs import starting_points as module
from rankviz.runs.spec import RunSpec
from rankviz.runs.starting_points import LINEAR_CS, NO_START, nearest_power, starting_point


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=40, documents_per_query=(8, 15), n_features=6, seed=1)


def scaled(fold: Fold, factor: float) -> Fold:
    parts = {
        name: RankingData.from_arrays(part.X * factor, part.y, part.query_ids.repeat(np.diff(part.ptr)))
        for name, part in fold.parts.items()
    }
    return Fold(**parts)


def test_gamma_is_one_over_the_median_squared_distance(fold: Fold) -> None:
    X = fold.train.X
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    gamma = starting_point(fold).values["gamma"]
    assert abs(np.log2(gamma * np.median(distances))) <= 0.5 + 0.1  # the sample is not all of them


def test_features_of_another_scale_start_the_same_model(fold: Fold) -> None:
    one, other = starting_point(fold), starting_point(scaled(fold, 8**-0.5))
    assert other.linear == 8 * (one.linear or 0)
    assert other.values["gamma"] == one.values["gamma"] * 8
    assert other.values["C"] == one.values["C"], "κ is the same, and so is what is best with it"


def test_c_is_the_best_of_the_linear_fits_on_the_validation_part(fold: Fold) -> None:
    runs = {C: execute(RunSpec("any").linear(C), fold=fold) for C in LINEAR_CS}
    means = {C: run.metrics["vali"]["NDCG@10"].mean() for C, run in runs.items()}
    found = starting_point(fold)
    assert means[found.linear] == max(means.values())
    assert found.source == "γ by the median heuristic, C by 7 linear fits"


def test_no_fits_where_they_take_long(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "total_seconds", lambda _: 2 * module.MOST_SECONDS)
    found = starting_point(fold)
    assert (found.linear, list(found.values)) == (None, ["gamma"])
    assert found.source == "γ by the median heuristic"


def test_data_that_say_nothing_have_no_start(fold: Fold) -> None:
    assert starting_point(scaled(fold, 0.0)) == NO_START
    qid = fold.train.query_ids.repeat(np.diff(fold.train.ptr))
    flat = RankingData.from_arrays(fold.train.X, np.zeros(len(qid)), qid)
    assert starting_point(replace(fold, train=flat)).linear is None, "no pairs to learn from"


@pytest.mark.parametrize("value", [1e-300, 1e300, np.inf])
def test_what_is_beyond_the_slider_is_its_end(value: float) -> None:
    assert isinstance(GAMMA.offer, Powers)
    end = GAMMA.offer.high if value > 1 else GAMMA.offer.low
    assert nearest_power(GAMMA, value) == 2.0**end


@pytest.mark.parametrize("name", ["OHSUMED", "MQ2008"])
def test_known_sets_have_what_was_chosen_for_them_on_every_fold(letor_root: Path, name: str) -> None:
    found = [starting_point(load_fold(letor_root / name, k)) for k in (1, 4)]
    assert found[0] == found[1]
    assert found[0].source == f"Settings chosen on {name}’s validation parts"
    assert found[0].values["n_components"] == 500
    table = pd.read_csv(RESULTS / "starting_points.csv", comment="#")
    chosen = table[(table["set"] == name) & (table["chosen"] == "chosen")].set_index("model")
    assert np.log2(found[0].linear or 0) == chosen.loc["linear", "log2 C"]
    assert np.log2(found[0].values["C"]) == chosen.loc["nystroem", "log2 C"]
    assert np.log2(found[0].values["gamma"]) == chosen.loc["nystroem", "log2 γ"]


def test_a_set_that_is_merely_called_so_is_an_own_one(fold: Fold) -> None:
    found = starting_point(replace(fold, name="OHSUMED fold 1"))
    assert found == starting_point(fold)
    assert "median" in found.source


def test_raw_features_of_a_known_set_are_no_known_ones(letor_root: Path) -> None:
    assert "median" in starting_point(load_fold(letor_root / "OHSUMED-min", 1)).source
    assert "median" in starting_point(load_fold(letor_root / "OHSUMED-LETOR2", 1)).source
