"""The page of lessons: what the browser is sent, the state in the address, links to pages."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from conftest_pages import Opener, components
from streamlit.testing.v1 import AppTest

from rankviz.learning.losses import LOSSES
from rankviz.plots.style import DATA_COLOUR, GRADE_COLOURS, style_of
from ui.controls.lesson_texts import lesson_of
from ui.controls.navigation import ENTRIES
from ui.learn import lessons as views
from ui.learn.lessons import FOLDER, MOVED, gap_of, order, prediction, texts
from ui.learn.playground_scene import Scene
from ui.shell.figures import ON_DARK


def sent(app: AppTest) -> dict[str, Any]:
    """Return what the page sends to the frame of lessons."""
    (data,) = components(app)
    return data


def test_the_first_lesson_is_shown_and_a_link_opens_any_step(open_by_menu: Opener) -> None:
    data = sent(open_by_menu("lessons"))
    assert data["text"] == texts(order()[0])
    assert data["words"] == texts("frame")
    assert data["state"] == {"lesson": order()[0], "step": 0, "guess": ""}
    assert data["next"]["lesson"] == order()[1]
    app = open_by_menu("lessons", lesson="ndcg", step="3", guess="0.7_0.5_0.6")
    assert sent(app)["state"] == {"lesson": "ndcg", "step": 2, "guess": "0.7_0.5_0.6"}
    assert app.query_params["lesson"] == "ndcg"
    assert not app.warning


def test_the_number_of_a_lesson_opens_it(open_by_menu: Opener) -> None:
    for number, name in ((1, "pairs"), (9, "alpha")):
        app = open_by_menu("lessons", lesson=str(number), step="2")
        assert not app.warning
        assert sent(app)["state"] == {"lesson": name, "step": 1, "guess": ""}
        assert lesson_of("lessons", {"lesson": str(number)}) == name


def test_the_last_lesson_has_no_next_one(open_by_menu: Opener) -> None:
    assert sent(open_by_menu("lessons", lesson=order()[-1]))["next"] is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("step", "6"), ("step", "x"), ("guess", "<b>"), ("guess", "1" * 700)],
)
def test_what_a_link_says_wrongly_is_reported(open_by_menu: Opener, key: str, value: str) -> None:
    app = open_by_menu("lessons", **{key: value})
    assert key in app.warning[0].value
    assert sent(app)["state"] == {"lesson": order()[0], "step": 0, "guess": ""}


@pytest.mark.parametrize("name", ["nosuch", "10", "0"])
def test_an_unknown_lesson_is_named_once_and_the_menu_stays_where_it_is(
    open_by_menu: Opener, name: str
) -> None:
    app = open_by_menu("lessons", lesson=name)
    assert [f"“{name}”" in one.value for one in app.toast] == [True]
    assert not app.warning
    assert sent(app)["state"] == {"lesson": order()[0], "step": 0, "guess": ""}
    assert not app.run().toast


def test_the_state_follows_the_browser_and_the_menu(open_by_menu: Opener) -> None:
    app = open_by_menu("lessons")
    told = {"lesson": "loss", "step": 2, "guess": "1_0.5"}
    for key, value in told.items():
        app.session_state[key] = value
    app.run()
    assert sent(app)["state"] == told
    assert [app.query_params[key] for key in ("lesson", "step", "guess")] == ["loss", "3", "1_0.5"]
    menu = next(box for box in app.selectbox if box.key == views._MENU)
    menu.set_value("ndcg").run()
    assert sent(app)["state"] == {"lesson": "ndcg", "step": 0, "guess": ""}
    assert "guess" not in app.query_params


def test_a_message_counts_more_than_an_address_that_lags_behind(open_by_menu: Opener) -> None:
    app = open_by_menu("lessons", lesson="loss", step="2")
    told = {"lesson": "loss", "step": 3, "guess": "shown"}
    for key, value in {**told, views._TOLD: True}.items():
        app.session_state[key] = value
    app.query_params["step"] = "1"
    app.run()
    assert sent(app)["state"] == told
    app.query_params.clear()
    app.query_params["lesson"] = "ndcg"
    app.run()
    assert sent(app)["state"]["lesson"] == "ndcg", "a link of another page"


def test_messages_are_taken_only_with_their_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(views.st, "session_state", state)
    views._take({"lesson": "ndcg", "step": 4, "guess": "shown"})
    views._take({"lesson": "nosuch", "step": 1, "guess": ""})
    views._take({"lesson": "loss", "step": 5, "guess": ""})
    assert {key: state[key] for key in views.STATE} == {"lesson": "ndcg", "step": 4, "guess": "shown"}
    good = {"lesson": "ndcg", "step": 4, "guess": "0_-1.5"}
    assert MOVED(good)
    wrong = ({"step": "1"}, {"guess": "a"}, {"guess": 1}, {"lesson": 3})
    assert not any(MOVED(good | one) for one in wrong)
    assert [prediction(one) for one in ("", "shown", "1__2", "-0.5_2")] == [True, True, False, True]


@pytest.mark.parametrize("name", order())
def test_the_lecturer_of_a_class_sees_no_text_that_a_participant_makes_up(name: str) -> None:
    (low, high), gap = (texts(name)["steps"][2]["gap"][key] for key in ("ends", "value"))
    for number in (f"{low:g}", f"{high:g}", f"+{high:g}", f"{(low + high) / 2:.3f}"):
        assert gap_of(name, gap.replace("{gap}", number.replace("-", "−"))) == float(number)
    for number in (f"{low - 1:g}", f"{high + 1:g}", "999999", "-999999.999"):
        assert gap_of(name, gap.replace("{gap}", number.replace("-", "−"))) is None
    wrong = [
        "",
        None,
        3,
        "\ud800",
        "# 3",
        "$\\rule{9em}{9em}$",
        "3 fools",
        "**3**",
        "3\n",
        "٣",
        "9" * 80,
        ["3"],
    ]
    assert {gap_of(name, one) for one in wrong} == {None}


def test_the_browser_has_the_colours_of_grades() -> None:
    source = (FOLDER / "kit" / "look.js").read_text(encoding="utf-8")
    lists = [json.loads(found) for found in re.findall(r"= (\[\"#.*?\]);", source)]
    assert lists == [list(GRADE_COLOURS), [ON_DARK[one] for one in GRADE_COLOURS]]


def test_links_to_the_playground_are_read_there(open_by_menu: Opener) -> None:
    source = (FOLDER / "examples" / "turning.js").read_text(encoding="utf-8")
    assert "playground?peach=1&docs=" in source
    scene = Scene(each=1).read("_".join(f"{k}.{10 * k}.-5.{k % 3}.{k // 4}" for k in range(8)))
    assert len(scene.documents) == 8
    assert {one.query for one in scene.documents.values()} == {0, 1}
    app = open_by_menu("playground", peach="1", docs=scene.line, pc="4", ploss="logistic")
    assert not app.warning
    assert app.session_state["pc"] == 4
    labels = {loss.label for loss in LOSSES.values()}
    core = (FOLDER.parent / "core" / "losses.js").read_text(encoding="utf-8")
    assert set(re.findall(r'label: "([\w ]+)"', core)) - {"0/1"} <= labels


def test_texts_are_plain_texts() -> None:
    """A text is shown literally, so it has no Markdown and no HTML."""
    for name in ["frame", *order()]:
        for text in _strings(texts(name)):
            assert not re.search(r"[<>*`]|\]\(", text), text


def _strings(value: Any) -> list[str]:
    if not isinstance(value, dict | list):
        return [value] if isinstance(value, str) else []
    return [text for one in (value.values() if isinstance(value, dict) else value) for text in _strings(one)]


ROOT = Path(__file__).parents[2]
NODE = shutil.which("node", path=os.pathsep.join([os.environ.get("PATH", ""), str(ROOT / ".venv" / "bin")]))


@pytest.fixture(scope="module")
def links() -> dict[str, str]:
    """Return the link of each lesson's last step, from one process of node."""
    if NODE is None:
        pytest.skip("there is no node here: `make js` brings one")
    script = [NODE, str(ROOT / "tests" / "js" / "lesson_links.js")]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, str] = json.loads(ended.stdout)
    return found


