"""The playground: what lies in the plane, what its link says, and what the page answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest_pages import components, words
from streamlit.testing.v1 import AppTest

from rankviz.datasets.letor import parse_letor
from rankviz.datasets.synthetic import PLANES, make_plane
from rankviz.whatif.plane import fit_plane
from ui.learn import playground_words as said
from ui.learn.playground import SIDE, letor, packed
from ui.learn.playground_scene import EDGE, LONGEST, MOST, Document, PlaneState, Scene

Opener = Callable[..., AppTest]
PUT = {"kind": "put", "x": 0.5, "y": -0.25, "grade": 3, "query": 1}


def sent(app: AppTest) -> dict[str, Any]:
    (found,) = components(app)
    return found


# --- the scene ----------------------------------------------------------------------------------------------


def test_a_scene_is_its_set_until_it_is_changed() -> None:
    scene = Scene("moons", 4, 7)
    data = scene.data
    assert data is not None
    assert data.digest == make_plane("moons", documents_per_query=4, seed=7).digest
    assert scene.line == ""
    assert scene.by_hand == 0


def test_documents_are_moved_added_and_taken_away() -> None:
    scene = Scene("ring", 2)
    moved = scene.after(PUT | {"id": 0}).after(PUT | {"id": 6, "x": 9}).after({"kind": "drop", "id": 5})
    assert moved.documents[0] == Document(0.5, -0.25, 3, 1)
    assert moved.documents[6] == Document(EDGE, -0.25, 3, 1)
    assert sorted(moved.documents) == [0, 1, 2, 3, 4, 6]
    data = moved.data
    assert data is not None
    assert data.query_ids.tolist() == [1, 2, 3]
    assert np.diff(data.ptr).tolist() == [1, 4, 1]
    assert moved.after({"kind": "reset"}) == scene


def test_what_the_browser_cannot_mean_changes_nothing() -> None:
    scene = Scene("ring", 2)
    for change in (
        {},
        {"kind": "drop", "id": 99},
        {"kind": "drop", "id": "a"},
        {"kind": "fly", "id": 0},
        PUT,
        PUT | {"id": 0, "grade": 5},
        PUT | {"id": 0, "query": -1},
        PUT | {"id": 0, "x": "nan"},
        PUT | {"id": 0, "x": None},
        PUT | {"id": 10**9},
        {"kind": "landmark", "number": -1, "x": 0, "y": 0},
    ):
        assert scene.after(change) == scene, change


def test_there_is_room_for_so_many_documents() -> None:
    full = Scene("ring", MOST // 3)
    assert full.after(PUT | {"id": MOST}) == full
    assert full.after(PUT | {"id": 0}) != full


def test_a_link_says_all_changes() -> None:
    scene = Scene("xor", 3, 5)
    changed = scene.after(PUT | {"id": 2}).after(PUT | {"id": 9, "x": -1.0}).after({"kind": "drop", "id": 4})
    changed = changed.after({"kind": "landmark", "number": 3, "x": 0.07, "y": -1.15})
    assert changed.line == "2.50.-25.3.1_9.-100.-25.3.1_4_z3.7.-115"
    assert scene.read(changed.line) == changed
    assert scene.read("") == scene


@pytest.mark.parametrize("line", ["x", "1.2", "1.2.3.9.0", "1.2.3.0.7", "z1", "0.0.0.0.0__<b>", "9999"])
def test_a_line_that_says_nothing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"is neither a document|not offered|numbers"):
        Scene().read(line)


def test_a_line_of_too_many_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 150 documents"):
        Scene().read("_".join(f"{k}.0.0.0.0" for k in range(100, 300)))


# --- what the browser tells --------------------------------------------------------------------------------


def test_changes_are_undone_one_after_the_other() -> None:
    held = PlaneState(Scene("ring", 2))
    first = held.scene
    held.take(PUT | {"id": 0})
    second = held.scene
    held.take({"kind": "reset"})
    assert held.scene == first
    for before in (second, first, first):
        held.take({"kind": "undo"})
        assert held.scene == before


def test_the_browser_is_sent_what_it_draws() -> None:
    scene = Scene("ring", 3)
    assert scene.data is not None
    settings = {"feature_map": "nystroem", "n_components": 5, "gamma": 2.0, "C": 1.0}
    fit = fit_plane(scene.data, settings)
    model = packed(scene, fit)["model"]
    steps = len(model["steps"])
    assert model["steps"][-1] == len(fit.path) - 1
    assert len(model["surface"]["values"]) == 4 * -(-2 * steps * SIDE**2 // 3)  # base64 of two bytes each
    assert np.allclose(model["scores"], fit.scores(scene.data.X), rtol=1e-5)
    assert np.array(model["landmarks"]["coefficients"]).shape == (steps, 5)
    assert model["reach"] == pytest.approx(np.sqrt(np.log(2) / 2), abs=0.006)
    assert len(model["kernels"]["matrices"]) == 2
    assert packed(scene, None)["model"] is None


# --- the page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", PLANES)
def test_the_answer_counts_what_is_in_order(plane: str, open_page: Opener) -> None:
    app = open_page("playground", pset=PLANES[plane].label)
    data = make_plane(plane)
    right = fit_plane(data, {"feature_map": "linear", "C": 1.0}).n_ordered
    text = app.header[0].value
    assert text.startswith("After training, the linear model orders ")
    if plane == "linear":
        assert re.fullmatch(
            r"After training, the linear model orders all \d+ pairs; no linear model orders more\.", text
        )
    else:
        found = re.fullmatch(
            r".* orders ([\d,]+) of .*; no linear model orders more(?: than ([\d,]+))?\.",
            text,
        )
        assert found is not None
        assert int(found[1].replace(",", "")) == right


def test_kernels_are_held_against_the_exact_one(open_page: Opener) -> None:
    app = open_page("playground", pset="XOR", pmap="random Fourier", pm=4)
    assert re.fullmatch(
        r"After training, random Fourier with 4 frequencies orders \d+ of \d+ pairs \(\d+ %\), "
        r"the exact kernel (all|\d+); a linear model at most \d+\.",
        app.header[0].value,
    )
    assert len(sent(app)["model"]["waves"]["omega"]) == 3
    exact = open_page("playground", pset="XOR", pmap="exact kernel", pg=4)
    assert exact.header[0].value.startswith("After training, the exact kernel orders all")
    assert len(sent(exact)["model"]["kernels"]["matrices"]) == 1


def test_few_pairs_are_counted_in_words() -> None:
    assert said.of_pairs(1, 1) == "the only pair"
    assert said.of_pairs(0, 1) == "0 of 1 pair (0 %)"
    assert said.of_pairs(999, 1000) == "999 of 1,000 pairs (99 %)"
    assert said.of_pairs(1, 1000) == "1 of 1,000 pairs (1 %)"


def test_a_link_with_documents_is_opened(open_page: Opener) -> None:
    app = open_page("playground", peach=2, docs="0.50.-25.3.1_5", pset="Ring")
    assert [0, 0.5, -0.25, 3, 1] in sent(app)["documents"]
    assert len(sent(app)["documents"]) == 5
    assert "2 changes by hand" in words(app)
    assert app.query_params["docs"] == "0.50.-25.3.1_5"
    app.selectbox(key="pset").set_value("xor").run()
    assert len(sent(app)["documents"]) == 6  # another set begins anew
    assert "docs" not in app.query_params


def test_a_link_that_cannot_be_read_is_said(open_page: Opener) -> None:
    app = open_page("playground", docs="<b>")
    assert "could not be read" in app.warning[0].value
    assert len(sent(app)["documents"]) == 48


def test_changes_too_long_for_a_link_are_said(open_page: Opener) -> None:
    line = "_".join(f"{k}.-100.-100.0.1" for k in range(90))
    assert len(line) > LONGEST
    app = open_page("playground", peach=50, docs=line)
    assert "too long for a link" in words(app)
    assert "docs" not in app.query_params


def test_every_loss_and_the_ends_of_the_settings_give_an_answer(open_page: Opener) -> None:
    for ends in ({"pg": -4, "pc": 10}, {"pg": 6, "pc": -12}, {"ploss": "hinge", "pm": 1}):
        app = open_page("playground", pmap="Nyström", **ends)
        assert "orders" in app.header[0].value


def test_documents_are_saved_as_letor_text() -> None:
    data = Scene("noisy", 5, 2).data
    assert data is not None
    read = parse_letor(letor(data), name="plane.txt")
    assert np.array_equal(read.X, data.X)
    assert np.array_equal(read.y, data.y)


def test_fewer_landmarks_than_asked_for_are_said(open_page: Opener) -> None:
    few = "only 6 landmarks: 6 different documents"
    assert few in words(open_page("playground", pmap="Nyström", peach=2, pm=8))
    assert few not in words(open_page("playground", pmap="Nyström", peach=2, pm=6))
    assert few not in words(open_page("playground", pmap="random Fourier", peach=2, pm=8))


def test_what_is_beside_the_plane_says_the_goal_and_what_off_is(open_page: Opener) -> None:
    side = sent(open_page("playground", pmap="Nyström"))["words"]["side"]
    assert side["goal"] == "Same shape: one query. In each, darker documents should score higher."
    assert "Frobenius" in side["note"]
    assert "Frobenius" not in sent(open_page("playground", pmap="exact kernel"))["words"]["side"]["note"]
