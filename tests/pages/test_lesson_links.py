"""What lessons share with pages: links, which their pages read, and colours of methods."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from conftest_pages import Opener

from rankviz.plots.style import DATA_COLOUR, style_of
from ui.controls.navigation import ENTRIES
from ui.learn.lessons import FOLDER, texts
from ui.learn.playground_scene import Scene
from ui.shell.figures import ON_DARK

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
