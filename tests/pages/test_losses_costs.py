"""Losses, costs and solvers: the address sets them, the model has them, captions name them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, execute
from rankviz.learning.losses import LOSSES
from ui.controls.link import query_params
from ui.controls.setting_controls import choices
from ui.controls.settings import state_of

pytestmark = pytest.mark.usefixtures("every_tab")

Opener = Callable[..., AppTest]
SPEC = RunSpec("synthetic-demo", n_components=5, C=2.0**-4, gamma=2.0**-2)
TABLE = ((0.0, 1.0, 2.0), (1.0, 0.0, 1.3), (2.0, 1.3, 0.0))


@pytest.mark.parametrize(
    "spec", [SPEC.but(loss="hinge", costs="grade_query"), SPEC.but(loss="logistic", costs=("query", TABLE))]
)
def test_loss_and_costs_come_from_the_address(open_page: Opener, spec: RunSpec) -> None:
    link = query_params(state_of(spec))
    app = open_page("train", **{key: link[key] for key in ("m", "loss", "costs", "lam") if key in link})
    record = execute(spec)
    assert app.metric[0].value == f"{record.metrics['vali']['NDCG@10'].mean():.3f}"
    assert LOSSES[spec.loss].label in words(app)
    assert state_of(record.spec) == {key: app.session_state[key] for key in state_of(record.spec)}


def test_captions_name_costs_and_solver(open_page: Opener) -> None:
    app = open_page("train", m=5, costs=choices()["table_query"], solver="Newton-YUAN")
    assert "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3, × μ by query" in words(app)
    assert "× μ by query · Newton-YUAN · " in words(app)


def test_a_solver_that_does_not_serve_the_loss_is_refused(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    app = open_page(data="edge", m=5, loss="hinge", solver="L-BFGS (SciPy)")
    assert "choose solver='newton'" in app.error[0].value
    app.sidebar.selectbox(key="solver").set_value("newton").run()
    assert not app.error


def test_settings_that_clash_do_not_hide_the_data(open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("small")
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
