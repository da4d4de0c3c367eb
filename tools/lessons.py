"""Write the lessons and the Playground as single HTML files that open from a disk: `make lessons`.

One file has all lessons, each lesson has its own, and one has the Playground. A file contains its scripts,
style and texts, so it needs no server and no network. esbuild joins the scripts. The documentation has the
same files.
"""

from __future__ import annotations

import html
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

from rankviz.common.settings import Setting
from rankviz.datasets.synthetic import PLANES
from ui.learn import playground as views
from ui.learn import playground_words as words
from ui.learn.playground_scene import Scene

REPOSITORY = Path(__file__).resolve().parent.parent
BROWSER = REPOSITORY / "ui" / "browser"
LESSONS = BROWSER / "lessons"
STYLES = {
    "lessons": ("lessons/alone.css", "lessons/lesson.css"),
    "playground": ("lessons/alone.css", "playground/alone.css", "playground/plane.css"),
}
EACH = (1, 8, 16, 50)
"""Numbers of documents of each query that the Playground's file offers; links from lessons have 1."""
START = """
import { start } from "./alone.js";
start(document.querySelector("main"), JSON.parse(document.getElementById("texts").textContent));
"""
ESBUILD = REPOSITORY / "tests" / "js" / "node_modules" / "esbuild" / "bin" / "esbuild"

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
<body>
<main></main>
<script type="application/json" id="texts">{texts}</script>
<script>{code}</script>
</body>
</html>
"""


def script(folder: str = "lessons") -> str:
    """Return one script with all that a file needs; FileNotFoundError without esbuild (see `make js`)."""
    command = [str(ESBUILD), "--bundle", "--minify", "--charset=utf8"]
    how = {"capture_output": True, "text": True, "encoding": "utf-8", "check": True}
    return subprocess.run(command, input=START, cwd=BROWSER / folder, **how).stdout


def texts(name: str) -> dict[str, Any]:
    """Return a file of texts: "frame", or a lesson's."""
    found: dict[str, Any] = json.loads((LESSONS / "texts" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def page(names: list[str], code: str) -> str:
    """Return the HTML of lessons with these names; `code` is the script."""
    own = {name: texts(name) for name in ("frame", *names)}
    return filled(own[names[0]]["title"], "lessons", own, code)


def filled(title: str, folder: str, data: dict[str, Any], code: str) -> str:
    """Return the HTML of a file that shows `data` by the script `code`."""
    return PAGE.format(
        title=html.escape(title),
        style="".join((BROWSER / name).read_text(encoding="utf-8") for name in STYLES[folder]),
        texts=json.dumps(data, ensure_ascii=False).replace(
            "<", "\\u003c"
        ),  # else a text could end the element
        code=code,
    )


def playground() -> dict[str, Any]:
    """Return what the Playground's file shows: menus, sets, and the looks of each map and theme."""
    menus = [
        _menu(setting, {one.label: name for name, one in setting.domain.options.items()}, setting.default)
        for setting in (views.PLANE, views.MAP, views.PLANE_LOSS)
    ]
    menus.insert(1, _menu(views.EACH, {str(each): str(each) for each in EACH}, str(views.EACH.default)))
    return {
        "title": "Playground in the plane",
        "unread": words.UNREADABLE,
        "menus": menus,
        "keys": {name: setting.key for name, setting in views.SLIDERS.items()},
        "sets": {
            f"{one.label} {each}": views.packed(Scene(name, each))["documents"]
            for (name, one), each in product(PLANES.items(), EACH)
        },
        "looks": {
            f"{theme} {name}": views.look(name, dark=theme == "dark")
            for theme, name in product(("light", "dark"), views.MAPS)
        },
        "sliders": {
            name: [views.slider(one, one.default, name) for one in views.SLIDERS.values()]
            for name in views.MAPS
        },
    }


def _menu(setting: Setting, codes: dict[str, str], first: str) -> dict[str, Any]:
    """Return a menu: its texts with their codes, as the address has them, and the first."""
    shown = next(text for text, code in codes.items() if code == first)
    return {
        "key": setting.key,
        "label": setting.label,
        "options": list(codes),
        "codes": codes,
        "first": shown,
    }


def write(folder: Path) -> list[Path]:
    """Write all files into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    names, code, written = texts("frame")["lessons"], script(), []
    pages = {file: page(own, code) for file, own in [("lessons", names), *((name, [name]) for name in names)]}
    plane = playground()
    pages["playground"] = filled(plane["title"], "playground", plane, script("playground"))
    for file, text in pages.items():
        written.append(folder / f"{file}.html")
        written[-1].write_text(text, encoding="utf-8")
    return written


if __name__ == "__main__":
    for one in write(Path(sys.argv[1] if len(sys.argv) > 1 else "lessons")):
        print(f"{one}: {one.stat().st_size / 1000:.0f} kB")
