"""Nyström and Fourier: the page shows the library's errors and has words for rank, linear, extreme γ."""

import base64
import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import strangers
import streamlit as st
from conftest_pages import Opener, execute, figures, held_ahead, named_figures, words
from streamlit.testing.v1 import AppTest
from test_home_train import decoded, lines

from rankviz import RunSpec
from rankviz.analysis.kernel_error import (
    PAPERS,
    VARIANTS,
    Variant,
    compared_documents,
    features_of,
    fitted_slope,
    kernel_errors,
    over_seeds,
)
from rankviz.analysis.kernel_spectrum import kernel_spectrum
from rankviz.datasets import find_datasets, open_fold
from rankviz.features import FEATURE_MAPS, KERNELS, RBF
from rankviz.models.methods import METHODS
from rankviz.plots import kernel_error, nystroem_fourier
from rankviz.plots.kernel_error import choice_name
from rankviz.plots.nystroem_fourier import principal_plane
from rankviz.plots.style import evenly
from ui.study import kernel_approximation_computations as computations
from ui.study.kernel_approximation_words import (
    NO_MODELS,
    SEEDS,
    dimension_words,
    error_words,
    kernel_words,
    reading,
    seconds_words,
)

QUICK = {"m": 25, "errupto": 50, "draws": 2}
GRID = (5, 10, 25, 50)
ROWS = ["kernel-matrices", "kernel-plane", "kernel-draws", "kernel-rankings"]


@pytest.fixture
def quick(data_set: Callable[[str], None]) -> dict[str, Any]:
    """The link to a small data set, with few draws."""
    data_set("small")
    return {"data": "edge"} | QUICK


def drawn_in(app: AppTest) -> set[str]:
    return {trace.get("name", "") for trace in named_figures(app)["kernel-draws"]["data"]}


@pytest.mark.parametrize(("label", "norm"), [("Frobenius", "frobenius"), ("spectral", "spectral")])
def test_errors_are_the_librarys(open_page: Opener, label: str, norm: str) -> None:
    app = open_page("kernel_approximation", **QUICK, errnorm=label, seed=3)
    X = open_fold(find_datasets()["synthetic-demo"], "Fold1").train.X
    table = over_seeds(kernel_errors(X, RBF(0.25), GRID, (3, 4)).table, norm)
    shown = {name.split(":")[0]: y for name, y in lines(named_figures(app)["kernel-error"]).items()}
    for name, key in (("Nyström", "nystroem"), ("random Fourier", "fourier")):
        assert shown[name] == pytest.approx(table.loc[table["map"] == key, "mean"].tolist())
    slope = fitted_slope(table, "nystroem")
    assert f"m^{{{slope.exponent:.2f}}}$ from m = 5 to 50" in words(app)
    assert "1,000 of 4,357 training documents, drawn at random" in words(app)
    assert "Seeds 3 to 4" in words(app)
    assert "2 draws each: too few to compare, 4 needed" in words(app)
    assert list(named_figures(app)) == [*ROWS, "kernel-error"]


@pytest.mark.parametrize(
    ("model", "said"), [("linear", "has no kernel"), ("exact kernel", "uses the exact kernel")]
)
def test_other_models_still_show_kernels(
    open_page: Opener, quick: dict[str, Any], model: str, said: str
) -> None:
    app = open_page("kernel_approximation", map=model, **quick)
    assert said in words(app)
    assert [
        name for name in lines(named_figures(app)["kernel-error"]) if name.startswith(("Nyström", "random"))
    ]
    assert "the current model" not in lines(named_figures(app)["kernel-error"])


