"""The Playground in a browser: frames a second while a document is dragged, and milliseconds of a fit.

`python -m benchmarks frames` needs Chromium and Node.js, and writes results/frames.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
from playwright.sync_api import Browser

from benchmarks import report
from tools import lessons
from tools.browser import REPOSITORY, chromium

EACH, FEATURES = (17, 33, 50), (10, 50, 100)
"""Documents of each of three queries, and numbers of features m."""
MAPS = {"Nyström": "nystroem", "random Fourier": "fourier"}
SECONDS, WARM_UP = 2.0, 1.0

DRAG = """async ([milliseconds, x, y]) => {
    const svg = document.querySelector('.playground .square svg'), times = [], began = performance.now();
    while (performance.now() - began < milliseconds) {
        const now = await new Promise(requestAnimationFrame), turn = (now - began) / 300;
        const at = {clientX: x + 60 * Math.cos(turn), clientY: y + 60 * Math.sin(turn)};
        svg.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, ...at}));
        times.push(now);
    }
    return times;
}"""
"""Moves the held document along a circle, once a frame; returns the times of frames."""
FIT = """
import { trained } from "./ui/browser/playground/model.js";
const documents = %s.map(([id, x, y, grade, query]) => ({ id, x, y, grade, query }));
const settings = { map: "%s", loss: "squaredHinge", seed: 0, m: %d, gamma: 2, C: 1 };
const world = { documents, settings, moved: new Map(), turned: new Map() };
const first = documents[0], times = [], { x, y } = first, factors = {};
let { weights } = trained(world);
for (let turn = 0; turn < 300; turn++) {
  Object.assign(first, { x: x + 0.2 * Math.cos(turn / 18), y: y + 0.2 * Math.sin(turn / 18) });
  const began = process.cpuUsage();
  ({ weights } = trained(world, weights, factors));
  const { user, system } = process.cpuUsage(began);
  times.push((user + system) / 1000);
}
console.log(times.slice(100).sort((a, b) => a - b)[100]);
"""
"""Prints the median processor milliseconds of a fit from the last weights, with one document moving."""


def fit_milliseconds(documents: list[Any], name: str, m: int) -> float:
    """Return the processor milliseconds of a fit in Node.js, with its map."""
    code = FIT % (json.dumps(documents), name, m)
    command = ["node", "--input-type=module", "-e", code]
    told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return float(told.stdout)


def dragged(browser: Browser, address: str) -> dict[str, float]:
    """Drag a document of the Playground; return frames a second and what each takes of the main thread."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(address)
    page.wait_for_timeout(1000)
    box = page.locator(".playground .square").bounding_box()
    mark = page.locator(".playground .mark.document").nth(20).bounding_box()
    assert box is not None
    assert mark is not None
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    page.mouse.down()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.evaluate(DRAG, [1000 * WARM_UP, *middle])
    before = _busy(browser)
    times = page.evaluate(DRAG, [1000 * SECONDS, *middle])
    busy, gaps = _busy(browser) - before, pd.Series(times).diff().dropna()
    page.mouse.up()
    page.close()
    return {
        "frames a second": 1000 * len(gaps) / gaps.sum(),
        "95 % of frames within, ms": gaps.quantile(0.95),
        "main thread, CPU ms a frame": 1000 * busy / len(times),
    }


def _busy(browser: Browser) -> float:
    """Return the processor seconds of the main threads of pages."""
    session = browser.new_browser_cdp_session()
    pids = {
        one["id"]
        for one in session.send("SystemInfo.getProcessInfo")["processInfo"]
        if one["type"] == "renderer"
    }
    session.detach()
    threads = [thread for pid in pids for thread in psutil.Process(pid).threads() if thread.id == pid]
    return sum(one.user_time + one.system_time for one in threads)


def offered() -> dict[str, Any]:
    """Return what the Playground's file shows, with the sizes that are measured."""
    usual, lessons.EACH = lessons.EACH, (*lessons.EACH, *EACH)
    sent = lessons.playground()
    lessons.EACH = usual
    for sliders in sent["sliders"].values():
        for one in sliders:
            if one["name"] == "m":
                one |= {"steps": list(FEATURES), "shown": [f"m = {m}" for m in FEATURES], "raw": 50}
    return sent


def measure() -> pd.DataFrame:
    """Measure every number of documents and of features with both maps."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        sent, file = offered(), Path(folder) / "playground.html"
        file.write_text(lessons.filled("Playground", "playground", sent, lessons.script("playground")))
        for (label, name), each, m in product(MAPS.items(), EACH, FEATURES):
            documents = sent["sets"][f"Ring {each}"]
            row = {"map": label, "documents": len(documents), "m": m}
            row |= {"fit, CPU ms": fit_milliseconds(documents, name, m)}
            address = f"{file.as_uri()}#pmap={label.replace(' ', '+')}&pset=Ring&peach={each}&pm={m}"
            rows.append(row | dragged(browser, address))
    return pd.DataFrame(rows)


def main() -> None:
    """Measure, and write the table."""
    notes = (
        "A document of the ring is held and moves at every frame, for 2 s after 1 s of warm-up, in headless "
        "Chromium without a graphics card, which draws at most 60 frames a second. The fit starts from the "
        "last weights, in Node.js, with the map; m = 100 features of fewer documents are those that exist."
    )
    report.write("frames", "The Playground while a document is dragged", measure(), [notes])


if __name__ == "__main__":
    main()
