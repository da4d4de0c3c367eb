"""Every page with trees: it shows them, or says what they lack."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest_pages import figures, shown, words
from streamlit.testing.v1 import AppTest
from test_every_page import READING

pytestmark = pytest.mark.usefixtures("every_tab")

Opener = Callable[..., AppTest]
LABEL, LINK = "LambdaMART", {"method": "LambdaMART", "rounds": "12", "patience": "5"}


@pytest.mark.parametrize("page", READING)
def test_every_page_shows_it_or_says_why_not(
    page: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    app = open_page(page, m=10, data="edge", **LINK)
    said = words(app)
    assert shown(app) or app.info or app.warning
    assert not app.error, [error.value for error in app.error]
    assert "nan" not in re.findall(r"[\w]+", said.lower())
    wrong = rf"[Tt]his is the linear model|{LABEL}[^.·(]*(K =|m =|γ =|C =)|{LABEL} RankSVM"
    assert not [line for line in said.splitlines() if LABEL in line and re.search(wrong, line)]


def test_train_and_convergence_draw_rounds_and_importance(
    open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    link = {"data": "edge", **LINK}
    said = words(open_page("train", **link))
    assert "of what the splits gain" in said
    assert "NDCG@10 on the validation part was highest there" in said
    app = open_page("convergence", **link)
    assert len(figures(app)) == 1
    assert "steps of a solver, gaps and preconditioners do not apply" in words(app)
