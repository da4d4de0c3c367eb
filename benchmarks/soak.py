"""The app under load: `make soak ARGS="class"`, `ARGS="visitors"`, `ARGS="long"`; with `--help` the options.

The app runs with folders of its own; those who visit it are `benchmarks.streamlit_client.Visitor`s. Another
checkout's app is measured by the same visitors: `--app FOLDER`; its jobs are counted where they are in a run
store. Tables are in benchmarks/results/soak.md.
`ARGS="kills"` kills what makes sweeps (`store_kills.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import store_kills
from benchmarks.report import RESULTS
from benchmarks.soak_app import App, Sample, Watch, app_of
from benchmarks.soak_report import keep, keep_samples, slopes, summary, thinned
from benchmarks.soak_walk import arrive, wander
from benchmarks.streamlit_client import Request, Visitor
from tools.browser import REPOSITORY, isolated

CLASS, WITHIN = 30, 10.0
"""A class: so many sessions opened evenly within so many seconds."""
PATIENCE = 180.0
"""Seconds after which pages that have not come to rest, and jobs that have not ended, are left."""
SETS = {"synthetic": "", "OHSUMED": "data=OHSUMED&m=500"}
"""Data sets by the addresses that ask for them."""
WARM_UP, TICK, ROW = 300.0, 15.0, 300.0
"""Of the long measurement: seconds that count as warming up, between samples kept, and between rows."""
STAY = 12
"""Moves after which a visitor of the long measurement leaves and comes back."""


class Part:
    """What a part of a measurement brought about, from when this is made to when `row` is asked for."""

    def __init__(self, watch: Watch, visitors: Sequence[Visitor]) -> None:
        self._watch, self._visitors = watch, visitors
        self._began, self._cpu, self._own = time.time(), watch.cpu_seconds(), _own_cpu_seconds()
        self._counts, self._workers = watch.jobs.counts(), len(watch.workers)
        self._first = len(watch.samples)

    async def row(self) -> dict[str, Any]:
        """Errors, jobs, processes and memory, once all jobs have ended or patience has."""
        watch, cpu, own = self._watch, self._watch.cpu_seconds(), _own_cpu_seconds()
        deadline = time.monotonic() + PATIENCE
        while watch.jobs.live and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        await asyncio.sleep(1.5)  # the watch looks every half second
        errors = [text for visitor in self._visitors for text in visitor.errors()]
        failures = [text for visitor in self._visitors for text in visitor.failures]
        for text, times in Counter([*errors, *failures]).most_common(5):
            print(f"  {times} times: {text[:300]}")
        counts = {name: now - self._counts[name] for name, now in watch.jobs.counts().items()}
        counts["the same at most"] = watch.jobs.counts()["the same at most"]
        return {
            "errors": len(errors),
            "failures": len(failures),
            **counts,
            "last job, s": watch.jobs.last_end() - self._began if counts["jobs"] else float("nan"),
            "workers": len(watch.workers) - self._workers,
            "server, CPU s": cpu - self._cpu,
            "clients, CPU s": own - self._own,
            **watch.peaks(self._first),
        }


def _own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def of_a_class(app: App, watch: Watch, case: str, number: int) -> list[dict[str, Any]]:
    """A class that comes to a server just started, and again when all has ended."""
    visitors, rows = [Visitor(app.server.url) for _ in range(number)], []
    for turn in (case, f"warm after {case}"):
        part = Part(watch, visitors)
        await arrive(visitors, WITHIN, PATIENCE)
        visits = [visitor.requests[-1] for visitor in visitors]
        waited = {"figure": "figure", "script's end": "ended", "at rest": "rested"}
        times = {name: [getattr(visit, field) for visit in visits] for name, field in waited.items()}
        told = [summary(values, name) for name, values in times.items()]
        rows.append({"case": turn} | told[0] | told[1] | told[2] | await part.row())
        for visitor in visitors:
            await visitor.close()
            visitor.page.said.clear()
    return rows


async def of_visitors(
    app: App, watch: Watch, case: str, chosen: argparse.Namespace, stay: int = 0
) -> tuple[dict[str, Any], list[Sample]]:
    """Visitors who move controls, each by a seed of their own: the row, and samples until they stopped."""
    visitors, query = [Visitor(app.server.url) for _ in range(chosen.visitors)], SETS[case]
    await arrive(visitors, WITHIN, PATIENCE, query)
    part = Part(watch, visitors)
    seconds = 60.0 * chosen.minutes
    walks = [
        wander(visitor, f"{chosen.seed} {place}", seconds, query, stay)
        for place, visitor in enumerate(visitors)
    ]
    moves = [move for walk in await asyncio.gather(*walks) for move in walk]
    row = {"case": case, "moves": len(moves), **summary([move.ended for move in moves], "script's end")}
    _say_kinds(moves)
    samples, row = list(watch.samples), row | await part.row()
    for visitor in visitors:
        await visitor.close()
    return row, samples


def _say_kinds(moves: list[Request]) -> None:
    """Which moves took how long, by what was moved."""
    kinds: dict[str, list[float]] = {}
    for move in moves:
        kinds.setdefault(move.what.split(" = ")[0], []).append(move.ended)
    for kind, seconds in sorted(kinds.items()):
        told = ", ".join(f"{name}: {value:.2f}" for name, value in summary(seconds, kind).items())
        print(f"  {len(seconds):4d} × {told}")


def over_time(samples: Sequence[Sample], case: str) -> list[dict[str, Any]]:
    """What server, workers and run folder held every five minutes, and how all grows after the warming up."""
    told = [samples[0], *thinned(samples, ROW), samples[-1]]
    rows = [{"case": case, "minute": f"{one.seconds / 60:.0f}"} | _held(vars(one)) for one in told]
    grown = slopes([one for one in samples if one.seconds >= WARM_UP] or samples)
    return [*rows, {"case": case, "minute": "more in an hour"} | _held(grown)]


def _held(values: Mapping[str, float]) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in values.items() if name != "seconds"}


@contextmanager
def running(
    chosen: argparse.Namespace, prepare: bool = False, data: str = ""
) -> Iterator[tuple[App, Watch] | None]:
    """The app with empty folders, or with what it prepares by itself; None where it prepares nothing."""
    told = {"RANKVIZ_DATA": data, "RANKVIZ_BOUNDS": chosen.bounds}
    environment = {name: value for name, value in told.items() if value}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        if prepare and not prepared(chosen.app, scratch, environment):
            yield None
            return
        with app_of(chosen.app, scratch, environment) as app, Watch(app) as watch:
            yield app, watch
            logged = app.server.log()
            if "Traceback" in logged:
                print(logged[logged.index("Traceback") :][:3000])


def prepared(folder: Path, scratch: Path, environment: dict[str, str]) -> bool:
    """Whether the project has prepared its default figures, which it may not know how to."""
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
    """The rows of a measurement."""
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
            if chosen.what == "long":
                keep_samples(chosen.results, chosen.name, case, thinned(samples, TICK))
                print(row)
            rows += over_time(samples, case) if chosen.what == "long" else [row]
    return rows


NOTES = {
    "class": f"{CLASS} visitors open Home within {WITHIN:g} s. Seconds from the visit to the first figure, "
    "to the end of the script, and until nothing runs any more; jobs, the runs in them and how often the "
    "same one was trained at most; processor and memory.",
    "visitors": "Each moves a slider by one to three places, changes the page or takes a job that is "
    "offered, every five seconds. Seconds from the move to the end of its script.",
    "long": f"As above, and each leaves and comes back after {STAY} moves. Memory in MB, threads, open "
    "files and processes; files and MB in the run folder.",
}
DEFAULTS = {
    "class": (CLASS, 0.0, ""),
    "visitors": (10, 3.0, "synthetic,OHSUMED"),
    "long": (5, 30.0, "synthetic"),
}


def main() -> int:
    """Measure what the command line names, and write it into the tables."""
    if sys.argv[1:2] == ["kills"]:
        return store_kills.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=list(DEFAULTS))
    parser.add_argument("--app", type=Path, default=REPOSITORY, help="a checkout whose app is measured")
    parser.add_argument("--name", help='of the app in the tables; "after" for this checkout, else "before"')
    parser.add_argument("--visitors", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--data", help="synthetic, OHSUMED or both with a comma between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the tables")
    parser.add_argument("--bounds", default="", help="RANKVIZ_BOUNDS of the app, such as class")
    chosen = parser.parse_args()
    visitors, minutes, data = DEFAULTS[chosen.what]
    chosen.app = chosen.app.resolve()
    chosen.visitors = chosen.visitors or visitors
    chosen.minutes = chosen.minutes or minutes
    chosen.data = list(filter(None, (chosen.data or data).split(",")))
    if unknown := set(chosen.data) - set(SETS):
        parser.error(f"no data set {', '.join(unknown)}; there are {', '.join(SETS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen.name = chosen.name or ("after" if chosen.app == REPOSITORY else "before")
    rows = measure(chosen)
    print(keep(chosen.results, chosen.what, chosen.name, rows, NOTES[chosen.what]).read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
