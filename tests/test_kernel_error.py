"""Kernel errors: norms against dense algebra, nested errors against separate fits, slopes, honest samples."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from rankviz.analysis.kernel_error import (
    MAPS,
    NORMS,
    VARIANTS,
    ComparedKernel,
    Variant,
    compared_documents,
    errors_of,
    feature_seconds,
    features_of,
    fitted_slope,
    kernel_errors,
    lower_error,
    matrix_norms,
    over_seeds,
    spectral_norm,
    summary_at,
)
from rankviz.common.progress import Progress, StopRequested
from rankviz.features import FEATURE_MAPS, RBF, MapSettings
from rankviz.features.nystroem import UniformLandmarks

RNG = np.random.default_rng(3)
X = RNG.random((150, 4))
GRID = (1, 3, 20, 70)


def kernel(Z: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * cdist(Z, Z, "sqeuclidean"))


def slow_errors(row: dict[str, object], X: np.ndarray, Z: np.ndarray, gamma: float) -> list[float]:
    """By the definitions, with a map of its own for this m and dense norms."""
    choice = FEATURE_MAPS[row["map"]].draws_by
    settings = MapSettings(row["m"], RBF(gamma), seed=row["seed"], **{choice.name: row["choice"]})
    K, Phi = kernel(Z, gamma), FEATURE_MAPS[row["map"]].make(settings).fit(X).operator(Z).dense()
    R = K - Phi @ Phi.T
    return [
        np.sqrt((R**2).sum() / (K**2).sum()),
        np.linalg.norm(R, 2) / np.linalg.norm(K, 2),
        abs(R).max() / abs(K).max(),
    ]


@pytest.mark.parametrize("gamma", [2.0**-12, 0.5, 16.0])
@pytest.mark.parametrize("rows", [None, np.arange(0, 150, 3)], ids=["all", "sample"])
def test_errors_are_those_of_separate_fits(gamma: float, rows: np.ndarray | None) -> None:
    found = kernel_errors(X, RBF(gamma), GRID, (0, 5), rows, variants=VARIANTS)
    told = found.table[["map", "choice"]].drop_duplicates().itertuples(index=False, name=None)
    assert [Variant(*one) for one in told] == list(VARIANTS)
    assert len(found.table) == len(VARIANTS) * len(GRID) * 2
    Z = X if rows is None else X[rows]
    assert (found.n_documents, found.n_distinct, found.n_compared) == (150, 150, len(Z))
    for row in found.table.to_dict("records"):
        expected = slow_errors(row, X, Z, gamma)
        np.testing.assert_allclose([row[norm] for norm in NORMS], expected, rtol=1e-4, atol=1e-8)


def test_dimensions_used_are_those_of_separate_fits() -> None:
    """Documents on a line have a kernel of low numerical rank: landmarks are skipped."""
    line = RNG.random((120, 1)) @ np.ones((1, 3))
    found = kernel_errors(line, RBF(0.1), (1, 5, 20, 90), (0, 1)).table
    for row in found.to_dict("records"):
        fitted = FEATURE_MAPS[row["map"]].make(MapSettings(row["m"], RBF(0.1), None, row["seed"])).fit(line)
        assert row["used"] == fitted.n_components
    assert (found.loc[found["map"] == "nystroem", "used"] < 20).all()


def test_the_maps_are_the_papers_unless_others_are_asked_for() -> None:
    table = kernel_errors(X, RBF(1.0), (5,), (0,)).table
    assert table[["map", "choice"]].to_numpy().tolist() == [["nystroem", "uniform"], ["fourier", "gaussian"]]
    assert list(table["map"]) == list(MAPS)
    for name, choice in (("nystroem", "kmeans++"), ("fourier", "orthogonal")):
        settings = MapSettings(7, RBF(1.0), seed=2, landmarks="kmeans++", frequencies="orthogonal")
        expected = FEATURE_MAPS[name].make(settings).fit(X).operator(X[:9]).dense()
        np.testing.assert_array_equal(features_of(name, X, X[:9], RBF(1.0), 7, 2, choice), expected)


def test_seconds_are_told_for_every_map_and_m() -> None:
    told: list[Progress] = []
    table = feature_seconds(X, RBF(1.0), (20, 3), VARIANTS, report=told.append)
    assert table.columns.tolist() == ["map", "choice", "m", "seconds", "slowest"]
    assert len(table) == 8
    assert table["m"].tolist() == [3, 20] * 4
    assert (table["seconds"] > 0).all()
    assert [p.fraction for p in told] == sorted(p.fraction for p in told)
    assert told[-1].fraction == 1.0
    merged = over_seeds(
        kernel_errors(X, RBF(1.0), (3, 20), (0,), variants=VARIANTS).table, "frobenius"
    ).merge(table)
    assert len(merged) == 8

    def stop(progress: Progress) -> None:
        raise StopRequested

    with pytest.raises(StopRequested):
        feature_seconds(X, RBF(1.0), (3,), report=stop)


def test_every_m_is_timed_several_times_in_turn_and_the_least_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Timing in turns spreads a slow phase of the machine over every m."""
    order: list[int] = []

    def make(settings: object, X: object, m: int, report: object) -> None:
        order.append(m)

    class SlowTurn:
        """A clock by which the second turn is quicker than all others."""

        def __init__(self) -> None:
            self.laps: dict[str, float] = {}

        def lap(self, name: str) -> None:
            self.laps[name] = 0.01 if 3 < len(order) <= 6 else 1.0

    monkeypatch.setattr("rankviz.analysis.kernel_error._make_features", make)
    monkeypatch.setattr("rankviz.analysis.kernel_error.Stopwatch", SlowTurn)
    table = feature_seconds(X, RBF(1.0), (20, 3, 5), VARIANTS[:1])
    assert order == [3, 5, 20] * 3
    assert table["seconds"].tolist() == [0.01] * 3
    assert table["slowest"].tolist() == [1.0] * 3


