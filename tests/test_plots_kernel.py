"""Tables and figures of the kernel plots."""

import numpy as np
import pytest

from rankviz.analysis.kernel_error import (
    MAPS,
    PAPERS,
    VARIANTS,
    Slope,
    features_of,
    fitted_slope,
    kernel_errors,
)
from rankviz.common.numbers import small
from rankviz.features import RBF, rbf_kernel
from rankviz.plots import kernel_error, kernel_matrices

X = np.random.default_rng(0).random((40, 3))
K = rbf_kernel(X, X, 2.0)
FEATURES = {name: features_of(name, X, X, RBF(2.0), 10, 0) for name in MAPS}
ERRORS = kernel_errors(X, RBF(2.0), (2, 5, 10, 40), (0, 1, 2), variants=VARIANTS)


@pytest.mark.parametrize("norm", kernel_error.NORM_NAMES)
def test_error_curves(norm: str) -> None:
    table = kernel_error.error_data(ERRORS, norm)
    assert list(table.columns) == ["map", "choice", "m", "used", "mean", "low", "high"]
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    slopes = {v: fitted_slope(table, v.map, ERRORS.n_distinct, v.choice) for v in VARIANTS}
    fig = kernel_error.error_figure(table, slopes, norm, 10, VARIANTS[2])
    named = {trace.name: trace for trace in fig.data if trace.name}
    assert len(named) == 6
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"
    assert fig.layout.yaxis.range[0] == -10  # Nyström with all documents is exact: below the axis
    for variant in VARIANTS:
        trace = next(
            t for key, t in named.items() if key.startswith(f"{kernel_error.variant_name(variant)}:")
        )
        assert f"{slopes[variant].exponent:.2f}".replace("-", "−") in trace.name
        assert f"(m 2–{slopes[variant].last})" in trace.name
        rows = kernel_error.rows_of(table, variant)
        assert list(trace.y) == rows["mean"].tolist()
        if variant == VARIANTS[2]:
            assert named["the current model"].y == (rows.set_index("m").loc[10, "mean"],)


def test_an_exact_model_is_not_ringed() -> None:
    """Its error is rounding, below the axis."""
    fig = kernel_error.error_figure(
        kernel_error.error_data(ERRORS, "spectral"), {}, "spectral", 40, PAPERS[0]
    )
    assert "the current model" not in [trace.name for trace in fig.data]


def test_errors_meet_their_seconds() -> None:
    summary = kernel_error.error_data(ERRORS, "frobenius")
    seconds = summary[["map", "choice", "m"]].assign(seconds=np.geomspace(0.002, 0.5, len(summary)))
    table = kernel_error.seconds_data(summary, seconds.iloc[:-1])
    assert len(table) == len(summary) - 1
    fig = kernel_error.seconds_figure(table, "frobenius", 10, PAPERS[1])
    assert [trace.name for trace in fig.data][:2] == ["Nyström", "random Fourier"]
    assert list(fig.data[0].x) == table[table["choice"] == "uniform"]["seconds"].tolist()
    assert fig.data[0].text == ("", "", "", "m = 40")
    assert fig.layout.xaxis.range == (-3, 0)
    assert fig.layout.yaxis.title.text == kernel_error.error_axis(table, "frobenius")["title"]
    (ring,) = (trace for trace in fig.data if trace.name == "the current model")
    assert ring.y[0] == table[(table["choice"] == "gaussian") & (table["m"] == 10)]["mean"].item()


def test_the_guide_falls_as_one_over_the_root_of_m() -> None:
    fig = kernel_error.error_figure(kernel_error.error_data(ERRORS, "spectral"), {}, "spectral", 10)
    guide = next(trace for trace in fig.data if trace.name and trace.name.startswith("guide"))
    assert guide.y[0] / guide.y[1] == pytest.approx(np.sqrt(40 / 2))


def test_a_level_error_has_no_power_in_the_legend() -> None:
    table = kernel_error.error_data(ERRORS, "spectral")
    fig = kernel_error.error_figure(table, {PAPERS[0]: Slope(-0.01, 0.0, 2, 10)}, "spectral", 10)
    assert "Nyström: level (m 2–10)" in [trace.name for trace in fig.data]


def test_entries_are_counted_for_both_kernels() -> None:
    upper = np.triu_indices(40, 1)
    table = kernel_matrices.entries_data(K, FEATURES, bins=50)
    apart = kernel_matrices.deviations(K, FEATURES).set_index("map")
    side = np.diff(np.unique(table["exact"].round(12))).min()
    for name, rows in table.groupby("map"):
        approximate = (FEATURES[name] @ FEATURES[name].T)[upper]
        assert rows["pairs"].sum() == 40 * 39 // 2
        for one in rows.to_dict("records"):
            inside = (abs(K[upper] - one["exact"]) < side / 2) & (
                abs(approximate - one["approximate"]) < side / 2
            )
            assert inside.sum() == one["pairs"]
        difference = approximate - K[upper]
        assert apart.loc[name, "rms"] == pytest.approx(np.sqrt((difference**2).mean()))
        assert apart.loc[name, "largest"] == pytest.approx(abs(difference).max())


