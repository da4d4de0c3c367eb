"""Test that unavailable values of a link are reported, for the sidebar and pages, at any length."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest_pages import APP, Opener, shown, words
from sidebar_script import sidebar_alone
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from ui.controls import navigation
from ui.controls.link import VERSION
from ui.shell.words import IGNORED, NOT_READ_YET

OF_PAGES = [
    (
        "influence",
        {"model": "foo", "scope": "bar"},
        ("model = foo is not available; using linear", "scope = bar is not available; using all folds"),
    ),
    ("why", {"query": "-5"}, ("query = -5 is not available; using ",)),
    ("low_rank", {"k": "0"}, ("k = 0 is not available; using ",)),
    ("compare", {"runs": "zzzz"}, ("runs = zzzz is not available.",)),
    ("train", {"fold": "Fold9"}, ("fold = Fold9 is not available; using Fold1",)),
]


@pytest.fixture
def open_whole(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Open a page as the first of a session, with all that the router puts around it."""

    def opened(page: str, **link: object) -> AppTest:
        entries = sorted(navigation.ENTRIES, key=lambda one: one.file != page)
        monkeypatch.setattr(navigation, "ENTRIES", tuple(entries))
        app = AppTest.from_file(str(APP), default_timeout=180)
        app.query_params.update({key: str(value) for key, value in link.items()})
        app.run()
        assert not app.exception, app.exception
        return app

    return opened


def warned(app: AppTest) -> str:
    return "".join(
        one.value for one in app.warning if " not available" in one.value or "This link" in one.value
    )


@pytest.mark.parametrize(("page", "link", "reported"), OF_PAGES)
def test_what_a_page_does_not_offer_is_said(
    page: str, link: dict[str, str], reported: tuple[str, ...], open_whole: Opener
) -> None:
    app = open_whole(page, m=10, **link)
    for one in reported:
        assert one in warned(app)


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("influence", {"model": "current model", "scope": "this fold", "metric": "MAP"}),
        ("ndcg_vs_m", {"upto": "25", "seeds": "2", "figure2": "TRUE", "xaxis": "seconds", "exact": "false"}),
        ("train", {"view": "Numbers", "query": "402", "m": "10", "c": "-3.0", "costs": "μ by query"}),
        ("why", {"v": VERSION, "view": "Landmarks", "lam": "1, 2"}),
    ],
)
def test_nothing_is_said_of_what_is_taken(page: str, link: dict[str, str], open_whole: Opener) -> None:
    assert not warned(open_whole(page, **({"m": "10"} | link)))


OF_STATES = [
    ("ndcg_vs_m", {"data": "edge", "seeds": "2", "upto": "10", "metric": "MAP"}),
    (
        "convergence",
        {"data": "edge", "losses": "hinge", "solvers": "L-BFGS (SciPy)", "against": "iterations", "m": "10",
         "view": "Runs"},
    ),
    ("low_rank", {"t": "99 %", "zero": "10⁻²", "counted": "number", "view": "Energy"}),
    (
        "side_by_side",
        {"left": "linear", "right": "exact kernel", "metric": "MAP", "query": "19", "first": "20",
         "scores": "standardised", "document": "S19-16"},
    ),
    (
        "low_rank",
        {"matrix": "symmetrised", "block": "3", "order": "score", "k": "4", "beside": "what that leaves out",
         "view": "One query"},
    ),
    (
        "why",
        {"query": "7", "above": "S7-3", "below": "S7-7", "move": "9", "of": "linear",
         "view": "Move a feature"},
    ),
    ("data", {"part": "validation", "query": "7", "view": "One query"}),
]  # fmt: skip
"""What pages keep in the address, none of it a default; tests/e2e/test_reload.py has others."""


@pytest.mark.parametrize(("page", "state"), OF_STATES)
def test_what_a_page_was_set_to_is_in_its_address_and_comes_back(
    page: str, state: dict[str, str], open_page: Opener, small_set: None
) -> None:
    app = open_page(page, **{"m": "10"} | state)
    assert not app.warning
    assert "ignores" not in words(app), "the page reads each parameter"
    link = {key: "".join(value) for key, value in app.query_params.items()}
    assert link.items() >= state.items()
    assert shown(app)
    assert shown(open_page(page, **link)) == shown(app)
    assert shown(open_page(page, m=10, data=app.session_state["data"])) != shown(app), (
        "the state changes what is shown"
    )


