"""Pins: any model of any method as a text in the address."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import strangers
from conftest_pages import words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.common.settings import Choice, Positive, Setting, Steps, Typed, Whole
from rankviz.learning.costs import RULES
from rankviz.learning.losses import LOSSES
from rankviz.learning.solvers import SOLVERS
from rankviz.models.methods import METHODS
from ui.controls.models import MOST, from_token, token

TABLE = ((0.0, 1.0, 2.0), (1.0, 0.0, 1.3), (2.0, 1.3, 0.0))
DATA = RunSpec("synthetic-demo", "Fold2", "0f", "query_zscore", n_components=1000, C=2.0**3, tol=1e-3)
SPEC = DATA.but(n_components=200, C=2.0**-4, gamma=2.0**-2, tol=1e-6)
FOURIER = SPEC.but(feature_map="fourier")

TEXTS = [
    ("c_-4~map_nystroem~m_200~g_-2~seed_0~loss_squared_hinge", SPEC),
    ("c_10~map_linear~loss_squared_hinge", SPEC.linear(2.0**10)),
    ("c_-4~map_exact~g_-2~loss_squared_hinge~tol_1e-08", SPEC.exact().but(tol=1e-8)),
    (
        "c_-4~map_nystroem~m_200~g_-2~seed_0~rank_50~landmarks_kmeans-2b2b-~loss_squared_hinge",
        SPEC.but(rank=50, landmarks="kmeans++"),
    ),
    (
        "c_-4~map_fourier~m_5~g_-2~seed_2147483647~freq_orthogonal~loss_squared_hinge",
        FOURIER.but(n_components=5, seed=2**31 - 1, frequencies="orthogonal"),
    ),
    (
        "c_-15~map_linear~loss_logistic_pwq~costs_table_query~lam_1x2x1p3~solver_newton_yuan",
        SPEC.linear(2.0**-15).but(loss="logistic_pwq", costs=("query", TABLE), solver="newton_yuan"),
    ),
    (
        "c_-4~map_exact~kernel_polynomial~g_-2~deg_2~coef0_0p5~loss_squared_hinge",
        SPEC.exact().but(kernel="polynomial", degree=2, coef0=0.5),
    ),
    (
        "method_factorized~lfactors_10~c_-1~map_linear~fsolver_query_steps~ltol_1e-04~seed_3",
        SPEC.linear(1.0).factorized(10, 0.5, "query_steps").but(tol=1e-4, seed=3),
    ),
    (
        "method_regularized~lnuclear_0p1~lcoupling_100~c_1~map_exact~g_-2",
        SPEC.exact().regularized(0.1, 100.0, 2.0),
    ),
]


@pytest.mark.parametrize(("text", "spec"), TEXTS)
def test_a_pin_is_its_spec(text: str, spec: RunSpec) -> None:
    assert from_token(text, DATA) == spec
    assert set(token(spec).split("~")) == set(text.split("~"))
    assert from_token(token(spec), DATA) == spec
    assert re.fullmatch(r"[A-Za-z0-9_~-]+", token(spec))


def every_choice() -> list[RunSpec]:
    """Each option of each choice once, with the rest as it starts."""
    specs = [SPEC, FOURIER, *(SPEC.but(method=method) for method in METHODS)]
    specs += [SPEC.but(loss=loss) for loss in LOSSES]
    specs += [SPEC.but(solver=name) for name in SOLVERS]
    return specs + [SPEC.but(costs=costs) for costs in (*RULES, TABLE, ("query", TABLE))]


@pytest.mark.parametrize("spec", every_choice())
def test_every_choice_can_be_pinned(spec: RunSpec) -> None:
    assert from_token(token(spec), DATA) == spec


def test_what_is_not_named_is_the_default_and_not_what_the_sidebar_has() -> None:
    other = DATA.but(loss="huber", costs="grade", landmarks="kmeans++")
    usual = RunSpec("synthetic-demo", "Fold2", "0f", "query_zscore")
    assert from_token("map_nystroem", other) == usual
    assert from_token("method_factorized", other) == usual.but(method="factorized")


def test_what_no_address_has_is_that_of_the_page() -> None:
    assert from_token(token(SPEC), DATA.but(start="zero")) == SPEC.but(start="zero")
    assert from_token("method_factorized", DATA.but(start="zero")) == from_token("method_factorized", DATA)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "map",
        "map_",
        "map_none",
        "method_none",
        "method_ranksvm~lfactors_5",
        "map_linear~m_5",
        "map_exact~seed_0",
        "map_nystroem~m_7",
        "map_nystroem~m_9999",
        "map_nystroem~g_5",
        "map_nystroem~g_1.5",
        "map_nystroem~seed_-1",
        "map_nystroem~seed_9999999999",
        "map_nystroem~seed_٣",
        "map_nystroem~rank_2001",
        "map_nystroem~freq_orthogonal",
        "map_nystroem~landmarks_kmeans++",
        "map_linear~c_99",
        "map_linear~c_1_0",
        "map_linear~c_0~c_1",
        "map_linear~tol_1e-02",
        "map_linear~loss_none",
        "map_linear~loss_hinge~solver_lbfgs",
        "map_linear~costs_none2",
        "map_linear~costs_table~lam_1x2",
        "map_linear~costs_table~lam_pp",
        "map_linear~costs_table~lam_",
        "map_linear~start_zero",
        "map_linear~preconditioner_none",
        "map_linear~norm_none",
        "map_linear~data_other",
        "map_fourier~kernel_polynomial",
        "x" * 10_000,
        "~" * 10_000,
        "seed_" + "9" * 10_000,
    ],
)
def test_other_texts_are_no_pins(text: str) -> None:
    assert from_token(text, DATA) is None


def test_what_the_sidebar_does_not_offer_has_no_pin() -> None:
    with pytest.raises(SettingError, match="is not available"):
        token(SPEC.but(C=3.0))


POWER = Setting("power", "p", "Power", Positive(), 1.5, "", key="power", offer=Steps((0.5, 1.5, 1e-5)))
DEPTH = Setting("depth", "depth", "Depth", Whole(optional=True), None, "", key="depth", offer=Typed(0, 9))
TREES = {
    "a.b": replace(SOLVERS["lbfgs"], label="a"),
    "a~b_c d": replace(SOLVERS["lbfgs"], label="b", settings=(DEPTH,)),
}
TREE = Setting("tree", "tree", "Tree", Choice(TREES), "a.b", "", key="tree")


@pytest.mark.parametrize(
    "values",
    [{}, {"power": 1e-5}, {"power": 0.5, "tree": "a~b_c d"}, {"tree": "a~b_c d", "depth": 7}],
)
def test_a_model_of_a_new_method_can_be_pinned(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any]
) -> None:
    monkeypatch.setitem(METHODS, "odd one", replace(strangers.RANKER, settings=(POWER, TREE)))
    spec = DATA.but(method="odd one", **values)
    assert from_token(token(spec), DATA) == spec
    assert token(spec).startswith("method_odd-20-one~")
    assert re.fullmatch(r"[A-Za-z0-9_~-]+", token(spec))


def script() -> None:
    import streamlit as st

    from rankviz import RunSpec
    from ui.controls.models import buttons, pinned

    spec = RunSpec("synthetic-demo", n_components=200, C=2.0**-4, gamma=2.0**-2)
    st.session_state["found"] = pinned(spec)
    buttons(spec)


def pinning(pins: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=180)
    app.query_params["pins"] = pins
    app.run()
    assert not app.exception
    return app


def test_pins_are_in_the_address() -> None:
    pin = "c_-2~map_fourier~m_25~g_-3~seed_7~loss_squared_hinge~tol_1e-04"
    app = pinning(pin)
    assert [token(spec) for spec in app.session_state["found"]] == [pin]
    app.button(key="pin").click().run()
    assert app.session_state["found"][1] == RunSpec(
        "synthetic-demo", n_components=200, C=2.0**-4, gamma=2.0**-2
    )
    assert "".join(app.query_params["pins"]) == f"{pin}.{token(SPEC)}"
    assert app.button(key="pin").disabled
    app.button(key="unpin").click().run()
    assert "pins" not in app.query_params
    assert not app.session_state["found"]


def test_a_pin_of_the_sidebar_s_model_is_not_pinned_twice() -> None:
    assert pinning(token(SPEC)).button(key="pin").disabled


def test_pins_that_cannot_be_read_and_too_many_are_left_out_with_a_word() -> None:
    app = pinning("nystroem_m200_g-2_s0_c-4_t6.linear_c-4_t6.map_exact")
    assert [spec.feature_map for spec in app.session_state["found"]] == ["exact"]
    assert "Only valid pins are shown" in words(app)
    many = pinning(".".join(token(SPEC.but(seed=seed)) for seed in range(MOST + 1)))
    assert [spec.seed for spec in many.session_state["found"]] == list(range(MOST))
    assert f"at most {MOST}." in words(many)
    assert "pins" not in words(pinning("map_exact"))
