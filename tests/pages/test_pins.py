"""Pins: digests of runs in the address, each a model on the sidebar's data."""

from collections.abc import Iterable

import pytest
from conftest_pages import words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute
from rankviz.store import StoreOutOfReach
from ui.controls.models import MOST
from ui.work.folds import fold_of
from ui.work.run_store import keeper

SPEC = RunSpec("synthetic-demo", n_components=200, C=2.0**-4, gamma=2.0**-2)
LINEAR = RunSpec("synthetic-demo", "Fold2", "", "none").linear(0.3)
"""A run on another fold, with a C that the sidebar does not offer."""


def stored(specs: Iterable[RunSpec]) -> list[str]:
    made: list[RunRecord] = []
    for spec in specs:
        fold = fold_of(spec)
        made.append(execute(spec.but(digest=fold.digest), fold=fold))
    keeper().keep("somebody else", made)
    keeper().wait()
    return [record.spec.hash for record in made]


def script() -> None:
    import streamlit as st

    from rankviz import RunSpec
    from ui.controls.models import pin_buttons, pinned, pinned_models

    spec = RunSpec("synthetic-demo", n_components=200, C=2.0**-4, gamma=2.0**-2)
    st.session_state["found"] = pinned(spec)
    st.session_state["labels"] = [one.label for one in pinned_models(spec).values()]
    pin_buttons(spec)


def pinning(*pins: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=180)
    app.query_params["pins"] = ",".join(pins)
    app.run()
    assert not app.exception
    return app


def test_a_pin_is_the_model_of_its_run_on_the_sidebar_s_data() -> None:
    (digest,) = stored([LINEAR])
    app = pinning(digest)
    assert app.session_state["found"] == {digest: SPEC.linear(0.3)}
    assert app.session_state["labels"] == ["linear (pinned)"]
    assert "".join(app.query_params["pins"]) == digest


def test_pins_are_in_the_address_until_they_are_cleared() -> None:
    (digest,) = stored([LINEAR])
    app = pinning(digest)
    app.button(key="pin").click().run()
    own = SPEC.but(digest=fold_of(SPEC).digest).hash
    assert app.session_state["found"] == {digest: SPEC.linear(0.3), own: SPEC}
    assert "".join(app.query_params["pins"]) == f"{digest},{own}"
    assert app.button(key="pin").disabled
    app.button(key="unpin").click().run()
    assert "pins" not in app.query_params
    assert not app.session_state["found"]


def test_unknown_pins_and_too_many_are_left_out_with_a_warning() -> None:
    known = stored(SPEC.linear(2.0**-k) for k in range(MOST + 1))
    app = pinning("0" * 16, known[0])
    assert list(app.session_state["found"]) == known[:1]
    assert "".join(app.query_params["pins"]) == known[0]
    assert f"at most {MOST}." in words(app)
    many = pinning(*known)
    assert list(many.session_state["found"]) == known[:MOST]
    assert f"at most {MOST}." in words(many)
    assert f"at most {MOST}." not in words(pinning(known[0]))


def test_pins_of_a_link_are_left_out_while_the_store_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise StoreOutOfReach("no disk")

    (digest,) = stored([LINEAR])
    monkeypatch.setattr("ui.controls.models.run_store", fail)
    assert not pinning(digest).session_state["found"]