def test_the_sidebars_model_is_marked_without_its_rank(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", landmarks="k-means++", rank=7, **quick)
    shown = {name.split(":")[0]: y for name, y in lines(named_figures(app)["kernel-error"]).items()}
    assert shown["the current model"] == [shown["Nyström, k-means++ landmarks"][2]]
    assert "orthogonal frequencies" not in str(list(shown))
    assert "k-means++ landmarks, seed 0" in words(app)
    assert "without the cut to rank 7" in words(app)


def test_variants_are_drawn_when_asked_for(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", **quick | {"draws": 4})
    before = named_figures(app)
    app.button_group(key="also").set_value([choice_name(variant) for variant in VARIANTS[2:]]).run()
    assert not app.exception
    names = [name.split(":")[0] for name in lines(named_figures(app)["kernel-error"])]
    assert names[:2] == ["Nyström", "random Fourier"]
    assert {"Nyström, k-means++ landmarks", "random Fourier, orthogonal frequencies"} <= set(names)
    assert "K-means++ landmarks at m = 25:" in words(app)
    assert [named_figures(app)[key] for key in ROWS] == [before[key] for key in ROWS]


def test_draws_that_take_long_follow(
    open_page: Opener, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is run again until all are there; what it shows in the end is the same."""
    at_once = figures(open_page("kernel_approximation", **quick | {"draws": 3}))
    computations._kept_errors.clear()
    monkeypatch.setattr(computations, "SECONDS_AT_ONCE", 0.0)
    app = open_page("kernel_approximation", **quick | {"draws": 3})
    assert f"{SEEDS.format(first=0, last=2)}. K on" in words(app)
    assert figures(app) == at_once


def test_the_effective_dimension_moves_with_C(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", view="Spectrum", c=-4, g=-2, **quick)
    first = words(app)
    X = open_fold(find_datasets()["edge"], "Fold1").train.X
    low, high = kernel_spectrum(X, RBF(0.25)).effective_dimension(2.0**-4)
    assert dimension_words((low, high), "2⁻⁴", 25, len(X))[0] in first
    assert "eigenvalue 25 of K" in lines(named_figures(app)["kernel-spectrum"])
    changed = open_page("kernel_approximation", view="Spectrum", c=2, g=-2, **quick)
    assert dimension_words((low, high), "2⁻⁴", 25, len(X))[0] not in words(changed)
    assert "At C = 2² the effective dimension" in words(changed)
    assert lines(named_figures(changed)["kernel-spectrum"]) == lines(named_figures(app)["kernel-spectrum"])


def test_seconds_are_this_machines(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", view="Error against seconds", **quick)
    assert {"Nyström", "random Fourier", "the current model"} == set(
        lines(named_figures(app)["kernel-seconds"])
    )
    assert "on this machine" in app.header[1].value


def test_numbers_have_every_map_and_slope(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", view="Numbers", **quick)
    errors, slopes = (frame.value for frame in app.dataframe)
    assert list(errors.columns) == ["landmarks kept", "Nyström", "random Fourier"]
    assert list(errors.index) == list(GRID)
    assert slopes["fitted over m"].tolist() == ["5 to 50"] * 2


def test_another_query_has_its_own_residuals(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", view="Residuals of one query", **quick)
    before, matrices = figures(app)[-1], named_figures(app)["kernel-matrices"]
    said = app.header[-1].value
    assert said.startswith("In this query the root mean square of κ̃ − κ is ")
    assert "random Fourier between two documents; " in said
    assert "of a document with itself" in said, "the diagonal is told apart"
    app.selectbox(key="kq").select_index(1).run()
    assert figures(app)[-1] != before
    assert named_figures(app)["kernel-matrices"] == matrices


# --- the four rows ----------------------------------------------------------------------------------------


def test_a_step_of_m_keeps_the_figures_and_sends_what_is_new(
    open_page: Opener, quick: dict[str, Any]
) -> None:
    app = open_page("kernel_approximation", **quick)
    kept = {one.proto.id for one in app.get("plotly_chart")}
    before = named_figures(app)
    app.select_slider(key="m-on-page").set_value(10).run()
    assert {one.proto.id for one in app.get("plotly_chart")} == kept, "the browser draws no figure anew"
    found, fresh = named_figures(app), named_figures(open_page("kernel_approximation", **quick | {"m": 10}))
    assert found == fresh
    assert all(found[key] != before[key] for key in (*ROWS, "kernel-error"))
    app.toggle(key="large").set_value(True).run()
    assert not {one.proto.id for one in app.get("plotly_chart")} & kept, "another look is drawn anew"


@pytest.mark.usefixtures("ahead")
def test_figures_of_the_nearest_m_are_sent_ahead_once(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", **quick | {"m": 50})
    first = held_ahead(app)
    assert first["slider"] == "m-on-page"
    assert first["figures"].keys() == {"25", "100"}
    app.select_slider(key="m-on-page").set_value(100).run()
    found = {key: json.loads(figure) for key, figure in first["figures"]["100"].items()}
    assert found == {key: figure for key, figure in named_figures(app).items() if key in ROWS}
    second = held_ahead(app)
    assert second["of"] == first["of"]
    assert second["figures"].keys() == {"50", "200"}, "what was sent is not sent again"
    app.button(key="new-draw").click().run()
    seen = {first["of"], held_ahead(app)["of"]}
    assert held_ahead(app)["figures"].keys() == {"50", "200"}
    app.toggle(key="maps").set_value(True)
    app.run()
    seen.add(held_ahead(app)["of"])
    app.selectbox(key="kq").select_index(1).run()
    seen.add(held_ahead(app)["of"])
    app.slider(key="g-on-page").set_value(-3).run()
    seen.add(held_ahead(app)["of"])
    app.toggle(key="large").set_value(True).run()
    seen.add(held_ahead(app)["of"])
    assert len(seen) == 6, "the browser forgets figures of another draw, look or setting"
    app.select_slider(key="m").set_value(
        10
    ).run()  # as browsers send after quick moves of the one on the page
    assert app.select_slider(key="m-on-page").value == app.select_slider(key="m").value == 100
    app.select_slider(key="m-on-page").set_value(25).run()
    assert app.select_slider(key="m").value == 25


def panel(app: AppTest, place: int) -> np.ndarray:
    z = named_figures(app)["kernel-matrices"]["data"][place]["z"]
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(100, 100)


def fresh(name: str, Z: np.ndarray, m: int, seed: int) -> np.ndarray:
    """K̃ of documents from a map that is drawn for m features alone."""
    X = open_fold(find_datasets()["synthetic-demo"], "Fold1").train.X
    Phi = features_of(name, X, Z, RBF(0.25), m, seed)
    return Phi @ Phi.T


@pytest.mark.parametrize(("m", "seed"), [(25, 0), (200, 3)])
def test_matrices_are_those_of_maps_of_m_features(open_page: Opener, m: int, seed: int) -> None:
    """The page has them from the leading columns of one map of 500 features."""
    app = open_page("kernel_approximation", m=m, seed=seed, draws=1)
    X = open_fold(find_datasets()["synthetic-demo"], "Fold1").train.X
    Z = X[compared_documents(len(X))]
    centre, axes = principal_plane(X)
    shown = Z[np.argsort((Z - centre) @ axes[:, 0], kind="stable")][evenly(1000, 100)]
    K, told = RBF(0.25).matrix(Z, Z), []
    np.testing.assert_allclose(panel(app, 1), RBF(0.25).matrix(shown, shown), atol=1e-6)
    for place, name in ((0, "nystroem"), (2, "fourier")):
        np.testing.assert_allclose(panel(app, place), fresh(name, shown, m, seed), atol=1e-5)
        told.append(np.linalg.norm(fresh(name, Z, m, seed) - K) / np.linalg.norm(K))
    said = f"errors {error_words(told[0])} and {error_words(told[1])} (this draw, K of training documents); "
    assert said in app.header[0].value


def test_a_query_has_its_own_matrices_and_errors(open_page: Opener) -> None:
    app = open_page("kernel_approximation", of="query", kq=91, **QUICK)
    part = open_fold(find_datasets()["synthetic-demo"], "Fold1").vali
    Z = part.X[part.query_slice(part.query_ids.tolist().index(91))]
    K = RBF(0.25).matrix(Z, Z)
    told = [
        error_words(np.linalg.norm(fresh(name, Z, 25, 0) - K) / np.linalg.norm(K))
        for name in ("nystroem", "fourier")
    ]
    assert f"errors {told[0]} and {told[1]} (this draw, K of query 91); " in app.header[0].value
    assert f"{len(Z)} of {len(Z)} documents of query 91" in words(app)


def test_the_sentence_counts_the_exact_top_ten(open_page: Opener) -> None:
    app = open_page("kernel_approximation", kq=155, **QUICK)
    data = open_fold(find_datasets()["synthetic-demo"], "Fold1").vali
    rows = data.query_slice(data.query_ids.tolist().index(155))
    spec = RunSpec("synthetic-demo", n_components=25, C=2.0**-4, gamma=2.0**-2)
    runs = [execute(one) for one in (spec, spec.but(feature_map="fourier"), spec.exact())]
    *maps, exact = (set(np.argsort(-run.scores["vali"][rows], kind="stable")[:10]) for run in runs)
    kept = [len(own & exact) for own in maps]
    assert app.header[0].value.endswith(f"; {kept[0]} and {kept[1]} of the exact top ten in query 155.")


def test_m_moves_all_rows_and_trains_nothing(
    open_page: Opener, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("kernel_approximation", data=quick["data"], m=25, draws=1)
    before, said = named_figures(app), app.header[0].value

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("something is computed again")

    for place in ("ui.work.runs.execute_all", "ui.study.kernel_approximation_computations.errors_of"):
        monkeypatch.setattr(place, refused)
    monkeypatch.setattr(Variant, "draw", refused)
    app.session_state["m"] = 100
    app.run()
    assert not app.exception
    assert app.header[0].value != said
    assert all(named_figures(app)[key] != before[key] for key in ROWS)


def test_a_new_draw_keeps_the_earlier_ones(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", **quick)
    first, above = curves(app), above_the_matrices(app)
    app.button(key="new-draw").click().run()
    assert above_the_matrices(app) == above, "the figures keep their places"
    assert app.session_state["seed"] == 1
    assert app.query_params["earlier"] == "0"
    both = curves(app)
    assert [y for opacity, y in both if opacity < 1] == [y for _, y in first]
    assert len(both) == 2 * len(first)
    assert not any((1, y) in both for _, y in first)
    assert f"seed 0: {error_words(first[0][1][2])} and {error_words(first[1][1][2])}." in words(app)
    clear = app.button(key="clear-draws")
    assert clear.label == "Clear earlier draws"
    clear.click().run()
    assert len(curves(app)) == len(first)
    assert "earlier" not in app.query_params


def above_the_matrices(app: AppTest) -> list[str]:
    """Kinds of the elements above the first figure."""
    kinds = [element.type for element in app.main]
    return kinds[: kinds.index("plotly_chart")]


def curves(app: AppTest) -> list[tuple[float, list[float]]]:
    """Opacity and values of the curves of draws, those of errors first."""
    drawn = [one for one in named_figures(app)["kernel-draws"]["data"] if "opacity" in one]
    return [(one["opacity"], decoded(one["y"])) for one in drawn]


def test_earlier_draws_belong_to_their_settings(open_page: Opener, quick: dict[str, Any]) -> None:
    app = open_page("kernel_approximation", earlier="3.7", **quick)
    assert "Errors of earlier draws at m = 25: seed 3: " in words(app)
    app.session_state["g"] = 1
    app.run()
    assert "earlier" not in app.query_params
    for broken in ("x", "9" * 30):
        without_nan(open_page("kernel_approximation", earlier=broken, **quick))


@pytest.mark.parametrize("kind", ["nothing relevant", "one grade", "one query"])
def test_queries_without_pairs_say_so(kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    app = open_page("kernel_approximation", data="edge", m=5)
    assert list(named_figures(app))[:4] == ROWS
    assert ("no preference pairs" in without_nan(app)) == (kind != "one query")


def test_missing_models_leave_the_first_rows(
    open_page: Opener, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ui.study.kernel_approximation_rows.run_or_submit", lambda specs, **_: [None] * len(specs)
    )
    app = open_page("kernel_approximation", **quick)
    assert list(named_figures(app)) == [*ROWS[:3], "kernel-error"]
    assert "top ten" not in app.header[0].value
    assert NO_MODELS in words(app)


VIEWS = ("", "κ against κ̃", "Residuals of one query", "Spectrum", "Error against seconds", "Numbers")


def without_nan(app: AppTest) -> str:
    text = words(app)
    assert "nan" not in text.lower().split()
    assert not app.error
    return text


@pytest.mark.parametrize("kind", ["one document", "all-zero features"])
def test_data_at_the_edges_in_every_tab(
    kind: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    """With m = 500, more than there are documents."""
    data_set(kind)
    for view in VIEWS:
        app = open_page("kernel_approximation", data="edge", m=500, view=view, also="k-means++ landmarks")
        assert "below 10⁻⁹" in without_nan(app)
        assert list(named_figures(app))[:4] == ROWS
        without = view == "Numbers" or (kind, view) == ("one document", "κ against κ̃")
        assert len(named_figures(app)) == (4 if without else 5)


@pytest.mark.parametrize(("g", "said"), [(-12, "nearly all ones"), (4, "nearly the identity")])
def test_ends_of_gamma_have_words(open_page: Opener, small_set: None, g: int, said: str) -> None:
    link = QUICK | {"data": "edge", "g": g, "c": 10}
    assert said in without_nan(open_page("kernel_approximation", **link))


@pytest.mark.parametrize(
    ("kernel", "view"),
    [
        *(("polynomial", view) for view in ("", "Spectrum", "Numbers")),  # it has no random Fourier features
        *((kernel, "Spectrum") for kernel in ("Laplacian", "linear")),
    ],
)
def test_every_kernel_in_every_tab(open_page: Opener, small_set: None, kernel: str, view: str) -> None:
    app = open_page("kernel_approximation", data="edge", kernel=kernel, view=view, **QUICK)
    text = without_nan(app)
    assert f"· {kernel} kernel" in text
    assert "RBF" not in text
    assert ("γ" in text) == (kernel != "linear")
    drawn = drawn_in(app)
    assert ("random Fourier" in drawn) == (kernel == "Laplacian")
    assert ("Random Fourier is left out: it needs a kernel that is shift-invariant" in text) == (
        "random Fourier" not in drawn
    )
    assert app.button_group(key="also").options == ["k-means++ landmarks"], "at right angles: RBF alone"


def test_a_kernel_matrix_of_zeros_has_no_eigenvalues(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("all-zero features")
    link = {"data": "edge", "kernel": "linear", "m": 5}
    assert "Every entry of K is 0" in without_nan(open_page("kernel_approximation", view="Spectrum", **link))
    for view in ("", "Error against seconds"):
        without_nan(open_page("kernel_approximation", view=view, **link))


@pytest.mark.parametrize("view", ["Residuals of one query", "Numbers"])
def test_a_third_map_is_drawn_everywhere(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, small_set: None, view: str
) -> None:
    third = replace(FEATURE_MAPS["fourier"], label="third map")
    monkeypatch.setitem(FEATURE_MAPS, "third", third)
    app = open_page("kernel_approximation", data="edge", view=view, map="third map", **QUICK)
    without_nan(app)
    drawn = lines(named_figures(app)["kernel-draws"])
    assert drawn["third map"] == drawn["random Fourier"]
    assert "third map" in app.header[0].value
    if view == "Numbers":
        assert "third map" in app.dataframe[0].value
    else:
        assert "third map" in str(figures(app)[4])
    told = ["random Fourier, orthogonal frequencies", "third map, orthogonal frequencies"]
    assert app.button_group(key="also").options == ["k-means++ landmarks", *told]


def test_models_of_other_methods_are_of_their_maps(
    open_page: Opener, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("kernel_approximation", method=METHODS["factorized"].label, **quick)
    assert "the current model" in lines(named_figures(app)["kernel-error"])
    monkeypatch.setitem(METHODS, "mean", strangers.RANKER)
    other = open_page("kernel_approximation", method="feature mean", **quick)
    assert "Feature mean has no kernel; shown: 2 approximations of a kernel." in words(other)
    assert "the current model" not in lines(named_figures(other)["kernel-error"])


# --- words ------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).random((60, 3))


def reading_at(gamma: float, m: int, grid: tuple[int, ...] = (2, 4, 8, 16, 60), seeds: int = 4) -> str:
    errors = kernel_errors(X, RBF(gamma), grid, range(seeds))
    table = over_seeds(errors.table, "frobenius")
    slopes = {v: fitted_slope(table, v.map, errors.n_distinct) for v in PAPERS}
    return (
        f"{reading(errors, table, slopes, 'frobenius', m)}. {kernel_words(errors, KERNELS['rbf'], 'γ = g')}"
    )


def test_readings() -> None:
    assert "times lower than random Fourier's in all 4 draws" in reading_at(1.0, 16)
    assert "(1 draw each: too few to compare, 4 needed)" in reading_at(1.0, 16, seeds=1)
    assert "lower" not in reading_at(1.0, 16, seeds=3)
    assert "At m = 60, mean of 4 draws, Nyström's relative Frobenius error is below 10⁻⁹" in reading_at(
        1.0, 60
    )
    assert "From m = 60 on, all distinct documents are landmarks" in reading_at(1.0, 16)
    assert "hardly changes from m = 2 to 8" in reading_at(1e6, 4, grid=(2, 4, 8))
    assert "Nyström's is below 10⁻⁹ from m = 2 on" in reading_at(1e-12, 4)
    assert "too few points" in reading_at(1.0, 4, grid=(2, 4))


def test_ranges_that_overlap_are_not_distinguishable() -> None:
    errors = kernel_errors(X, RBF(1.0), (2, 4), range(4))
    table = over_seeds(errors.table, "spectral")
    overlapping = reading(errors, table.assign(low=0.1, high=0.9), {}, "spectral", 4)
    assert "overlaps with random Fourier's over 4 draws" in overlapping
    swapped = table.assign(map=table["map"].map({"nystroem": "fourier", "fourier": "nystroem"}))
    swapped["choice"] = swapped["map"].map({v.map: v.choice for v in PAPERS})
    assert "random Fourier's relative spectral error is" in reading(errors, swapped, {}, "spectral", 4)


@pytest.mark.parametrize(
    ("bounds", "m", "said"),
    [
        ((40.2, 40.24), 25, ("is 40.2", "m = 25 is below it: some directions are lost")),
        ((40.2, 40.24), 60, ("is 40.2", "m = 60 is close to it")),
        ((40.2, 60.0), 500, ("is between 40.2 and 60.0", "m = 500 exceeds it: more features change little")),
        ((0.0021, 0.0021), 5, ("is 0.0021", "m = 5 exceeds it")),
        ((900.2, 1234.4), 5, ("is between 900 and 1,234", "m = 5 is below it")),
    ],
)
def test_words_on_the_dimension(bounds: tuple[float, float], m: int, said: tuple[str, str]) -> None:
    for sentence, part in zip(dimension_words(bounds, "2⁻⁴", m, 9219), said, strict=True):
        assert part in sentence


def test_the_race_says_what_it_asks() -> None:
    """The mean of the other map is no bound: its least error is; and one m that is better by luck is none."""

    def row(kind: str, m: int, mean: float, low: float, high: float) -> dict[str, object]:
        ways = {"map": kind, "choice": kernel_error.draws_of(kind)[0].choice, "m": m}
        return ways | {"mean": mean, "low": low, "high": high, "seconds": 0.01, "slowest": 0.01}

    others = [row("nystroem", 5, 0.04, 0.03, 0.045), row("nystroem", 25, 0.049, 0.04, 0.055)]
    table = [*others, row("nystroem", 50, 0.03, 0.02, 0.04), row("fourier", 500, 0.052, 0.05, 0.054)]
    assert seconds_words(pd.DataFrame(table), 4) == (
        "Nyström from m = 50 on has less error in all 4 draws (0.03 in 0.01 s on this machine) than "
        "random Fourier with m = 500 (0.052 in 0.01 s)"
    )


@pytest.mark.usefixtures("ahead")
def test_figures_are_made_once_for_equal_settings_and_anew_for_others(
    open_page: Opener, small_set: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    for name in ("matrices", "plane", "draws", "rankings"):
        own = getattr(nystroem_fourier, f"{name}_figure")

        def note(*of: Any, name: str = name, own: Callable[..., Any] = own, **how: Any) -> Any:
            made.append(name)
            return own(*of, **how)

        monkeypatch.setattr(nystroem_fourier, f"{name}_figure", note)
    first = open_page("kernel_approximation", data="edge", m=5)
    at_three = {"draws": 3, "matrices": 3, "plane": 3, "rankings": 3}
    assert Counter(made) == at_three, "also at m = 10 and 25, which are sent ahead"
    again = open_page("kernel_approximation", data="edge", m=5)
    assert Counter(made) == at_three
    assert figures(again) == figures(first)
    for settings, anew in (
        ({"m": 5, "maps": "true"}, {"matrices": 3}),
        ({"m": 5, "of": "query"}, {"draws": 3, "matrices": 3}),
        ({"m": 5, "c": -3}, {"draws": 3, "rankings": 3}),
        ({"m": 10}, {}),
        ({"m": 50}, {"draws": 2, "matrices": 2, "plane": 2, "rankings": 2}),
        ({"m": 5, "earlier": "3"}, {"draws": 3}),
    ):
        made.clear()
        open_page("kernel_approximation", data="edge", **settings)
        assert Counter(made) == anew, settings


def test_the_errors_of_a_draw_are_computed_once_for_visitors_who_come_together(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[computations.Comparison] = []
    own, computed = computations.errors, list[int]()

    def note(comparison: computations.Comparison) -> object:
        asked.append(comparison)
        return own(comparison)

    def slowly(comparison: computations.Comparison, variant: object, seed: int, *_: object) -> pd.DataFrame:
        computed.append(seed)
        time.sleep(0.2)
        return pd.DataFrame()

    monkeypatch.setattr(computations, "errors", note)
    open_page("kernel_approximation", m=5)
    st.cache_resource.clear()
    monkeypatch.setattr(computations, "_errors_of", slowly)
    monkeypatch.setattr(computations.ComparedKernel, "with_errors", lambda self, table: table)
    first = replace(asked[0], draws=1)
    with ThreadPoolExecutor(4) as visitors:
        list(visitors.map(own, [first] * 4))
    assert len(computed) == len(first.variants)
