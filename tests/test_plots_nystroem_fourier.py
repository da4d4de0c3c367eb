"""Tables and figures of Nyström beside random Fourier, against slow and plain versions."""

import numpy as np
import pandas as pd
import pytest

from rankviz.analysis.kernel_error import MAPS, PAPERS, features_of
from rankviz.datasets import RankingData
from rankviz.features import EXACT, RBF
from rankviz.plots import nystroem_fourier as plots
from rankviz.plots import ranked_list

RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
K = RBF(2.0).matrix(X, X)
APPROXIMATE = {name: (Phi := features_of(name, X, X, RBF(2.0), 10, 0)) @ Phi.T for name in MAPS}
MAPS_AT_10 = {one.map: one.at(10, RBF(2.0), 0).fit(X) for one in PAPERS}


def test_matrices_stand_beside_the_exact_one() -> None:
    table = plots.matrices_data(K, APPROXIMATE)
    fig = plots.matrices_figure(table, {"fourier": "error 1 %"})
    assert list(table["map"].unique()) == ["nystroem", EXACT, "fourier"]
    for trace, expected in zip(fig.data, (APPROXIMATE["nystroem"], K, APPROXIMATE["fourier"]), strict=True):
        np.testing.assert_allclose(trace.z, expected, atol=1e-6)
        assert trace.coloraxis == "coloraxis"
    assert (fig.layout.coloraxis.cmin, fig.layout.coloraxis.cmax) == (0, 1)
    assert fig.layout.annotations[2].text.endswith("<br>error 1 %")
    apart = plots.matrices_figure(table, {}, differences=True)
    np.testing.assert_allclose(apart.data[0].z, APPROXIMATE["nystroem"] - K, atol=1e-6)
    np.testing.assert_allclose(apart.data[1].z, K, atol=1e-6)
    assert [trace.coloraxis for trace in apart.data] == ["coloraxis2", "coloraxis", "coloraxis2"]


@pytest.mark.parametrize("value", [0.0, -3.0, 1e9])
def test_matrices_of_one_document(value: float) -> None:
    table = plots.matrices_data(np.array([[value]]), {"nystroem": np.array([[value]])})
    axis = plots.matrices_figure(table, {}).layout.coloraxis
    assert axis.cmin <= value <= axis.cmax
    assert axis.cmin < axis.cmax


def test_the_plane_is_that_of_the_singular_vectors() -> None:
    Z = X * [1, 5, 20]
    centre, axes = plots.principal_plane(Z)
    _, _, right = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes.T @ right[:2].T), np.eye(2), atol=1e-10)
    np.testing.assert_allclose(centre, Z.mean(axis=0))
    assert plots.principal_plane(X[:, :1])[1].tolist() == [[1, 0]]
    assert np.isfinite(plots.principal_plane(np.zeros((1, 3)))[1]).all()


def test_waves_are_one_on_their_crests() -> None:
    centre, axes = plots.principal_plane(X)
    table = plots.plane_data(X, MAPS_AT_10, centre, axes)
    landmarks, waves = (table[table["map"] == name] for name in MAPS)
    expected = (MAPS_AT_10["nystroem"].landmarks - centre) @ axes
    np.testing.assert_allclose(landmarks[["x", "y"]], expected)
    fitted, box = MAPS_AT_10["fourier"], np.array([[-1.0, 1.0], [-0.5, 0.5]])
    for every in (False, True):
        for number in range(10):
            x, y = plots.crests(waves[number : number + 1], box, every=every)
            points = np.array([[a, b] for a, b in zip(x, y, strict=True) if a is not None])
            documents = centre + points @ axes.T
            values = np.cos(documents @ fitted.frequencies[:, number] + fitted.phases[number])
            np.testing.assert_allclose(values, 1, atol=1e-9)
            assert len(points) == 2 or every
    fig = plots.plane_figure(table)
    assert [trace.mode for trace in fig.data] == ["markers", "lines"]
    drawn = [(shape.xref, shape.path.count("M")) for shape in fig.layout.shapes]
    assert drawn == [("x", len(X)), ("x2", len(X)), ("x2", 10 - plots.WHOLE)]
    assert [note.text for note in fig.layout.annotations] == ["10 landmarks", "10 waves"]


