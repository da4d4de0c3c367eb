"""The Convergence page: the library's numbers, the runs that were asked for, pins that a link brings back."""

import pytest
from conftest_pages import Opener, execute, figures, pin_of, words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from ui.controls.models import MOST
from ui.study.convergence import spread
from ui.study.convergence_words import CAPTIONS

SPEC = RunSpec("synthetic-demo", n_components=10, C=2.0**-4, gamma=2.0**-2)
PIN = SPEC.but(feature_map="fourier", C=2.0**-2, n_components=25, gamma=2.0**-3, seed=7, tol=1e-4)


def names(app: AppTest) -> list[str]:
    return [trace["name"] for trace in figures(app)[0]["data"]]


@pytest.mark.usefixtures("every_tab")
def test_the_numbers_are_the_library_s_and_losses_and_solvers_are_compared(open_page: Opener) -> None:
    app = open_page("convergence", m=10)
    runs = [execute(SPEC.but(preconditioner=name)) for name in ("auto", "none")]
    shown = app.dataframe[0].value
    assert "CG iterations" in app.selectbox(key="show").options
    assert shown["CG iterations"].tolist() == [int(r.trace["cg_iterations"].sum()) for r in runs]
    assert shown["objective"].tolist() == [r.objective for r in runs]
    assert f"How they ended: each {runs[0].status}." in words(app), "no column cuts it"
    cg = shown["CG iterations"].tolist()
    assert f"With the preconditioner {cg[0]} CG iterations reach the tolerance, without it {cg[1]}." in words(
        app
    )
    app.multiselect(key="solvers").set_value(["lbfgs", "newton_yuan"]).run()
    app.multiselect(key="losses").set_value(["hinge"]).run()
    assert not app.exception
    told = words(app)
    assert "Products until within 10⁻⁴ of its own best objective" in told
    assert CAPTIONS["objectives"] in told
    assert "Left out" in told
    assert "hinge with Newton-YUAN" in told
    assert len(names(app)) == 6  # both losses with and without preconditioner, two solvers of one of them
    app.selectbox(key="show").select("duality").run()
    app.selectbox(key="against").select("products").run()
    assert not app.exception
    assert len(names(app)) == 6
    assert "A product multiplies by Φ" in words(app)


def test_the_heading_follows_the_axis_and_further_c(open_page: Opener) -> None:
    app = open_page("convergence", m=10)
    assert app.selectbox(key="against").value == "cg"
    assert figures(app)[0]["layout"]["xaxis"]["title"]["text"] == "CG iterations spent"
    for axis, unit in {"iteration": "iterations", "products": "products", "seconds": "seconds"}.items():
        app.selectbox(key="against").select(axis).run()
        assert f" {unit} reach the tolerance, without it " in app.header[0].value
        assert ("In this one run" in app.header[0].value) == (axis == "seconds")
    app.selectbox(key="against").select("cg").run()
    app.multiselect(key="solvers").set_value(["lbfgs"]).run()
    assert app.selectbox(key="against").value == "products", "L-BFGS has no CG iterations"
    app.multiselect(key="solvers").set_value([]).run()
    app.toggle(key="plain").set_value(False).run()
    app.multiselect(key="cs").set_value(["2^-6", "2^0"]).run()
    assert names(app) == [f"Nyström, m = 10, C = {c}" for c in ("2⁻⁴", "2⁻⁶", "2⁰")]
    assert "without it" not in words(app)


def test_pins_stay_come_back_and_go(open_page: Opener) -> None:
    app = open_page("convergence", m=10, pins=pin_of(PIN))
    assert len(names(app)) == 3
    app.button(key="pin").click().run()
    app.session_state["m"] = 25
    app.run()
    pinned = [pin_of(PIN), pin_of(SPEC.but(start="zero"))]
    assert "".join(app.query_params["pins"]) == ",".join(pinned)
    assert len(names(app)) == 4
    app.button(key="unpin").click().run()
    assert len(names(app)) == 2
    assert "pins" not in app.query_params


def test_pins_beside_the_sidebar_s_model(open_page: Opener) -> None:
    many = [pin_of(SPEC.but(seed=seed)) for seed in range(MOST)]
    app = open_page("convergence", m=10, pins=",".join(many))
    assert len(names(app)) == 1 + MOST  # seed 0 is the sidebar's, and it is drawn without preconditioner too


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize("solver", ["SGD by pair, steps 1/t as printed", "L-BFGS (SciPy)"])
def test_another_solver_in_the_sidebar(open_page: Opener, solver: str) -> None:
    app = open_page("convergence", m=10, solver=solver)
    assert len(names(app)) == 1
    assert "reach the tolerance." in words(app)
    assert "Only Newton's iterations can be played" in app.info[0].value


@pytest.mark.usefixtures("every_tab")
def test_a_loss_that_newton_cannot_train_is_not_sent_to_newton(open_page: Opener, small_set: None) -> None:
    app = open_page("convergence", data="edge", map="linear", loss="SVM-MAP", solver="cutting planes")
    assert "Newton cannot train SVM-MAP" in app.info[0].value


def test_steps_that_are_too_long_are_a_sentence(open_page: Opener) -> None:
    app = open_page("convergence", m=10, c=10, solver="SGD by pair, steps 1/t as printed")
    assert "diverged" in app.info[0].value


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize("loss", ["squared hinge", "hinge"])
def test_every_iteration_is_a_frame(open_page: Opener, loss: str) -> None:
    app = open_page("convergence", m=10, loss=loss, plain="false")
    film = figures(app)[1]
    iterations = app.dataframe[1].value["iteration"]
    assert [frame["name"] for frame in film["frames"]] == [str(k) for k in iterations]
    assert "settled" in words(app)
    app.selectbox(key="pq").select_index(3).run()
    assert not app.exception


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize(("loss", "C"), [("hinge", 10), ("hinge", -15), ("logistic", 10)])
def test_losses_at_the_ends_of_C(open_page: Opener, small_set: None, loss: str, C: int) -> None:
    app = open_page("convergence", data="edge", m=10, c=C, loss=loss, plain="false")
    assert figures(app) or app.info
    assert "nan" not in words(app).lower().split()


@pytest.mark.usefixtures("every_tab")
def test_seconds_are_measured_on_request(open_page: Opener, small_set: None) -> None:
    app = open_page("convergence", data="edge", m=10)
    assert "Seconds of training" not in words(app)
    next(button for button in app.button if "Measure the seconds" in button.label).click().run()
    table = next(frame.value for frame in app.dataframe if "median s" in frame.value)
    assert len(table) == 2
    assert (table["least s"] <= table["median s"]).all()
    assert (table["median s"] <= table["most s"]).all()


def test_the_spread_of_seconds() -> None:
    assert spread(["a"], [[3.0, 1.0, 2.0]]).to_dict("records") == [
        {"run": "a", "median s": 2.0, "least s": 1.0, "most s": 3.0}
    ]
