"""The exact kernel in the sidebar: the library's numbers, what it greys out, how it is stored."""

import re
from collections.abc import Callable

import pytest
from conftest_pages import Opener, execute, figures, words
from test_home_train import lines

from rankviz import RunSpec
from rankviz.metrics.significance import compare
from ui.controls.settings import state_of

pytestmark = pytest.mark.usefixtures("every_tab")
EXACT = {"map": "exact kernel"}
SPEC = RunSpec("synthetic-demo", C=2.0**-4, gamma=2.0**-2).exact()


def test_train_shows_the_exact_model_and_how_its_kernel_was_stored(open_page: Opener) -> None:
    app = open_page("train", **EXACT)
    linear, exact = execute(SPEC.linear(2.0**-10)), execute(SPEC)
    assert app.metric[0].value == f"{exact.metrics['vali']['NDCG@10'].mean():.3f}"
    assert list(lines(figures(app)[0])) == ["linear, C = 2⁻¹⁰", "exact kernel"]
    left, right = (record.metrics["vali"]["NDCG@10"] for record in (exact, linear))
    said = compare(left, right).sentence("the exact kernel", "the linear model (C = 2⁻¹⁰)", "NDCG@10")
    assert said[1:] in words(app)
    said = (
        r"This run took .*predicted: .*kernel stored in float64, hard Newton steps take up to \d+ MB more\)"
    )
    assert re.search(said, words(app))
    assert state_of(exact.spec) == {key: app.session_state[key] for key in state_of(exact.spec)}


def test_home_draws_the_exact_level_beside_the_approximations(open_page: Opener) -> None:
    app, exact = open_page("home", **EXACT), execute(SPEC).metrics["vali"]["NDCG@10"]
    drawn = lines(figures(app)[0])
    assert {"linear (no m)", "exact kernel (no m)", "Nyström", "random Fourier"} <= set(drawn)
    assert drawn["exact kernel (no m)"][0] == pytest.approx(exact.mean())
    linear = execute(SPEC.linear(2.0**-10)).metrics["vali"]["NDCG@10"]
    assert compare(exact, linear).sentence("The exact kernel", "the linear model", "NDCG@10") in words(app)


def test_a_small_kernel_is_factored(open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("tiny")
    assert "(kernel factored)" in words(open_page("train", data="edge", **EXACT))
