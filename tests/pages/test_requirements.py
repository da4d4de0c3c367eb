"""Test messages and offers of pages if a model lacks what they need."""

import pytest
import strangers
from conftest_pages import words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.models.methods import METHODS
from ui.controls.models import alternatives, reason, supports

SPEC = RunSpec("synthetic-demo", n_components=50)


def script(text: str, names: tuple[str, ...]) -> None:
    import streamlit as st

    from rankviz import RunSpec
    from ui.controls.models import supports

    menus = {"feature_map": "map", "method": "method"}
    chosen = {name: st.session_state[key] for name, key in menus.items() if key in st.session_state}
    st.session_state["offered"] = supports(RunSpec.from_json(text).but(**chosen), *names)


def asked(spec: RunSpec, *names: str) -> AppTest:
    kwargs = {"text": spec.to_json(), "names": names}
    app = AppTest.from_function(script, kwargs=kwargs, default_timeout=180).run()
    assert not app.exception
    return app


def test_what_is_offered_needs_no_words() -> None:
    app = asked(SPEC, "duals", "trace", "components")
    assert app.session_state["offered"]
    assert not words(app)
    assert not app.button


def test_maps_that_would_do_are_offered_where_the_map_lacks_it() -> None:
    app = asked(SPEC.linear(1.0), "components")
    assert words(app) == "The linear model has no number of features m, so there is nothing to show here."
    offered = ["Use Nyström", "Use random Fourier", "Use hidden layer"]
    assert [button.label for button in app.button] == offered
    app.button[1].click().run()
    assert app.session_state["map"] == "fourier"
    assert app.session_state["offered"]
    assert not app.button


def test_a_listwise_loss_is_the_reason_only_where_a_loss_of_pairs_would_do() -> None:
    listwise = SPEC.linear(1.0).but(loss="listnet")
    assert "The ListNet loss is no sum over preference pairs" in reason(listwise, ["duals"])
    assert reason(listwise, ["expansion"]).startswith("The linear model has no kernel expansion")


def test_methods_that_would_do_are_offered_where_the_method_lacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "stranger", strangers.RANKER)
    app = asked(RunSpec("synthetic-demo", method="stranger"), "duals", "trace")
    said = "Feature mean has no dual variables of preference pairs and no trace of its iterations"
    assert words(app) == f"{said}, so there is nothing to show here."
    assert [button.label for button in app.button] == [
        "Use RankSVM",
        "Use factorised RankSVM",
        "Use regularised RankSVM",
    ]
    app.button[0].click().run()
    assert app.session_state["method"] == "ranksvm"
    assert app.session_state["offered"]


def test_only_what_goes_together_is_offered() -> None:
    polynomial = SPEC.exact().but(kernel="polynomial")
    found = [option for _, option in alternatives(polynomial, "components")]
    assert found == ["nystroem", "hidden_layer"], "random Fourier is not for that kernel"
    assert not list(alternatives(SPEC.linear(1.0), "components", "input_weights"))
    assert "no weights of the input features" in reason(SPEC, ["input_weights"])
    with pytest.raises(AttributeError):
        supports(SPEC, "no such thing")