def test_densities_share_axes_and_the_line_of_equals() -> None:
    table = kernel_matrices.entries_data(K, FEATURES)
    fig = kernel_matrices.entries_figure(table)
    assert fig.layout.xaxis.range == fig.layout.xaxis2.range == fig.layout.yaxis.range
    lines = [trace for trace in fig.data if trace.type == "scatter"]
    assert len(lines) == 2
    assert all(trace.x == trace.y for trace in lines)
    for trace, name in zip((t for t in fig.data if t.type == "heatmap"), MAPS, strict=True):
        rows = table[table["map"] == name]
        assert np.nansum(trace.customdata) == rows["pairs"].sum()
        np.testing.assert_allclose(10 ** trace.z[~np.isnan(trace.z)], trace.customdata[~np.isnan(trace.z)])
        most = rows.loc[rows["pairs"].idxmax()]
        j, i = np.unravel_index(np.nanargmax(trace.z), trace.z.shape)
        assert (trace.x[i], trace.y[j]) == pytest.approx((most["exact"], most["approximate"]))


@pytest.mark.parametrize("gamma", [2.0**-30, 2.0**30])
def test_densities_of_kernels_at_the_ends(gamma: float) -> None:
    exact = rbf_kernel(X, X, gamma)
    table = kernel_matrices.entries_data(
        exact, {name: features_of(name, X, X, RBF(gamma), 5, 0) for name in MAPS}
    )
    assert (table.groupby("map")["pairs"].sum() == 40 * 39 // 2).all()
    fig = kernel_matrices.entries_figure(table)
    assert np.isfinite(fig.layout.xaxis.range).all()


def test_spectra_largest_first_and_the_marked_one() -> None:
    table = kernel_matrices.spectrum_data(K, FEATURES)
    values = np.linalg.eigvalsh(K)[::-1]
    exact = table.loc[table["map"] == "exact", "eigenvalue"].to_numpy()
    np.testing.assert_allclose(exact, values[: len(exact)])
    assert (table[table["map"] != "exact"].groupby("map")["i"].max() == 10).all()
    assert kernel_matrices.mth_eigenvalue(table, 10) == pytest.approx(values[9])
    assert kernel_matrices.mth_eigenvalue(table, 41) is None
    np.testing.assert_allclose(table["share"], table["eigenvalue"] / 40)
    fig = kernel_matrices.spectrum_figure(table, 10, 1e-3)
    assert [trace.name for trace in fig.data][-1] == "eigenvalue 10 of K"
    assert fig.data[-1].y[0] == pytest.approx(values[9] / 40)
    assert [shape.y0 for shape in fig.layout.shapes] == [1e-3]
    assert not kernel_matrices.spectrum_figure(table, 10, 1e3).layout.shapes  # beyond the axis
    assert len(kernel_matrices.spectrum_figure(table, 500).data) == 3


def test_residuals_on_one_symmetric_scale() -> None:
    grades = np.arange(40) % 3
    table = kernel_matrices.residual_data(K, FEATURES, grades)
    fig = kernel_matrices.residual_figure(table)
    for trace, name in zip(fig.data, MAPS, strict=True):
        expected = FEATURES[name] @ FEATURES[name].T - K
        np.testing.assert_allclose(trace.z, expected, atol=1e-12)
        np.testing.assert_array_equal(trace.customdata[:, 0, 0], grades)
        np.testing.assert_array_equal(trace.customdata[0, :, 1], grades)
    largest = table["residual"].abs().max()
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (-largest, largest)
    assert any(small(largest) in title.text for title in fig.layout.annotations)
    apart = kernel_matrices.residual_rms(table)
    for name in MAPS:
        difference, itself = FEATURES[name] @ FEATURES[name].T - K, np.eye(40, dtype=bool)
        between = np.sqrt((difference[~itself] ** 2).mean())
        assert apart.loc[name, "between"] == pytest.approx(between)
        assert apart.loc[name, "itself"] == pytest.approx(np.sqrt((difference[itself] ** 2).mean()))


def test_one_document() -> None:
    one, features = np.ones((1, 1)), {name: features_of(name, X[:1], X[:1], RBF(1.0), 5, 0) for name in MAPS}
    assert kernel_matrices.entries_data(one, features).empty
    kernel_matrices.spectrum_figure(kernel_matrices.spectrum_data(one, features), 5)
    alone = kernel_matrices.residual_data(one, features, np.array([1]))
    kernel_matrices.residual_figure(alone)
    assert kernel_matrices.residual_rms(alone)["between"].isna().all()
