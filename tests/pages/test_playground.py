"""The playground: what lies in the plane, what its link says, and what the page answers."""

import re
from typing import Any

import numpy as np
import pytest
from conftest_pages import Opener, components, tell, words
from streamlit.testing.v1 import AppTest

from rankviz.datasets.letor import parse_letor
from rankviz.datasets.synthetic import PLANES, make_plane
from rankviz.learning.losses import LOSSES
from ui.learn import playground as views
from ui.learn import playground_scene as scenes
from ui.learn import playground_words as said
from ui.learn.playground import letor
from ui.learn.playground_scene import EDGE, LONGEST, MOST, Document, PlaneState, Scene
from ui.shell.components import SCRIPTS

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
        {"kind": "frequency", "number": 0, "x": 0},
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
    changed = changed.after({"kind": "frequency", "number": 11, "x": 9, "y": -0.5})
    assert changed.line == "2.50.-25.3.1_9.-100.-25.3.1_4_z3.7.-115_w11.350.-50"
    assert changed.by_hand == 5
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


def test_a_message_of_many_changes_draws_the_set_once_and_too_many_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(scenes, "make_plane", lambda *of, **how: drawn.append(1) or make_plane(*of, **how))
    held = PlaneState(Scene(seed=2**31 - 7))
    changes = [
        {"rev": k, "kind": "put", "id": 1, "x": k, "y": 0, "grade": 0, "query": 0} for k in range(1000)
    ]
    for change in changes:
        held.take(change)
    assert len(drawn) == 1
    assert scenes.CHANGES(changes)
    assert not scenes.CHANGES([*changes, changes[0]])


def test_a_slider_beside_the_plane_is_in_the_address(open_page: Opener) -> None:
    app = open_page("playground", pmap="Nyström", pg=3)
    sliders = {one["name"]: one for one in sent(app)["sliders"]}
    assert [sliders[name]["raw"] for name in ("m", "gamma", "C")] == [12, 3, 0]
    assert sliders["gamma"]["shown"][sliders["gamma"]["steps"].index(-1)] == "γ = 2⁻¹"
    assert not any(one["unread"] for one in sliders.values())
    change = {"rev": 1, "kind": "set", "name": "gamma", "raw": -1}
    tell(app, "changes", [change])
    assert app.query_params["pg"] == "-1"
    assert "γ = 2⁻¹" in words(app)
    for wrong in ({"name": "gamma", "raw": 99}, {"name": "seed", "raw": 1}, {"name": ["m"], "raw": {}}):
        tell(app, "changes", [change, change | {"rev": 2} | wrong])
        assert app.query_params["pg"] == "-1"


def test_the_browser_is_told_what_the_map_reads(open_page: Opener) -> None:
    linear = sent(open_page("playground"))
    assert [one["name"] for one in linear["sliders"] if one["unread"]] == ["m", "gamma"]
    assert not linear["kernel"]
    exact = sent(open_page("playground", pmap="exact kernel"))
    assert not any(one["unread"] for one in exact["sliders"])
    fourier = sent(
        open_page("playground", pmap="random Fourier", ploss="hinge", peach=2, docs="w3.350.-20_z1.5.7")
    )
    assert (fourier["map"], fourier["loss"], fourier["kernel"], fourier["approximates"]) == (
        "fourier",
        "hinge",
        True,
        True,
    )
    assert fourier["turned"] == [[3, 3.5, -0.2]]
    assert fourier["moved"] == [[1, 0.05, 0.07]]


def test_every_map_and_loss_is_offered_that_the_small_core_trains(open_page: Opener) -> None:
    app = open_page("playground")
    assert app.selectbox(key="pmap").options == [one.label for one in views.MAPS.values()]
    assert app.selectbox(key="ploss").options == [LOSSES[name].label for name in views.TRAINED]
    script = (SCRIPTS / "core" / "losses.js").read_text("utf-8")
    for name in views.TRAINED:
        assert re.search(rf"^  {re.sub('_(.)', lambda one: one[1].upper(), name)}: ", script, re.MULTILINE)


# --- the page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plane", PLANES)
def test_every_set_is_sent(plane: str, open_page: Opener) -> None:
    app = open_page("playground", pset=PLANES[plane].label)
    assert len(sent(app)["documents"]) == make_plane(plane).n_documents


def test_phrases_name_the_model() -> None:
    assert said.answers(views.MAPS["nystroem"])["who"] == [
        "Nyström with {m} landmark",
        "Nyström with {m} landmarks",
    ]
    assert said.answers(views.MAPS["exact"])["who"] == ["the exact kernel"] * 2
    assert [name for name, kind in views.MAPS.items() if said.answers(kind)["isLinear"]] == ["linear"]


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
    assert "Frobenius" not in sent(open_page("playground"))["words"]["side"]["note"]