def test_the_playground_reads_the_documents_of_every_lesson(links: dict[str, str]) -> None:
    counts = {}
    for lesson, link in links.items():
        page, _, query = link.partition("?")
        if page == "playground":
            scene = Scene(each=1).read(dict(parse_qsl(query)).get("docs", ""))
            counts[lesson] = len(scene.documents)
    assert {lesson: counts[lesson] for lesson in ("kernel", "nystroem", "fourier", "regularisation")} == {
        "kernel": 48,
        "nystroem": 40,
        "fourier": 40,
        "regularisation": 24,
    }


@pytest.mark.parametrize(
    ("lesson", "settings"),
    [
        ("kernel", {"pmap": "exact kernel", "pg": 0, "pc": 0}),
        ("nystroem", {"pmap": "Nyström", "pm": 3, "pg": 1, "pc": 0}),
        ("fourier", {"pmap": "random Fourier", "pm": 6}),
        ("regularisation", {"pmap": "linear", "pc": -5}),
        ("alpha", {"map": "linear", "loss": "squared hinge", "c": -5}),
    ],
)
def test_a_link_opens_its_page_in_the_same_state(
    links: dict[str, str], open_by_menu: Opener, lesson: str, settings: dict[str, object]
) -> None:
    page, _, query = links[lesson].partition("?")
    params = dict(parse_qsl(query))
    assert {name: params[name] for name in settings} == {name: str(one) for name, one in settings.items()}
    assert not open_by_menu(page, **params).warning


def test_the_end_of_the_lessons_leads_to_pages() -> None:
    titles = {entry.file: entry.title for entry in ENTRIES}
    for one in texts("frame")["end"]["pages"]:
        assert one["text"].startswith(f"{titles[one['page']]}: ")


def test_a_method_has_the_same_colour_as_on_every_page() -> None:
    source = (FOLDER / "kit" / "parts.js").read_text(encoding="utf-8")
    found = {name: pair for name, *pair in re.findall(r'(\w+): \["(#\w+)", "(#\w+)"\]', source)}
    light = {name: style_of(name).colour for name in ("nystroem", "fourier", "exact")} | {"data": DATA_COLOUR}
    assert found == {name: [colour, ON_DARK[colour]] for name, colour in light.items()}
