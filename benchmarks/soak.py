"""The app under load: `make soak ARGS="class"`, `ARGS="visitors"`, `ARGS="long"`; with `--help` the options.

The app runs with its own folders; its visitors are those of `benchmarks.streamlit_client`. `--app FOLDER`
measures the app of another checkout. Tables are in benchmarks/results/soak.md, where the rows of an app and a
case replace earlier ones. `ARGS="kills"` kills processes in the middle of sweeps (`store_kills.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import platform
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import store_kills
from benchmarks.report import RESULTS, facts, markdown
from benchmarks.soak_app import App, Sample, Watch, app_of
from benchmarks.streamlit_client import Page, Request, Visitor
from tools.browser import REPOSITORY, isolated

CLASS, WITHIN = 30, 10.0
"""Visitors of a class, and the seconds within which they open Home, one after the other."""
PATIENCE, STEP_PATIENCE = 180.0, 60.0
"""Seconds that pages and jobs may take to end, and that the script of one move may take."""
SETS = {"synthetic": "", "OHSUMED": "data=OHSUMED&m=500"}
"""Data sets, and the queries of their addresses."""
WARM_UP, TICK, ROW = 300.0, 15.0, 300.0
"""Of the long measurement: seconds of warm-up, between samples kept, and between rows."""
STAY = 12
"""Moves after which a visitor of the long measurement leaves and comes back."""
SLIDERS, TITLES = ("m", "c", "g"), ("Home", "Train", "NDCG against m")
JOB_BUTTON = "train-in-background"
EVERY = 5.0
"""Seconds from one move to the next."""

KINDS = {
    "class": (
        "A class opens the app",
        f"{CLASS} visitors open Home within {WITHIN:g} s. Seconds from the visit to the first figure, to "
        "the end "
        "of the script, and until nothing runs any more; jobs, their runs and how often the same one was "
        "trained "
        "at most; processor and memory.",
        (CLASS, 0.0, ""),
    ),
    "visitors": (
        "Visitors who move controls",
        "Each moves a slider by one to three places, changes the page or takes a job that is offered, every "
        "five "
        "seconds. Seconds from the move to the end of its script.",
        (10, 3.0, "synthetic,OHSUMED"),
    ),
    "long": (
        "Visitors who stay",
        f"As above, and each leaves and comes back after {STAY} moves. Memory in MB, threads, open files and "
        "processes; files and MB in the run folder.",
        (5, 30.0, "synthetic"),
    ),
}
"""Measurement -> its title and notes, and the defaults of visitors, minutes and data sets."""


# what visitors do -----------------------------------------------------------------------------------------


def next_step(page: Page, draw: random.Random) -> tuple[str, ...] | tuple[str, str, float | str]:
    """Draw a move: a slider, another page, or a job that is offered; each kind is as likely.

    A job is taken only where no fragment waits for another one: a visitor may have few at a time.
    """
    widgets = page.widgets()
    sliders = [key for key in SLIDERS if key in widgets and not widgets[key].proto.disabled]
    offered = [key for key in widgets if key.startswith(JOB_BUTTON) and not page.timers]
    kind = draw.choice([*sliders, "page", *offered[:1]])
    if kind == "page":
        return "turn_to", draw.choice([title for title in TITLES if title != page.title])
    if kind in offered:
        return "press", kind
    proto, value, places = widgets[kind].proto, page.value(kind), draw.choice((-3, -2, -1, 1, 2, 3))
    if proto.options:
        words = list(proto.options)
        return "move", kind, str(words[_within(words.index(value), places, len(words))])
    count = round((proto.max - proto.min) / proto.step) + 1
    at = _within(round((value - proto.min) / proto.step), places, count)
    return "move", kind, float(proto.min + proto.step * at)


def _within(at: int, places: int, count: int) -> int:
    """Move by some places, in the other direction at an end."""
    return at + places if 0 <= at + places < count else max(0, min(count - 1, at - places))


async def arrive(visitors: Sequence[Visitor], query: str = "") -> None:
    """Open Home in one visitor after the other, evenly, and wait until each page is at rest."""

    async def one(place: int, visitor: Visitor) -> None:
        await asyncio.sleep(place * WITHIN / len(visitors))
        try:
            await visitor.open(query)
        except OSError as error:
            visitor.failures.append(f"{type(error).__name__}: {error}")
            visitor.broken = True
        else:
            await visitor.rest(PATIENCE)

    await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))


async def wander(visitor: Visitor, seed: str, seconds: float, query: str, stay: int = 0) -> list[Request]:
    """Move controls for so many seconds; after `stay` moves (0: never) leave the page and come back.

    The next move is due five seconds after the one before, or when its script has ended. Returns the moves.
    """
    draw, moves = random.Random(seed), list[Request]()
    until = time.monotonic() + seconds
    await asyncio.sleep(draw.random() * EVERY)
    while (due := time.monotonic()) < until and not visitor.broken:
        if stay and len(moves) % stay == stay - 1:
            await visitor.close()
            moves.append(await visitor.open(query))
            await visitor.rest(STEP_PATIENCE)
        else:
            name, *values = next_step(visitor.page, draw)
            moves.append(move := await getattr(visitor, name)(*values))
            ended = await visitor.until(lambda move=move: not math.isnan(move.ended), STEP_PATIENCE)
            if not ended and not visitor.broken:
                visitor.failures.append(f"{move.what}: no end after {STEP_PATIENCE:g} s")
        await asyncio.sleep(max(0.0, min(due + EVERY, until) - time.monotonic()))
    return moves


# measurements ---------------------------------------------------------------------------------------------


class Part:
    """A part of a measurement, from the construction until `row` is called."""

    def __init__(self, watch: Watch, visitors: Sequence[Visitor]) -> None:
        self._watch, self._visitors = watch, visitors
        self._began, self._cpu, self._own = time.time(), watch.cpu_seconds(), _own_cpu_seconds()
        self._counts, self._workers = watch.jobs.counts(), len(watch.workers)
        self._first = len(watch.samples)

    async def row(self) -> dict[str, Any]:
        """Return errors, jobs, processes and memory, once all jobs have ended or patience has."""
        watch, cpu, own = self._watch, self._watch.cpu_seconds(), _own_cpu_seconds()
        deadline = time.monotonic() + PATIENCE
        while watch.jobs.live and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        await asyncio.sleep(1.5)  # the watch looks every half second
        errors = [text for visitor in self._visitors for text in visitor.page.errors]
        failures = [text for visitor in self._visitors for text in visitor.failures]
        for text, times in Counter([*errors, *failures]).most_common(5):
            print(f"  {times} times: {text[:300]}")
        now, samples = watch.jobs.counts(), watch.samples[self._first :]
        counts = {name: value - self._counts[name] for name, value in now.items()}
        return {
            "errors": len(errors),
            "failures": len(failures),
            **counts,
            "the same at most": now["the same at most"],
            "last job, s": watch.jobs.last_end() - self._began if counts["jobs"] else math.nan,
            "workers": len(watch.workers) - self._workers,
            "server, CPU s": cpu - self._cpu,
            "clients, CPU s": own - self._own,
            "server, MB": max((one.server for one in samples), default=math.nan),
            "workers, MB": max((one.workers for one in samples), default=math.nan),
        }


def _own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def summary(values: Sequence[float], name: str) -> dict[str, float]:
    """Return median, 95th percentile and worst of seconds; nan counts as infinitely late."""
    ordered = sorted(math.inf if math.isnan(value) else value for value in values)
    if not ordered:
        return {}
    late = ordered[math.ceil(0.95 * len(ordered)) - 1]
    told = {"median": statistics.median(ordered), "95 %": late, "worst": ordered[-1]}
    return {f"{name}, {which} s": value for which, value in told.items()}


async def of_a_class(app: App, watch: Watch, case: str, number: int) -> list[dict[str, Any]]:
    """Measure a class that comes to a fresh server, and again when all has ended."""
    visitors, rows = [Visitor(app.server.url) for _ in range(number)], []
    for turn in (case, f"warm after {case}"):
        part, row = Part(watch, visitors), {"case": turn}
        await arrive(visitors)
        visits = [visitor.requests[-1] for visitor in visitors]
        for name, field in {"figure": "figure", "script's end": "ended", "at rest": "rested"}.items():
            row |= summary([getattr(visit, field) for visit in visits], name)
        rows.append(row | await part.row())
        for visitor in visitors:
            await visitor.close()
            visitor.page.errors.clear()
    return rows


async def of_visitors(
    app: App, watch: Watch, case: str, chosen: argparse.Namespace, stay: int = 0
) -> tuple[dict[str, Any], list[Sample]]:
    """Measure visitors who move controls: the row, and the samples until they stopped."""
    visitors, query = [Visitor(app.server.url) for _ in range(chosen.visitors)], SETS[case]
    await arrive(visitors, query)
    part, seconds = Part(watch, visitors), 60.0 * chosen.minutes
    walks = (
        wander(visitor, f"{chosen.seed} {place}", seconds, query, stay)
        for place, visitor in enumerate(visitors)
    )
    moves = [move for walk in await asyncio.gather(*walks) for move in walk]
    row = {"case": case, "moves": len(moves), **summary([move.ended for move in moves], "script's end")}
    for kind in sorted({move.what.split(" = ")[0] for move in moves}):
        own = [move.ended for move in moves if move.what.split(" = ")[0] == kind]
        told = ", ".join(f"{name}: {value:.2f}" for name, value in summary(own, kind).items())
        print(f"  {len(own):4d} × {told}")
    samples, row = list(watch.samples), row | await part.row()
    for visitor in visitors:
        await visitor.close()
    return row, samples


def over_time(samples: Sequence[Sample], case: str) -> list[dict[str, Any]]:
    """Return what was held every five minutes, and the growth in an hour over the second half."""
    table = pd.DataFrame([vars(one) for one in samples])
    kept = table.iloc[sorted({0, *thinned(table, ROW), len(table) - 1})]
    late = table[table["seconds"] >= WARM_UP]
    half = (late if len(late) else table).iloc[len(late if len(late) else table) // 2 :]
    growth = np.polyfit(half["seconds"] / 3600, half.drop(columns="seconds"), 1)[0]
    out = kept.drop(columns="seconds")
    out.insert(0, "minute", [f"{one / 60:.0f}" for one in kept["seconds"]])
    out.loc[len(table)] = ["more in an hour", *growth]
    out.insert(0, "case", case)
    return out.rename(columns=lambda name: name.replace("_", " ")).to_dict("records")


def thinned(table: pd.DataFrame, seconds: float) -> list[int]:
    """Return the places of the first samples of each interval but the first."""
    intervals = (table["seconds"] // seconds).astype(int)
    return [int(at) for at in np.flatnonzero(intervals.diff() > 0)]


@contextmanager
def running(
    chosen: argparse.Namespace, prepare: bool = False, data: str = ""
) -> Iterator[tuple[App, Watch] | None]:
    """Run the app with empty folders, or with its default figures; None where it prepares none."""
    told = {"RANKVIZ_DATA": data, "RANKVIZ_BOUNDS": chosen.bounds}
    environment = {name: value for name, value in told.items() if value}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        if prepare and not prepared(chosen.app, scratch, environment):
            yield None
            return
        with app_of(chosen.app, scratch, environment) as app, Watch(app) as watch:
            yield app, watch
            if "Traceback" in (logged := app.server.log()):
                print(logged[logged.index("Traceback") :][:3000])


def prepared(folder: Path, scratch: Path, environment: dict[str, str]) -> bool:
    """Prepare the default figures; return False where the checkout has no such program."""
    module = folder / "ui" / "defaults"
    if not (module.with_suffix(".py").is_file() or (module / "__main__.py").is_file()):
        print("This checkout prepares no default figures.")
        return False
    began = time.monotonic()
    own = isolated(scratch) | {"RANKVIZ_RUNS": str(scratch / "runs")} | environment
    subprocess.run([sys.executable, "-m", "ui.defaults"], cwd=folder, env=own, check=True)
    print(f"The default figures were prepared in {time.monotonic() - began:.1f} s.")
    return True


def measure(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of a measurement."""
    rows: list[dict[str, Any]] = []
    if chosen.what == "class":
        for case, prepare in (("cold, empty folders", False), ("cold, prepared", True)):
            with running(chosen, prepare) as started:
                if started is not None:
                    rows += asyncio.run(of_a_class(*started, case, chosen.visitors))
        return rows
    for case in chosen.data:
        data = os.environ.get("RANKVIZ_LETOR", "") if case == "OHSUMED" else ""
        if case == "OHSUMED" and not data:
            print("OHSUMED is left out: RANKVIZ_LETOR names the folder of the real sets.")
            continue
        with running(chosen, data=data) as started:
            assert started is not None
            stay = STAY if chosen.what == "long" else 0
            row, samples = asyncio.run(of_visitors(*started, case, chosen, stay))
            rows += over_time(samples, case) if stay else [row]
            if stay:
                table = pd.DataFrame([vars(one) for one in samples])
                path = chosen.results / f"soak_samples_{chosen.name}_{case}.csv"
                table.iloc[thinned(table, TICK)].to_csv(path, index=False, float_format="%.6g")
                print(row)
    return rows


