"""A visitor's own system, known by its scores only, on every page; and the form that adds it."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from conftest_pages import figures, shown, words
from streamlit.testing.v1 import AppTest
from test_every_page import READING

from rankviz import RunSpec
from rankviz.datasets import load_demo
from rankviz.datasets.archives import Member
from rankviz.runs.given import write_trec
from ui.work.systems import keep_system, systems

pytestmark = pytest.mark.usefixtures("every_tab")

Opener = Callable[..., AppTest]
DATA = "synthetic-demo"


def run_of(part: str, fold: int = 1, seed: int = 0) -> Member:
    """Return a TREC run of random scores on a part of a demonstration fold."""
    data, text = load_demo(fold).parts[part], io.BytesIO()
    write_trec(np.random.default_rng(seed).normal(size=data.n_documents), data, "mine", text)
    path = (f"Fold{fold}", f"{part}.run")
    return Member("/".join(path), path, len(text.getvalue()), lambda: io.BytesIO(text.getvalue()))


@pytest.fixture(autouse=True)
def one_visitor(monkeypatch: pytest.MonkeyPatch, open_page: Opener) -> None:
    """Have one visitor add systems and open pages."""
    monkeypatch.setattr("ui.shell.visitors._secret", lambda: "1" * 32)


@pytest.fixture
def kept(open_page: Opener) -> list[RunSpec]:
    """Keep a system with scores of all parts of a fold."""
    return keep_system([run_of(part) for part in ("train", "vali", "test")], DATA, name="my *system*")[1]


@pytest.mark.parametrize("page", READING)
def test_every_page_shows_it_or_says_why_not(page: str, kept: list[RunSpec], open_page: Opener) -> None:
    app = open_page(page, m=10, method="scores from files")
    assert app.session_state["method"] == "given"
    assert not app.error, [error.value for error in app.error]
    assert shown(app) or app.info or app.warning
    said = words(app)
    assert "nan" not in said.lower().split()
    if page not in {"data", "home", "weights", "kernel_approximation"}:
        assert "my-system" in said + str(figures(app))
    assert systems(DATA) == {kept[0].system: "my-system"}


@pytest.mark.parametrize("page", READING)
def test_every_page_says_which_part_is_missing(page: str, open_page: Opener) -> None:
    keep_system([run_of("test")], DATA, name="tested")
    app = open_page(page, m=10, method="scores from files")
    for error in app.error:
        assert error.value.startswith("tested has no scores of the ")
        assert "only of test: show that part" in error.value
    assert app.error or shown(app) or app.info or app.warning
