"""Losses, costs and solvers: the address sets them, the model has them, captions name them."""

import re

import pytest
from conftest_pages import Opener, execute, sound, words
from test_every_page import READING

from rankviz import RunSpec
from ui.controls.link import query_params
from ui.controls.setting_controls import choices
from ui.controls.settings import state_of

pytestmark = pytest.mark.usefixtures("every_tab")

SPEC = RunSpec("synthetic-demo", n_components=5, C=2.0**-4, gamma=2.0**-2)
TABLE = ((0.0, 1.0, 2.0), (1.0, 0.0, 1.3), (2.0, 1.3, 0.0))


@pytest.mark.parametrize(
    ("spec", "caption"),
    [
        (SPEC.but(loss="hinge", costs="grade_query"), "hinge"),
        (SPEC.but(loss="logistic", costs=("query", TABLE)), "logistic"),
        (SPEC.but(loss="crr", alpha=0.25), "CRR · α = 0.25"),
    ],
)
def test_loss_and_costs_come_from_the_address(open_page: Opener, spec: RunSpec, caption: str) -> None:
    link = query_params(state_of(spec))
    keys = ("m", "loss", "costs", "lam", "alpha")
    app = open_page("train", **{key: link[key] for key in keys if key in link})
    record = execute(spec)
    assert app.metric[0].value == f"{record.metrics['vali']['NDCG@10'].mean():.3f}"
    assert caption in words(app)
    assert state_of(record.spec) == {key: app.session_state[key] for key in state_of(record.spec)}


def test_captions_name_costs_and_solver(open_page: Opener) -> None:
    app = open_page("train", m=5, costs=choices()["table_query"], solver="Newton-YUAN")
    assert "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3, × μ by query" in words(app)
    assert "× μ by query · Newton-YUAN · " in words(app)


def test_a_solver_that_does_not_serve_the_loss_is_refused(open_page: Opener, small_set: None) -> None:
    app = open_page(data="edge", m=5, loss="hinge", solver="L-BFGS (SciPy)")
    assert "choose solver='newton'" in app.error[0].value
    app.sidebar.selectbox(key="solver").set_value("newton").run()
    assert not app.error


def test_settings_that_clash_do_not_hide_the_data(open_page: Opener, small_set: None) -> None:
    app = open_page(
        "data", data="edge", loss="hinge", solver="L-BFGS (SciPy)", costs=choices()["table"], lam="x"
    )
    assert not app.error
    assert len(app.get("plotly_chart")) > 1


@pytest.mark.parametrize(
    ("lam", "sentence"), [("1, x", "one number"), ("1, 2", "one number"), ("1", "grades up to")]
)
def test_a_table_that_does_not_fit_is_refused(open_page: Opener, lam: str, sentence: str) -> None:
    app = open_page("train", m=5, costs=choices()["table"], lam=lam)
    assert sentence in app.error[0].value


@pytest.mark.parametrize("page", READING)
def test_every_page_shows_a_loss_of_scores_or_says_why_not(
    page: str, open_page: Opener, small_set: None
) -> None:
    app = open_page(page, data="edge", m=10, loss="ListNet")
    assert app.session_state["loss"] == "listnet"
    said = sound(app)
    assert not re.search(r"ListNet[^\n]*(active pairs|dual variables? α)", said)


def test_low_rank_says_that_a_loss_of_scores_has_no_dual_variables(open_page: Opener) -> None:
    app = open_page("low_rank", m=10, loss="ListNet")
    assert "The ListNet loss is no sum over preference pairs" in words(app)
    next(button for button in app.button if button.label == "Use hinge").click().run()
    assert app.session_state["loss"] == "hinge"


def test_ranknet_is_drawn_as_a_loss_of_margins(open_page: Opener) -> None:
    app = open_page("train", m=5, loss="RankNet")
    assert "Bold: this model's loss, RankNet" in words(app)
    assert "Bold: this model's loss" not in words(open_page("train", m=5, loss="ListNet"))
