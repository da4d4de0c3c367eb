"""Kernel approximation: the page shows the library's errors and has words for rank, linear, extreme γ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest_pages import figures, words
from streamlit.testing.v1 import AppTest
from test_home_train import lines

from rankviz.datasets import find_datasets, open_fold
from rankviz.kernel_error import fitted_slope, kernel_errors, over_seeds
from ui.kernel_approximation_words import kernel_words, reading, small

Opener = Callable[..., AppTest]
QUICK = {"m": 25, "errupto": 50, "draws": 2}
GRID = (5, 10, 25, 50)


@pytest.mark.parametrize(("label", "norm"), [("Frobenius", "frobenius"), ("spectral", "spectral")])
def test_errors_are_the_librarys(open_page: Opener, label: str, norm: str) -> None:
    app = open_page("kernel_approximation", **QUICK, errnorm=label, seed=3)
    X = open_fold(find_datasets()["synthetic-demo"], "Fold1").train.X
    table = over_seeds(kernel_errors(X, 0.25, GRID, (3, 4)).table, norm)
    shown = {name.split(",")[0]: y for name, y in lines(figures(app)[0]).items()}
    for name, key in (("Nyström", "nystroem"), ("random Fourier", "fourier")):
        assert shown[name] == pytest.approx(table.loc[table["map"] == key, "mean"].tolist())
    slope = fitted_slope(table, "nystroem")
    assert f"m^{{{slope.exponent:.1f}}}$ from m = 5 to 50" in words(app)
    assert "1,000 of the 4,357 training documents, drawn at random" in words(app)
    assert "seeds 3 to 4" in words(app)
    assert len(figures(app)) == 4


def test_the_linear_model_still_shows_kernels(open_page: Opener) -> None:
    app = open_page("kernel_approximation", map="linear", errupto=50, draws=1)
    assert "has no kernel" in words(app)
    assert len(figures(app)) == 4


def test_choices_are_said_not_to_count(open_page: Opener) -> None:
    app = open_page("kernel_approximation", landmarks="k-means++", **QUICK)
    assert "with uniform landmarks" in words(app)


def test_a_rank_is_said_not_to_count(open_page: Opener) -> None:
    app = open_page("kernel_approximation", rank=7, **QUICK)
    assert "not cut to rank 7" in words(app)


@pytest.mark.parametrize(("g", "said"), [(-12, "nearly all ones"), (4, "nearly the identity")])
def test_extreme_gammas_have_words(open_page: Opener, g: int, said: str) -> None:
    text = words(open_page("kernel_approximation", g=g, **QUICK))
    assert said in text
    assert "nan" not in text.lower().split()


def test_another_query_has_its_own_residuals(open_page: Opener) -> None:
    app = open_page("kernel_approximation", **QUICK)
    before = figures(app)[-1]
    app.selectbox(key="kq").select_index(1).run()
    assert figures(app)[-1] != before
    assert figures(app)[0] == figures(open_page("kernel_approximation", **QUICK))[0]


# --- words ------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).random((60, 3))


def told(gamma: float, m: int, grid: tuple[int, ...] = (2, 4, 8, 16, 60), seeds: int = 3) -> str:
    errors = kernel_errors(X, gamma, grid, range(seeds))
    table = over_seeds(errors.table, "frobenius")
    slopes = {name: fitted_slope(table, name, errors.n_distinct) for name in ("nystroem", "fourier")}
    return f"{reading(errors, table, slopes, 'frobenius', m)}. {kernel_words(errors, 'g')}"


def test_readings() -> None:
    assert "times smaller, in all 3 draws" in told(1.0, 16)
    assert "in this one draw" in told(1.0, 16, seeds=1)
    assert "at m = 60 Nyström's is below one part in a billion" in told(1.0, 60)
    assert "From m = 60 on all distinct documents are landmarks" in told(1.0, 16)
    assert "hardly changes from m = 2 to 8" in told(1e6, 4, grid=(2, 4, 8))
    assert "Nyström's relative Frobenius error is below one part in a billion from m = 2" in told(1e-12, 4)
    assert "too few points" in told(1.0, 4, grid=(2, 4))


def test_ranges_that_overlap_are_not_distinguishable() -> None:
    errors = kernel_errors(X, 1.0, (2, 4), (0, 1))
    table = over_seeds(errors.table, "spectral").assign(low=0.1, high=0.9)
    slopes = {"nystroem": None, "fourier": None}
    assert "not distinguishable over 2 draws" in reading(errors, table, slopes, "spectral", 4)


def test_small_numbers() -> None:
    assert [small(v) for v in (0.0, 0.0421, 7.12e-5, 1e-12)] == ["0", "0.042", "7.1 × 10⁻⁵", "1.0 × 10⁻¹²"]
