"""Tables and figures of the kernel plots."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.features import rbf_kernel
from rankviz.kernel_error import MAPS, Slope, features_of, fitted_slope, kernel_errors
from rankviz.plots import kernel_entries, kernel_error, kernel_residual, kernel_spectrum
from rankviz.plots.style import small

X = np.random.default_rng(0).random((40, 3))
K = rbf_kernel(X, X, 2.0)
FEATURES = {name: features_of(name, X, X, 2.0, 10, 0) for name in MAPS}
ERRORS = kernel_errors(X, 2.0, (2, 5, 10, 40), (0, 1, 2))


@pytest.mark.parametrize("norm", kernel_error.NORM_NAMES)
def test_error_curves(norm: str) -> None:
    table = kernel_error.data(ERRORS, norm)
    assert list(table.columns) == ["map", "choice", "m", "used", "mean", "low", "high"]
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    slopes = {name: fitted_slope(table, name, ERRORS.n_distinct) for name in MAPS}
    fig = kernel_error.figure(table, slopes, norm, 10)
    named = {trace.name: trace for trace in fig.data if trace.name}
    assert len(named) == 3
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"
    assert fig.layout.yaxis.range[0] == -10  # Nyström with all documents is exact: below the axis
    for label, name in (("Nyström", "nystroem"), ("random Fourier", "fourier")):
        trace = next(trace for key, trace in named.items() if key.startswith(label))
        assert f"{slopes[name].exponent:.1f}".replace("-", "−") in trace.name
        assert list(trace.y) == table.loc[table["map"] == name, "mean"].tolist()


def test_the_guide_falls_as_one_over_the_root_of_m() -> None:
    fig = kernel_error.figure(kernel_error.data(ERRORS, "spectral"), {}, "spectral", 10)
    guide = next(trace for trace in fig.data if trace.name and trace.name.startswith("guide"))
    assert guide.y[0] / guide.y[1] == pytest.approx(np.sqrt(40 / 2))


def test_a_level_error_has_no_power_in_the_legend() -> None:
    table = kernel_error.data(ERRORS, "spectral")
    fig = kernel_error.figure(table, {"nystroem": Slope(-0.01, 0.0, 2, 10)}, "spectral", 10)
    assert "Nyström" in [trace.name for trace in fig.data]


def test_entries_are_those_of_both_kernels() -> None:
    table = kernel_entries.data(K, FEATURES)
    assert len(table) == 2 * 40 * 39 // 2
    for row in table.sample(20, random_state=0).to_dict("records"):
        i, j, Phi = row["i"], row["j"], FEATURES[row["map"]]
        assert i < j
        assert (row["exact"], row["approximate"]) == pytest.approx((K[i, j], Phi[i] @ Phi[j]))
    fig = kernel_entries.figure(table)
    diagonals = [trace for trace in fig.data if trace.mode == "lines"]
    assert len(diagonals) == 2
    assert all(trace.x == trace.y for trace in diagonals)
    assert diagonals[0].x[0] <= table["exact"].min() <= table["exact"].max() <= diagonals[0].x[1]


def test_entries_are_thinned_to_the_same_pairs_for_both_maps() -> None:
    table = kernel_entries.data(K, FEATURES, pairs=50)
    drawn = [set(zip(rows["i"], rows["j"], strict=True)) for _, rows in table.groupby("map")]
    assert len(drawn[0]) == 50
    assert drawn[0] == drawn[1]


def test_spectra_largest_first_and_the_marked_one() -> None:
    table = kernel_spectrum.data(K, FEATURES)
    values = np.linalg.eigvalsh(K)[::-1]
    exact = table.loc[table["map"] == "exact", "eigenvalue"].to_numpy()
    np.testing.assert_allclose(exact, values[: len(exact)])
    assert (table[table["map"] != "exact"].groupby("map")["i"].max() == 10).all()
    assert kernel_spectrum.mth_eigenvalue(table, 10) == pytest.approx(values[9])
    assert kernel_spectrum.mth_eigenvalue(table, 41) is None
    assert [trace.name for trace in kernel_spectrum.figure(table, 10).data][-1] == "eigenvalue 10 of K"
    assert len(kernel_spectrum.figure(table, 500).data) == 3


def test_residuals_on_one_symmetric_scale() -> None:
    grades = np.arange(40) % 3
    table = kernel_residual.data(K, FEATURES, grades)
    fig = kernel_residual.figure(table)
    for trace, name in zip(fig.data, MAPS, strict=True):
        expected = K - FEATURES[name] @ FEATURES[name].T
        np.testing.assert_allclose(trace.z, expected, atol=1e-12)
        np.testing.assert_array_equal(trace.customdata[:, 0, 0], grades)
        np.testing.assert_array_equal(trace.customdata[0, :, 1], grades)
    largest = table["residual"].abs().max()
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (-largest, largest)
    assert any(small(largest) in title.text for title in fig.layout.annotations)


def test_one_document() -> None:
    one, features = np.ones((1, 1)), {name: features_of(name, X[:1], X[:1], 1.0, 5, 0) for name in MAPS}
    assert kernel_entries.data(one, features).empty
    kernel_spectrum.figure(kernel_spectrum.data(one, features), 5)
    kernel_residual.figure(kernel_residual.data(one, features, np.array([1])))