def test_it_is_said_until_that_widget_is_changed() -> None:
    app = sidebar_alone(c="abc", map="nonsense", m=7)
    app.slider(key="c").set_value(-3).run()
    assert "C = " not in warned(app)
    assert "m = 7 is not available; using 200." in warned(app)


def test_an_address_behind_a_moved_slider_is_not_reported() -> None:
    app = sidebar_alone().run()
    app.sidebar.slider(key="c").set_value(-6)
    app.query_params["c"] = "-5"  # the browser's last but one position
    app.run()
    assert app.session_state["c"] == -6
    assert not warned(app)


def test_the_sidebar_goes_by_what_is_used_not_by_what_was_asked_in_vain(open_whole: Opener) -> None:
    plain, wrong = open_whole("influence"), open_whole("influence", model="foo", scope="bar")
    for key in ("fold", "method", "map"):
        assert plain.selectbox(key=key).disabled
        assert wrong.selectbox(key=key).disabled
    assert wrong.slider(key="c").disabled


@pytest.mark.parametrize(
    ("link", "reported"),
    [
        ({"c": "abc"}, "C = abc is not available; using 2⁻⁴."),
        ({"c": "1e-400"}, "C = 1e-400 is not available; using 2⁻⁴."),
        ({"c": "99"}, "C = 2⁹⁹ is not available; using 2⁻⁴."),
        ({"clin": "x"}, "C of the linear baseline = x is not available; using 2⁻¹⁰."),
        ({"m": "9" * 3000}, f"m = {'9' * 39}… is not available; using 200."),
    ],
)
def test_settings_are_called_as_the_sidebar_calls_them(link: dict[str, str], reported: str) -> None:
    app = sidebar_alone(**link)
    assert reported in warned(app)
    assert not set(link) & set(app.query_params) or "99" in link.values()


def test_a_number_without_end_that_nothing_reads_is_said(open_whole: Opener) -> None:
    assert "ignores gamma = inf in its link." in words(open_whole("convergence", gamma="inf"))


def as_opened() -> None:
    import streamlit as st

    from ui.controls.link import link_as_opened

    link_as_opened()
    st.json({key: st.query_params.get_all(key) for key in st.query_params})


def test_numbers_without_end_leave_the_address_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = list[list[str]]()
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda params: sent.append(list(params)))
    app = AppTest.from_function(as_opened)
    app.query_params.update({f"a{k}": "nan" for k in range(900)} | {"m": ["5", "6"]})
    assert json.loads(app.run().json[0].value) == {"m": ["5", "6"]}
    assert sent == [["m"]], "each has the whole address, and Streamlit keeps 500 for a slow browser"
    app.query_params.clear()
    app.query_params["m"] = "7"
    sent.clear()
    assert json.loads(app.run().json[0].value) == {"m": ["7"]}
    assert not sent


def test_a_data_set_may_have_a_name_like_a_number(
    open_whole: Opener, made_sets: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(made_sets("small") / "edge", tmp_path / "data" / "Nan")
    monkeypatch.setenv("RANKVIZ_DATA", str(tmp_path / "data"))
    assert open_whole("data", data="Nan").selectbox(key="data").value == "Nan"


def test_what_a_page_does_not_read_is_cut_too(open_whole: Opener) -> None:
    app = open_whole("data", stranger="9" * 3000)
    assert f"stranger = {'9' * 39}…" in words(app)
    assert "9" * 41 not in words(app)


def test_of_a_page_that_waits_for_its_model_the_link_is_not_called_ignored(
    open_whole: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", 0.0)
    app = open_whole("what_if", m=25, c=3, changes="x_2")
    assert NOT_READ_YET.format(named="changes = x_2") in words(app)
    assert IGNORED.format(named="changes = x_2") not in words(app)
    monkeypatch.undo()
    app.run()
    assert NOT_READ_YET.format(named="changes = x_2") not in words(app)
    assert [box.label for box in app.checkbox] == ["feature 3 left out of all documents"]