def test_all_documents_as_landmarks_are_exact() -> None:
    table = kernel_errors(X, RBF(1.0), (10, 150, 400), (0,)).table.set_index(["map", "m"])
    assert (table.loc["nystroem"].loc[[150, 400], list(NORMS)] < 1e-9).all(axis=None)
    assert table.loc[("nystroem", 400), "used"] == 150
    assert (table.loc["nystroem"].loc[10, list(NORMS)] > 1e-3).all()
    assert table.loc[("fourier", 400), "used"] == 400


@pytest.mark.parametrize("gamma", [2.0**-30, 2.0**30])
def test_kernels_at_the_ends(gamma: float) -> None:
    found = kernel_errors(X, RBF(gamma), (5, 50), (0, 1))
    assert np.isfinite(found.table[list(NORMS)]).all(axis=None)
    assert found.mean_kernel == pytest.approx(float(gamma < 1), abs=1e-6)
    table = over_seeds(found.table, "frobenius").set_index(["map", "m"])["mean"]
    # nearly all ones: one landmark is exact; nearly the identity: 50 of 150 leave 100 rows out
    assert table["nystroem", 50] == pytest.approx(0.0 if gamma < 1 else np.sqrt(100 / 150), abs=1e-6)


def test_one_document_and_documents_all_alike() -> None:
    one = kernel_errors(np.ones((1, 2)), RBF(1.0), (1, 10), (0,))
    assert np.isnan(one.mean_kernel)
    alike = kernel_errors(np.zeros((40, 2)), RBF(1.0), (1, 10), (0,))
    assert alike.n_distinct == 1
    for found in (one, alike):
        table = found.table.set_index("map")
        assert (table.loc["nystroem", list(NORMS)] < 1e-9).all(axis=None)
        assert np.isfinite(table.loc["fourier", list(NORMS)]).all(axis=None)


def test_progress_grows_to_one_and_can_stop() -> None:
    told: list[Progress] = []
    kernel_errors(X, RBF(1.0), GRID, (0, 1), report=told.append)
    fractions = [p.fraction for p in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)

    def stop(progress: Progress) -> None:
        raise StopRequested

    with pytest.raises(StopRequested):
        kernel_errors(X, RBF(1.0), GRID, (0,), report=stop)


def test_one_draw_serves_every_gamma_and_some_norms() -> None:
    """Kept by the page: draws for all γ, K for all draws."""
    for variant in VARIANTS:
        drawn = variant.draw(X, 70, RBF(1.0), 5)
        for gamma in (0.5, 16.0):
            whole = kernel_errors(X, RBF(gamma), GRID, (5,), variants=(variant,)).table
            part = errors_of(drawn, ComparedKernel.of(X, RBF(gamma)), GRID, norms=("maximum",))
            assert part.columns.tolist() == ["m", "used", "maximum"]
            np.testing.assert_allclose(part["maximum"], whole["maximum"], rtol=1e-9)


