"""The visitor's own metric in the menu of all pages: its values, what cannot be read, and other pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import Opener, words

from ui.work.metrics import OWN

pytestmark = pytest.mark.usefixtures("every_tab")

SAME = "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15})@10"
"""Gains of 2^y − 1 by grade, so that both are equal."""
OF_CHANGES = ["why", "convergence", "low_rank"]
"""Pages that tell the effect of a changed setting by the metric, and nothing else."""
PAGES = ["train", "what_if", "side_by_side", "influence", "ndcg_vs_m", *OF_CHANGES]


@pytest.mark.parametrize("page", PAGES)
def test_own_gains_are_computed_on_every_page(
    page: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set("small")
    own = open_page(page, data="edge", m=10, upto=25, metric=OWN, own=SAME)
    assert not own.exception
    assert not own.error
    assert own.text_input(key="own").value == SAME
    if page in OF_CHANGES:
        own.sidebar.select_slider(key="m").set_value(25).run()
    assert SAME.lower() in words(own).replace("\u2060", "").lower()


@pytest.mark.parametrize("text", ["", "<b>x</b>@5"])
def test_what_is_no_metric_here_is_told_and_the_usual_one_is_shown(text: str, open_page: Opener) -> None:
    app = open_page("train", m=10, metric=OWN, own=text)
    assert not app.exception
    (told,) = [one.value for one in app.caption if "Write a metric in the field" in one.value]
    assert "<b>" not in told


def test_a_grade_without_a_gain_is_told(open_page: Opener) -> None:
    app = open_page("train", m=10, metric=OWN, own="nDCG(gains={1: 1})@5")
    assert not app.exception
    assert "has no gain: give gains of the grades 1 to" in app.error[0].value


def test_a_record_with_an_own_metric_is_stored_without_it(open_page: Opener) -> None:
    from rankviz.metrics.evaluation import COLUMNS
    from ui.work.runs import remembered

    open_page("train", m=10, metric=OWN, own=SAME)
    assert all(tuple(record.metrics["vali"]) == COLUMNS for record in remembered())
