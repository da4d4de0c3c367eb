"""Write the lessons as single HTML files that open from a disk: `make lessons`.

One file has all lessons, and each lesson has its own. A file contains its scripts, style and texts, so it
needs no server and no network. esbuild joins the scripts. The documentation has the same files.
"""

from __future__ import annotations

import html
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
LESSONS = REPOSITORY / "ui" / "browser" / "lessons"
START = """
import { start } from "./alone.js";
start(document.getElementById("lessons"), JSON.parse(document.getElementById("texts").textContent));
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
<main id="lessons"></main>
<script type="application/json" id="texts">{texts}</script>
<script>{code}</script>
</body>
</html>
"""


def script() -> str:
    """Return one script with all that a lesson needs; FileNotFoundError without esbuild (see `make js`)."""
    command = [str(ESBUILD), "--bundle", "--minify", "--charset=utf8"]
    how = {"capture_output": True, "text": True, "encoding": "utf-8", "check": True}
    return subprocess.run(command, input=START, cwd=LESSONS, **how).stdout


def texts(name: str) -> dict[str, Any]:
    """Return a file of texts: "frame", or a lesson's."""
    found: dict[str, Any] = json.loads((LESSONS / "texts" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def page(names: list[str], code: str) -> str:
    """Return the HTML of lessons with these names; `code` is the script."""
    own = {name: texts(name) for name in ("frame", *names)}
    data = json.dumps(own, ensure_ascii=False)
    return PAGE.format(
        title=html.escape(own[names[0]]["title"]),
        style="".join((LESSONS / name).read_text(encoding="utf-8") for name in ("alone.css", "lesson.css")),
        texts=data.replace("<", "\\u003c"),  # else a text could end the element
        code=code,
    )


def write(folder: Path) -> list[Path]:
    """Write all files into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    names, code, written = texts("frame")["lessons"], script(), []
    for file, own in [("lessons", names), *((name, [name]) for name in names)]:
        written.append(folder / f"{file}.html")
        written[-1].write_text(page(own, code), encoding="utf-8")
    return written


if __name__ == "__main__":
    for one in write(Path(sys.argv[1] if len(sys.argv) > 1 else "lessons")):
        print(f"{one}: {one.stat().st_size / 1000:.0f} kB")