def test_all_crests_through_a_box_are_drawn() -> None:
    wave = pd.DataFrame({"x": [2 * np.pi], "y": [0.0], "phase": [0.0]})
    x, _ = plots.crests(wave, np.array([[-2.2, 2.2], [-1.0, 1.0]]), every=True)
    found = {round(at, 9) for at in x if at is not None}
    assert {-2, -1, 0, 1, 2} <= found


def test_earlier_draws_are_thin_and_m_is_ringed() -> None:
    rows = [(name, seed, m, 0.5 / m) for name in MAPS for seed in (0, 1) for m in (5, 10)]
    errors = pd.DataFrame(rows, columns=["map", "seed", "m", "frobenius"])
    metrics = pd.DataFrame(
        [("NDCG@10", EXACT, 0, 0, 0.7), ("NDCG@10", "nystroem", 1, 10, 0.6)],
        columns=["metric", "method", "seed", "m", "value"],
    )
    table = plots.draws_data(errors, metrics)
    assert len(table) == 10
    fig = plots.draws_figure(table, "NDCG@10", 10, 1, (5, 10))
    curves = [trace for trace in fig.data if trace.mode != "markers"]
    assert [trace.opacity for trace in curves] == [0.35, 1, 0.35, 1, None, 1]
    lines, rings = ([s for s in fig.layout.shapes if s.type == kind] for kind in ("line", "path"))
    assert [(shape.xanchor, shape.yanchor) for shape in rings] == [(10, 0.05), (10, 0.05), (10, 0.6)]
    assert fig.layout.yaxis2.side == "right", "between the panels its name would cover the curves of a phone"
    assert [shape.x0 for shape in lines] == [10, 10]
    left, right = fig.layout.yaxis, fig.layout.yaxis2
    assert (left.type, right.type, right.title.text) == ("log", None, "mean NDCG@10")
    assert left.range[0] <= np.log10(0.05) < np.log10(0.1) <= left.range[1]
    assert right.range[0] <= 0.6 < 0.7 <= right.range[1]


def test_disagreements_are_those_of_a_double_loop() -> None:
    grades = RNG.integers(0, 3, 30)
    exact, *others = (RNG.integers(0, 12, 30) / 4 for _ in range(3))  # with ties
    scores = dict(zip(MAPS, others, strict=True))
    found, n = plots.disagreements(scores, exact, grades)

    def before(f: np.ndarray, i: int, j: int) -> bool:
        return bool(f[i] > f[j] or (f[i] == f[j] and i < j))

    expected, pairs = set(), 0
    for i in range(30):
        for j in range(30):
            if grades[i] > grades[j]:
                pairs += 1
                for name, own in scores.items():
                    if before(own, i, j) != before(exact, i, j):
                        expected.add((name, i, j, before(exact, i, j)))
    assert n == pairs
    assert set(found.itertuples(index=False, name=None)) == expected
    assert len(found) == len(expected)
    none, n = plots.disagreements(scores, exact, np.ones(30, np.int64))
    assert (len(none), n) == (0, 0)


def test_arcs_join_the_ranks_of_a_pair() -> None:
    data = RankingData.from_arrays(np.zeros((4, 1)), [1, 0, 0, 1], [7] * 4)
    scores = {"nystroem": [1, 2, 0, 3], EXACT: [3, 1, 0, 2], "fourier": [3, 1, 2, 0]}
    found = {name: np.array(own, float) for name, own in scores.items()}
    table = ranked_list.rankings_data(list(found.items()), data, 0)
    pairs, _ = plots.disagreements({name: found[name] for name in MAPS}, found[EXACT], data.y)
    fig = plots.rankings_figure(table, pairs, {"nystroem": 0, EXACT: 1, "fourier": 2}, 4)
    lost = next(trace for trace in fig.data if trace.name == "pair that only the exact kernel has in order")
    assert not any(trace.name == "pair won by it" and trace.showlegend for trace in fig.data)
    y = np.array(lost.y, float)
    pieces = (piece[~np.isnan(piece)] for piece in np.split(y, np.flatnonzero(np.isnan(y))))
    arcs = sorted((round(piece[0]), round(piece[-1])) for piece in pieces if len(piece))
    assert arcs == [(2, 3), (2, 4), (3, 4)]  # Nyström: 2 before 1; Fourier: both before the last
    assert list(fig.layout.xaxis.ticktext) == ["nystroem", EXACT, "fourier"]
