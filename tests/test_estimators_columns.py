"""Tables: models know the columns that they were trained on, and refuse others."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_estimators import QID, X, Y

from rankviz import (
    DataError,
    FactorizedRankSVM,
    RankingData,
    RankSVM,
    RegularizedRankSVM,
    fit_curve,
    load,
    save,
)

NAMES = ["bm25", "length", "links", "age"]
TABLE = pd.DataFrame(X, columns=NAMES)
NUMBERED = pd.DataFrame(X)
DATA = RankingData.from_arrays(X, Y, QID)
each = pytest.mark.parametrize("ranker", [RankSVM, FactorizedRankSVM, RegularizedRankSVM])
each_use = pytest.mark.parametrize("use", ["predict", "score"])


def used(model: Any, use: str, table: object) -> Any:
    """The model's scores of a table, or its score on it."""
    return model.predict(table) if use == "predict" else model.score(table, Y, qid=QID)


@each
def test_names_of_columns_are_kept_and_change_nothing(ranker: type) -> None:
    model, plain = ranker(C=0.1).fit(TABLE, Y, qid=QID), ranker(C=0.1).fit(X, Y, qid=QID)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.feature_names_in_.dtype == object
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(TABLE), plain.predict(X))
    assert model.score(TABLE, Y, qid=QID) == plain.score(X, Y, qid=QID)


@each_use
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (TABLE[NAMES[::-1]], r"must be in the same order as they were in fit\. Expected"),
        (TABLE.rename(columns={"age": "year"}), "unseen at fit time:\n- year\n.*now missing:\n- age"),
        (TABLE[NAMES[:3]], "now missing:\n- age"),
        (TABLE.rename(columns={"age": 3}), "must convert them all to strings"),
    ],
)
def test_other_columns_are_refused(use: str, table: pd.DataFrame, words: str) -> None:
    model = RankSVM(C=0.1).fit(TABLE, Y, qid=QID)
    with pytest.raises(DataError, match=f"(?s){words}.*" + r"X\[model\.feature_names_in_\]"):
        used(model, use, table)
    picked = TABLE[NAMES[::-1]][model.feature_names_in_]
    np.testing.assert_array_equal(model.predict(picked), model.predict(TABLE))


@each_use
def test_a_word_is_said_where_only_one_of_both_has_names(use: str) -> None:
    named, plain = RankSVM(C=0.1).fit(TABLE, Y, qid=QID), RankSVM(C=0.1).fit(X, Y, qid=QID)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(used(named, use, X), used(plain, use, X))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert np.array_equal(used(plain, use, TABLE), used(plain, use, X))


@each_use
def test_columns_that_are_numbers_are_compared_too(use: str) -> None:
    model = RankSVM(C=0.1).fit(NUMBERED, Y, qid=QID)
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(used(model, use, NUMBERED), used(model, use, X))
    with pytest.raises(DataError, match=r"columns 3, 2, 1, 0\. Expected: .*0, 1, 2, 3"):
        used(model, use, NUMBERED[[3, 2, 1, 0]])


def test_columns_of_mixed_types_are_refused_before_training() -> None:
    with pytest.raises(DataError, match="Feature names are only supported if all"):
        RankSVM(C=0.1).fit(TABLE.rename(columns={"age": 3}), Y, qid=QID)


def test_a_fit_without_names_forgets_them() -> None:
    model = RankSVM(C=0.1).fit(TABLE, Y, qid=QID)
    for again in (model.fit(X, Y, qid=QID), model.fit(TABLE, Y, qid=QID).fit_data(DATA)):
        assert not hasattr(again, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again.predict(X)
    numbered = RankSVM(C=0.1).fit(NUMBERED, Y, qid=QID).fit_data(DATA)
    numbered.predict(NUMBERED[[3, 2, 1, 0]])  # what the columns of `DATA` were called is not known


def test_models_of_a_curve_have_the_names_of_none() -> None:
    start = RankSVM("fourier", n_components=5).fit(TABLE, Y, qid=QID)
    (model,) = fit_curve(start, DATA, C=[0.1])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        model.predict(TABLE)


@each
@pytest.mark.parametrize("table", [TABLE, NUMBERED])
def test_a_stored_model_knows_its_columns(ranker: type, table: pd.DataFrame, tmp_path: Path) -> None:
    model = ranker(C=0.1).fit(table, Y, qid=QID)
    again = load(save(model, tmp_path / "model.npz"))
    assert again.columns == model.columns
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    with pytest.raises(DataError, match="order"):
        again.predict(table[table.columns[::-1]])


def test_integers_flags_and_nullable_columns_are_numbers() -> None:
    table = pd.DataFrame({"a": X[:, 0] > 0, "b": np.arange(len(X)), "c": pd.array(X[:, 2], dtype="Float64")})
    model = RankSVM(C=0.1).fit(table, Y, qid=pd.Series(QID, index=np.arange(len(X))[::-1]))
    np.testing.assert_array_equal(model.predict(table), model.predict(table.astype(float)))
    table.loc[3, "c"] = pd.NA
    with pytest.raises(DataError, match="feature 3 of document 4 is nan"):
        model.predict(table)
    with pytest.raises(DataError, match="Reshape"):
        model.predict(table["b"])
