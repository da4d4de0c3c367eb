"""The app under load: `make soak ARGS="class"`, `"visitors"` or `"long"`; `--help` lists the options."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.soak_app import App, Watch, app_of
from benchmarks.streamlit_client import Visitor
from tools.browser import REPOSITORY, isolated

VISITORS, WITHIN = 30, 10.0
"""A class: so many sessions opened evenly within so many seconds."""
PATIENCE = 180.0
"""Seconds after which a page that has not come to rest is left, and jobs that go on are."""


async def arrive(visitors: list[Visitor], within: float) -> None:
    """Have visitors open Home one after the other, and wait until all pages are at rest."""

    async def one(place: int, visitor: Visitor) -> None:
        await asyncio.sleep(place * within / len(visitors))
        await visitor.open()
        await visitor.rest(PATIENCE)

    await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))


async def jobs_ended(watch: Watch) -> None:
    """Wait until no job is live, for a while."""
    deadline = time.monotonic() + PATIENCE
    while watch.jobs.live and time.monotonic() < deadline:
        await asyncio.sleep(0.5)


async def classes(app: App, watch: Watch, kind: str, number: int) -> list[dict[str, object]]:
    """A class that comes to a server just started, and the same one again."""
    visitors = [Visitor(app.server.url) for _ in range(number)]
    rows = []
    for turn in (kind, "warm"):
        began, clock, cpu, own = time.time(), time.monotonic(), watch.cpu_seconds(), own_cpu_seconds()
        counts = watch.jobs.counts()
        seen = [len(visitor.failures) for visitor in visitors]
        await arrive(visitors, WITHIN)
        rested = time.monotonic() - clock
        await jobs_ended(watch)
        await asyncio.sleep(1.0)  # the watch looks every half second
        watch.jobs.look()
        visits = [visitor.requests[-1] for visitor in visitors]
        row: dict[str, object] = {"server": turn}
        for name, values in (
            ("figure", [visit.figure for visit in visits]),
            ("script", [visit.ended for visit in visits]),
            ("at rest", [visit.rested for visit in visits]),
        ):
            there = [value for value in values if value == value]
            row[f"{name}, median s"] = statistics.median(there) if there else float("nan")
            row[f"{name}, worst s"] = max(there) if len(there) == len(values) else float("inf")
        said = Counter(text for visitor in visitors for (level, text) in visitor.page.said if level == "error")
        failures = sum(len(v.failures) - n for v, n in zip(visitors, seen, strict=True))
        row |= {"errors": sum(said.values()), "failures": failures}
        row |= {name: n - counts[name] for name, n in watch.jobs.counts().items()}
        last = watch.jobs.last_end()
        row["last job ended, s"] = last - began if last > began else float("nan")
        row["server's CPU s"] = watch.cpu_seconds() - cpu
        row["clients' CPU s"] = own_cpu_seconds() - own
        row["scripts"] = sum(v.scripts for v in visitors)
        row["fragments"] = sum(v.fragments for v in visitors)
        row["in all, s"] = rested
        for text, n in said.most_common(3):
            print(f"  said {n} times: {text[:300]}")
        for visitor in visitors:
            for text in visitor.failures[:1]:
                print("  failure:", text)
        print(row, flush=True)
        rows.append(row)
        for visitor in visitors:
            visitor.scripts = visitor.fragments = 0
            await visitor.close()
    return rows


def own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def prepared(folder: Path, scratch: Path, environment: dict[str, str]) -> bool:
    """Have the project prepare its default figures, where it can."""
    if not (folder / "ui" / "defaults.py").is_file():
        return False
    own = isolated(scratch) | {"RANKVIZ_RUNS": str(scratch / "runs")} | environment
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "ui.defaults"], cwd=folder, env=own, check=True)
    print(f"prepared in {time.monotonic() - began:.1f} s")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("what", choices=["class"])
    parser.add_argument("--app", type=Path, default=REPOSITORY)
    parser.add_argument("--visitors", type=int, default=VISITORS)
    parser.add_argument("--bounds", default="class")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    environment = {"RANKVIZ_BOUNDS": chosen.bounds}
    for kind in ("cold", "prepared"):
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name)
            if kind == "prepared" and not prepared(chosen.app, scratch, environment):
                continue
            with app_of(chosen.app, scratch, environment) as app, Watch(app) as watch:
                asyncio.run(classes(app, watch, kind, chosen.visitors))
                print("workers", len(watch.workers), "peak MB", watch.peak())
                if "Traceback" in app.server.log():
                    print(app.server.log()[-3000:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