# tables ---------------------------------------------------------------------------------------------------


def keep(folder: Path, what: str, app: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Put the rows of an app into the table of a measurement; return the path of the new soak.md."""
    new = pd.DataFrame([{"app": app, **row} for row in rows])
    path = folder / f"soak_{what}.csv"
    if path.exists():
        old = pd.read_csv(path, skiprows=1)
        new = pd.concat([old[(old["app"] != app) | ~old["case"].isin(set(new["case"]))], new])
    order = {case: place for place, case in enumerate(dict.fromkeys(new["case"]))}
    new = new.sort_values("case", kind="stable", key=lambda cases: cases.map(order))
    path.write_text(f"# {KINDS[what][1]}\n" + new.to_csv(index=False, float_format="%.6g"))
    machine = ", ".join(facts()["machine"].split(", ")[1:])
    versions = [f"{name} {version(name)}" for name in ("streamlit", "plotly", "numpy", "scipy", "pandas")]
    text = ["# The app under load", "", f"- machine: {machine}"]
    text += [f"- Python {platform.python_version()}, {', '.join(versions)}", ""]
    for kind, (title, notes, _) in KINDS.items():
        if (path := folder / f"soak_{kind}.csv").exists():
            text += [f"## {title}", "", notes, "", markdown(pd.read_csv(path, skiprows=1)), ""]
    (folder / "soak.md").write_text("\n".join(text))
    return folder / "soak.md"


def main() -> int:
    """Measure what the command line names, and write it into the tables."""
    if sys.argv[1:2] == ["kills"]:
        return store_kills.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=list(KINDS))
    parser.add_argument("--app", type=Path, default=REPOSITORY, help="a checkout whose app is measured")
    parser.add_argument("--name", help='of the app in the tables; "after" for this checkout, else "before"')
    parser.add_argument("--visitors", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--data", help="synthetic, OHSUMED or both with a comma between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the tables")
    parser.add_argument("--bounds", default="", help="RANKVIZ_BOUNDS of the app, such as class")
    chosen = parser.parse_args()
    visitors, minutes, data = KINDS[chosen.what][2]
    chosen.app = chosen.app.resolve()
    chosen.visitors, chosen.minutes = chosen.visitors or visitors, chosen.minutes or minutes
    chosen.data = list(filter(None, (chosen.data or data).split(",")))
    if unknown := set(chosen.data) - set(SETS):
        parser.error(f"no data set {', '.join(unknown)}; there are {', '.join(SETS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen.name = chosen.name or ("after" if chosen.app == REPOSITORY else "before")
    print(keep(chosen.results, chosen.what, chosen.name, measure(chosen)).read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
