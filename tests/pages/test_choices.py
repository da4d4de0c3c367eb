"""Landmarks and frequencies: the address sets them, the model has them, captions name them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest_pages import words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, execute
from ui.controls.settings import state_of

Opener = Callable[..., AppTest]
SPEC = RunSpec("synthetic-demo", n_components=50, C=2.0**-4, gamma=2.0**-2)


@pytest.mark.parametrize(
    ("link", "choice", "said"),
    [
        ({"map": "Nyström", "landmarks": "k-means++"}, {"landmarks": "kmeans++"}, "k-means++ landmarks"),
        ({"map": "random Fourier", "freq": "orthogonal"}, {"frequencies": "orthogonal"}, "orthogonal freq"),
    ],
)
def test_choices_of_the_map_come_from_the_address(
    open_page: Opener, link: dict[str, str], choice: dict[str, str], said: str
) -> None:
    app = open_page("train", m=10, **link)
    feature_map = "nystroem" if "landmarks" in choice else "fourier"
    record = execute(SPEC.but(n_components=10, feature_map=feature_map, **choice))
    assert app.metric[0].value == f"{record.metrics['vali']['NDCG@10'].mean():.3f}"
    assert said in words(app)
    assert state_of(record.spec) == {key: app.session_state[key] for key in state_of(record.spec)}


def test_captions_name_the_choices_of_both_maps(open_page: Opener) -> None:
    app = open_page(None, m=5, landmarks="k-means++", freq="orthogonal")
    assert "m = 5, k-means++ landmarks" in words(app)
    assert "random Fourier alike, orthogonal frequencies" in words(app)
    assert not app.sidebar.selectbox(key="landmarks").disabled
    assert app.sidebar.selectbox(key="freq").disabled