# --- the documents compared -------------------------------------------------------------------------------


def test_all_documents_up_to_a_limit_then_a_sample() -> None:
    np.testing.assert_array_equal(compared_documents(2000), np.arange(2000))
    rows = compared_documents(2001)
    assert len(np.unique(rows)) == 1000
    assert rows.tolist() == sorted(rows)
    assert rows.tolist() == compared_documents(2001).tolist() != compared_documents(2001, seed=1).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_landmarks_are_in_the_sample_as_often_as_other_documents(seed: int) -> None:
    """With the landmarks' own stream of random numbers the sample would be the landmarks themselves."""
    documents = np.arange(6000.0)[:, None]
    landmarks, sample = UniformLandmarks().choose(documents, 600, seed), compared_documents(6000, seed)
    share = len(np.intersect1d(landmarks, sample)) / len(sample)
    assert share == pytest.approx(0.1, abs=4 * np.sqrt(0.1 * 0.9 / 1000))


# --- pieces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 32, 33, 120])
def test_norms_are_the_dense_ones(n: int) -> None:
    A = RNG.normal(size=(n, n))
    A = A + A.T
    assert matrix_norms(A) == pytest.approx(
        {"frobenius": np.linalg.norm(A), "spectral": np.linalg.norm(A, 2), "maximum": abs(A).max()}, rel=1e-4
    )
    assert spectral_norm(np.zeros((n, n))) == 0.0


def test_a_slope_is_the_power_that_made_the_points() -> None:
    found = kernel_errors(X, RBF(1.0), (2, 4, 8, 16), (0,))
    table = found.table.assign(frobenius=3.0 * found.table["m"] ** -0.7)
    slope = fitted_slope(over_seeds(table, "frobenius"), "nystroem")
    assert slope is not None
    assert slope.exponent == pytest.approx(-0.7)
    assert slope.at(10) == pytest.approx(3 * 10**-0.7)
    both = kernel_errors(X, RBF(1.0), (2, 4, 8, 16), (0,), variants=VARIANTS).table
    powers = both["choice"].map({"uniform": -0.5, "kmeans++": -1.0}).fillna(0.0)
    summary = over_seeds(both.assign(frobenius=both["m"] ** powers), "frobenius")
    slopes = [fitted_slope(summary, "nystroem", choice=choice) for choice in ("uniform", "kmeans++")]
    assert [slope.exponent for slope in slopes if slope] == pytest.approx([-0.5, -1.0])


def test_slopes_leave_out_rounding_and_exact_maps() -> None:
    summary = over_seeds(kernel_errors(X, RBF(1.0), (4, 8, 16, 32, 150, 200), (0,)).table, "frobenius")
    slope = fitted_slope(summary, "nystroem", below=32)
    assert slope is not None
    assert (slope.first, slope.last) == (4, 16)
    assert fitted_slope(summary, "nystroem").last == 32  # 150 and 200 are rounding
    assert fitted_slope(summary, "nystroem", below=16) is None
    assert fitted_slope(summary.assign(mean=0.0), "nystroem") is None


def test_a_summary_has_mean_least_and_greatest() -> None:
    found = kernel_errors(X, RBF(1.0), (4, 8), (0, 1, 2))
    rows = found.table[(found.table["map"] == "fourier") & (found.table["m"] == 8)]["spectral"]
    summary = over_seeds(found.table, "spectral").set_index(["map", "m"]).loc[("fourier", 8)]
    assert summary[["mean", "low", "high"]].tolist() == pytest.approx([rows.mean(), rows.min(), rows.max()])


def test_lower_only_where_ranges_are_apart() -> None:
    first, second = VARIANTS[:2]
    table = pd.DataFrame(
        {"m": 8, "low": [1.0, 2.5], "mean": [2.0, 3.0], "high": [2.4, 4.0], "used": 8}
        | {name: [getattr(first, name), getattr(second, name)] for name in ("map", "choice")}
    )
    assert summary_at(table, second, 8)["mean"] == 3.0
    assert lower_error(table, first, second, 8) == lower_error(table, second, first, 8) == first
    assert lower_error(table.assign(high=2.5), first, second, 8) is None
