"""Messages to callers of the library: what was found, what was expected, and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankviz import DataError, FactorizedRankSVM, RankingData, RankSVM, duals, evaluate, fit_curve
from rankviz.common.npz import write_npz
from rankviz.datasets import make_fold, read_scores, write_letor, write_scores

X = np.arange(8.0).reshape(4, 2)
Y, QID = np.array([0, 1, 0, 1]), np.array([1, 1, 2, 2])
FOLD = make_fold(n_queries=5)


@pytest.mark.parametrize(
    ("arrays", "found", "remedy"),
    [
        ({"y": Y[:, None]}, r"grades of shape \(4, 1\)", r"ravel\(\)"),
        ({"qid": QID[None]}, r"query ids of shape \(1, 4\)", r"ravel\(\)"),
        ({"y": Y[:3]}, "3 grades for 4 documents", "belong together"),
        ({"X": X[0]}, r"features of shape \(2,\)", "two dimensions"),
    ],
)
def test_arrays_that_are_no_data(arrays: dict[str, Any], found: str, remedy: str) -> None:
    with pytest.raises(DataError, match=f"{found}.*{remedy}"):
        RankingData.from_arrays(**{"X": X, "y": Y, "qid": QID} | arrays)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda data: next(fit_curve(RankSVM(), X)),
            r"type ndarray\..*RankingData\.from_arrays\(X, y, qid\)",
        ),
        (lambda data: next(fit_curve(RankSVM(), FOLD)), r"a Fold\..*fold\.train"),
        (lambda data: RankSVM().fit_data(FOLD), r"a Fold\..*fold\.train"),
        (lambda data: FactorizedRankSVM().fit_data(X), r"type ndarray\..*RankingData\.from_arrays"),
        (lambda data: duals(RankSVM().fit(X, Y, qid=QID), X), r"duals\(model, data\)"),
        (lambda data: evaluate(data, np.zeros(4)), r"evaluate\(scores, data\)"),
        (lambda data: evaluate(np.zeros(4), FOLD), r"a Fold\..*fold\.test"),
        (lambda data: write_scores("scores.txt", np.zeros(4), data), r"write_scores\(path, data, scores\)"),
        (lambda data: read_scores("scores.txt", X), r"read_scores\(path, data\)"),
        (lambda data: write_letor("data.txt", data), r"write_letor\(data, path\)"),
    ],
)
def test_what_is_given_in_place_of_data(call: Callable[[RankingData], Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        call(RankingData.from_arrays(X, Y, QID))


@pytest.mark.parametrize("at", [10, ["ten"], [1.5], None])
def test_cut_offs_that_are_no_list_of_numbers(at: Any) -> None:
    with pytest.raises(ValueError, match=r"must be whole numbers.*range\(1, 11\)"):
        evaluate(np.zeros(4), RankingData.from_arrays(X, Y, QID), at=at)


def test_a_missing_folder_is_named_and_not_the_temporary_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot save here") as caught:
        write_npz(tmp_path / "nowhere" / "model.npz", {}, {})
    assert caught.value.filename == str(tmp_path / "nowhere")
