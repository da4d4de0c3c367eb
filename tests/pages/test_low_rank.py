"""Low rank: its headline is what the library computes from the same spec."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import figures, words
from streamlit.testing.v1 import AppTest
from test_home_train import lines

from rankviz import RunSpec, execute
from rankviz.datasets import find_datasets, open_fold
from rankviz.plots import dim_histogram
from rankviz.spectra import MATRICES, Spectra, spectra

Opener = Callable[..., AppTest]
SPEC = RunSpec("synthetic-demo", n_components=10, C=2.0**-4, gamma=2.0**-2)


def found(matrix: str) -> Spectra:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    return spectra(execute(SPEC, fold=fold), fold.train, matrix)


@pytest.mark.parametrize("matrix", MATRICES)
def test_low_rank_shows_what_the_library_computes(matrix: str, open_page: Opener) -> None:
    app, expected = open_page("low_rank", m=10, matrix=matrix), found(matrix)
    shown = lines(figures(app)[0])
    for measure, rows in dim_histogram.data(expected).groupby("measure"):
        assert shown[dim_histogram.MEASURES[str(measure)]] == pytest.approx(rows["share"].tolist())
    table = expected.table
    k = int(table["k_90"].quantile(0.5, "lower"))
    assert f"{(table['k_90'] <= k).sum()} of {len(table)} queries reach 90 %" in words(app)
    assert f"median numerical rank is {int(table['rank'].quantile(0.5, 'lower'))}" in words(app)


def test_a_query_of_the_address_is_shown_and_an_unknown_one_is_not(open_page: Opener) -> None:
    table = found("block").table
    query = int(table["query"].iloc[-1])
    app = open_page("low_rank", m=10, block=query)
    assert f"Query {query}: " in words(app)
    assert f"Query {int(table['query'].iloc[0])}: " in words(open_page("low_rank", m=10, block=987654))


def test_alpha_belongs_to_the_training_part_and_left_out_queries_are_said(open_page: Opener) -> None:
    text = words(open_page("low_rank", m=10))
    assert "· training" in text
    assert "without a preference pair" in text
