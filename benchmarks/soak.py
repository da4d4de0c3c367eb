"""The app under load: `make soak ARGS="class"`, "visitors", "long" or "rows"; with `--help` the options.

The app runs with its own folders; its visitors are those of `benchmarks.streamlit_client`. `ARGS="tabs"`
measures a single visitor in Chromium; `--against FOLDER` alternates with another version of the app there.
Each measurement writes results/soak_NAME.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import psutil
from playwright.sync_api import Browser

from benchmarks import report
from benchmarks.streamlit_client import Page, Request, Visitor
from rankviz.store import Database, StoreOutOfReach
from rankviz.store.environment import USUAL_NICE
from rankviz.store.study import WatchedStatus
from rankviz.store.tables import studies
from rankviz.store.watched import statuses
from tools.browser import REPOSITORY, Server, app_server, chromium, isolated, open_page, serving, wait_settled
from tools.proxy import PROGRAM, proxy
from ui.learn.lecture import example
from ui.shell.server import raise_file_limit
from ui.work.classes import LENGTH

CLASS, WITHIN = 30, 10.0
"""Visitors of a class, and the seconds within which they open Home, one after the other."""
PATIENCE, STEP_PATIENCE = 180.0, 60.0
"""Seconds that pages and jobs may take to end, and that the script of one move may take."""
SETS = {"synthetic": "", "OHSUMED": "data=OHSUMED&m=500"}
"""Data sets, and the queries of their addresses."""
WARM_UP, ROW = 300.0, 300.0
"""Seconds of warm-up, and between rows, of the long measurement."""
STAY = 12
"""Moves after which a visitor of the long measurement leaves and comes back."""
SLIDERS, TITLES = ("m", "c", "g"), ("Home", "Train", "NDCG against m")
JOB_BUTTON, ROW_MOVES = "train-in-background", 20
EVERY, LOOK_SECONDS = 5.0, 0.5
"""Seconds from one move to the next, and from one look at the app to the next."""
MB = 1 << 20
HEAPS = {"MALLOC_ARENA_MAX": "1"}
"""Environment of every server, as `make app` and deploy/class.env set it."""
BEHIND = {"RANKVIZ_BOUNDS": "class", "RANKVIZ_BEHIND_PROXY": "1"}
"""Environment of a server behind a proxy."""
ROOMS = 8
"""Addresses from which visitors come to several servers: the proxy limits each."""

KINDS = {
    "class": (
        "The app under load: a class opens it",
        f"{CLASS} visitors open Home within {WITHIN:g} s, or `--within`. Seconds from the visit to the "
        "first figure, to the end of the script, and until nothing runs any more; jobs and their runs; "
        "processor and memory.",
        (CLASS, 0.0, ""),
    ),
    "lecture": (
        "The app under load: a class follows a lecture",
        f"{CLASS} visitors, or `--visitors`, open each view of the example at once, in one round or "
        "for `--minutes`. Seconds from the click on Next to the end of the script; how many the lecturer "
        "does not see there; processor and memory.",
        (CLASS, 0.0, ""),
    ),
    "visitors": (
        "The app under load: visitors who move controls",
        "Each moves a slider by one to three places, changes the page or takes a job that is offered, "
        f"every {EVERY:g} seconds, or `--every`. Seconds from the move to the end of its script. With "
        f"`--servers 2` they come from {ROOMS} addresses, through nginx as deploy/ configures it.",
        (10, 3.0, "synthetic,OHSUMED"),
    ),
    "rows": (
        "Nyström and Fourier: from m to its four rows",
        "One visitor moves m on the page; all its models exist. Seconds from the move until the figures of "
        "all four rows have come, and until the script's end, over 20 moves. A browser also draws them.",
        (1, 0.0, "synthetic,OHSUMED"),
    ),
    "long": (
        "The app under load: visitors who stay",
        f"As in soak_visitors, and each leaves and comes back after {STAY} moves. Memory in MB, threads, "
        "open files and processes; files and MB in the run folder.",
        (5, 30.0, "synthetic"),
    ),
    "tabs": (
        "The app in one browser: new tabs, and moves of C",
        "Medians in milliseconds, in Chromium. First figure: from the request for the page, with an empty "
        "cache, to the first figure. C: from the message to the server to the first and the last change of a "
        "figure. The processor time is the server's.",
        (5, 0.0, "synthetic,OHSUMED"),
    ),
}
"""Measurement -> its title and notes, and the defaults of visitors, minutes and data sets."""


# the app --------------------------------------------------------------------------------------------------


@contextmanager
def running(prepare: bool = False, data: str = "", servers: int = 0) -> Iterator[tuple[str, Watch]]:
    """Run the app with empty folders, or with its default figures; at the end no process of it is left.

    With a number of servers these share the folders, behind nginx as deploy/ configures it, but without TLS.
    Yields the address of the app.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        # workers stand back as in use; `isolated` lets them compete
        own = HEAPS | {"RANKVIZ_RUNS": str(scratch / "runs"), "RANKVIZ_NICE": str(USUAL_NICE)}
        own |= {"RANKVIZ_DATA": data} if data else {}
        own |= BEHIND if servers else {}
        if prepare:
            command, environment = [sys.executable, "-m", "ui.defaults"], isolated(scratch) | own
            subprocess.run(command, cwd=REPOSITORY, env=environment, check=True)
        try:
            with ExitStack() as stack:
                started = [stack.enter_context(app_server(scratch, own))]
                shared = {
                    name: text for name, text in isolated(scratch).items() if str(scratch) in text
                } | own
                for number in range(1, servers):
                    (folder := scratch / f"server-{number}").mkdir()
                    started.append(stack.enter_context(app_server(folder, shared)))
                url = started[0].url
                if servers:
                    (folder := scratch / "proxy").mkdir()
                    url = f"http://127.0.0.1:{stack.enter_context(proxy(started, folder, tls=False)).port}"
                yield url, stack.enter_context(Watch(started, scratch))
                for server in started:
                    if "Traceback" in (logged := server.log()):
                        print(logged[logged.index("Traceback") :][:3000])
        finally:
            processes = list(started_with(scratch))
            for process in processes:
                with suppress(psutil.Error):
                    process.terminate()
            for process in psutil.wait_procs(processes, timeout=5)[1]:
                process.kill()


def started_with(scratch: Path) -> Iterator[psutil.Process]:
    """Yield the other Python processes whose environment or command line names the scratch folder."""
    for process in psutil.process_iter(["name", "pid"]):
        if process.pid != os.getpid() and process.info["name"].startswith("python"):
            with suppress(psutil.Error):
                words = [*process.cmdline(), *process.environ().values()]
                if any(str(scratch) in text for text in words):
                    yield process


class Jobs:
    """The jobs that were ever seen in the store of a file.

    `live` is the number of jobs that had not ended at the last look.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._database = file, None
        self._seen: dict[str, WatchedStatus] = {}
        self.live = 0

    def look(self) -> None:
        """Look at the jobs that had not ended at the last look."""
        if not self._file.is_file():  # the app makes it later
            return
        with suppress(StoreOutOfReach):  # the next look may work
            self._database = self._database or Database(self._file)
            ended = [name for name, job in self._seen.items() if not job.live]
            found = statuses(self._database, studies.c.id.not_in(ended), 1)
            self._seen |= {job.id: job for job in found}
            self.live = sum(job.live for job in found)

    def close(self) -> None:
        """Close the store."""
        if self._database:
            self._database.close()

    def counts(self) -> dict[str, int]:
        """Count jobs, their records, different ones among these, and jobs that failed."""
        made = [job.specs[index].hash for job in self._seen.values() for index in job.finished]
        failed = sum(job.state == "failed" for job in self._seen.values())
        return {"jobs": len(self._seen), "records": len(made), "specs": len(set(made)), "failed jobs": failed}

    def reasons(self) -> list[str]:
        """Return why jobs failed, as sentences."""
        return [job.reason for job in self._seen.values() if job.state == "failed"]

    def last_end(self) -> float:
        """Return when the last job ended (seconds since 1970); nan without one."""
        return max((job.ended for job in self._seen.values() if job.ended is not None), default=math.nan)


@dataclass(frozen=True)
class Sample:
    """Memory of server and workers at a time (seconds since the start); sizes in MB."""

    seconds: float
    server: float
    workers: float
    threads: int
    files: int
    n_workers: int
    run_files: int
    run_mb: float


class Watch:
    """Looks at servers of one app every half second in its own thread. Use as a context manager."""

    def __init__(self, servers: Sequence[Server], scratch: Path) -> None:
        self._scratch, self._over, self._began = scratch, Event(), time.monotonic()
        self._servers = [psutil.Process(server.process.pid) for server in servers]
        self._thread = ThreadPoolExecutor(1)
        self.jobs, self.samples = Jobs(scratch / "runs" / "runs.sqlite"), list[Sample]()
        self.workers: set[tuple[int, float]] = set()

    def __enter__(self) -> Watch:
        self._looking = self._thread.submit(self._look_on)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.result()
        self._thread.shutdown()
        self.jobs.close()

    def cpu_seconds(self) -> float:
        """Return the processor seconds of the servers, without their workers."""
        used = [server.cpu_times() for server in self._servers]
        return float(sum(one.user + one.system for one in used))

    def _look_on(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            try:
                self.samples.append(self._sample())
                self.jobs.look()
            except psutil.NoSuchProcess:
                return

    def _sample(self) -> Sample:
        held, sizes, servers = [], [], self._servers
        for process in started_with(self._scratch):
            if process not in servers:
                with suppress(psutil.Error):
                    held.append(process.memory_info().rss / MB)
                    self.workers.add((process.pid, process.create_time()))
        for path, _, names in os.walk(self._scratch / "runs"):
            for name in names:
                with suppress(OSError):  # removed meanwhile
                    sizes.append(os.stat(os.path.join(path, name)).st_size)
        now, memory = time.monotonic() - self._began, sum(one.memory_info().rss for one in servers) / MB
        counts = sum(one.num_threads() for one in servers), sum(one.num_fds() for one in servers)
        return Sample(now, memory, sum(held), *counts, len(held), len(sizes), sum(sizes) / MB)


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


async def arrive(visitors: Sequence[Visitor], query: str = "", within: float = WITHIN) -> None:
    """Open Home in one visitor after the other, evenly, and wait until each page is at rest."""

    async def one(place: int, visitor: Visitor) -> None:
        await asyncio.sleep(place * within / len(visitors))
        try:
            await visitor.open(query)
        except OSError as error:
            visitor.failures.append(f"{type(error).__name__}: {error}")
            visitor.broken = True
        else:
            await visitor.rest(PATIENCE)

    await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))


async def wander(
    visitor: Visitor, seed: str, seconds: float, query: str, stay: int = 0, every: float = EVERY
) -> list[Request]:
    """Move controls for so many seconds; after `stay` moves (0: never) leave the page and come back.

    The next move is due `every` seconds after the last one, or when its script has ended. Returns the moves.
    """
    draw, moves = random.Random(seed), list[Request]()
    until = time.monotonic() + seconds
    await asyncio.sleep(draw.random() * every)
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
        await asyncio.sleep(max(0.0, min(due + every, until) - time.monotonic()))
    return moves


async def flood(visitor: Visitor, seed: str, seconds: float, rate: float) -> None:
    """Ask for so many moves a second, without waiting for answers."""
    draw, until = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < until and not visitor.broken:
        name, *values = next_step(visitor.page, draw)
        await getattr(visitor, name)(*values)
        await asyncio.sleep(1 / rate)


# measurements ---------------------------------------------------------------------------------------------


class Part:
    """A part of a measurement, from the construction until `row` is called."""

    def __init__(self, watch: Watch, visitors: Sequence[Visitor]) -> None:
        self._watch, self._visitors = watch, visitors
        self._began, self._cpu, self._own = time.time(), watch.cpu_seconds(), time.process_time()
        self._counts, self._workers = watch.jobs.counts(), len(watch.workers)
        self._first = len(watch.samples)

    async def row(self) -> dict[str, Any]:
        """Return errors, jobs, processes and memory, once all jobs have ended or patience has."""
        watch, cpu, own = self._watch, self._watch.cpu_seconds(), time.process_time()
        deadline = time.monotonic() + PATIENCE
        while watch.jobs.live and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        await asyncio.sleep(1.5)  # the watch looks every half second
        errors = [text for visitor in self._visitors for text in visitor.page.errors]
        failures = [text for visitor in self._visitors for text in visitor.failures]
        for text, times in Counter([*errors, *failures, *watch.jobs.reasons()]).most_common(5):
            print(f"  {times} times: {text[:300]}")
        now, samples = watch.jobs.counts(), watch.samples[self._first :]
        counts = {name: value - self._counts[name] for name, value in now.items()}
        return {
            "errors": len(errors),
            "failures": len(failures),
            **counts,
            "last job, s": watch.jobs.last_end() - self._began if counts["jobs"] else math.nan,
            "workers": len(watch.workers) - self._workers,
            "server, CPU s": cpu - self._cpu,
            "clients, CPU s": own - self._own,
            "server, MB": max((one.server for one in samples), default=math.nan),
            "workers, MB": max((one.workers for one in samples), default=math.nan),
        }


def summary(values: Sequence[float], name: str) -> dict[str, float]:
    """Return median, 95th percentile and worst of seconds; nan counts as infinitely late."""
    if not values:
        return {}
    late = np.where(np.isnan(values), math.inf, values)
    shares = {"median": 0.5, "95 %": 0.95, "worst": 1.0}
    found = np.quantile(late, list(shares.values()), method="inverted_cdf")
    return {f"{name}, {which} s": value for which, value in zip(shares, found, strict=True)}


async def of_a_class(url: str, watch: Watch, case: str, chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure a class that comes to a fresh server, and again when all has ended."""
    visitors, rows = [Visitor(url) for _ in range(chosen.visitors)], []
    for turn in (case, f"warm after {case}"):
        part, row = Part(watch, visitors), {"case": turn}
        await arrive(visitors, within=chosen.within)
        visits = [visitor.requests[-1] for visitor in visitors]
        for name, field in {"figure": "figure", "script's end": "ended", "at rest": "rested"}.items():
            row |= summary([getattr(visit, field) for visit in visits], name)
        rows.append(row | await part.row())
        for visitor in visitors:
            await visitor.close()
            visitor.page.errors.clear()
    return rows


async def of_lecture(url: str, watch: Watch, visitors: int, minutes: float) -> list[dict[str, Any]]:
    """Measure a class that opens each view of the example lecture at once, in rounds for some minutes."""
    rows, students = [], [Visitor(url) for _ in range(visitors)]
    async with Visitor(url) as lecturer:
        await lecturer.open(path="lecture")
        for key in ("lecture-example", "open-class"):
            assert await lecturer.until(lambda key=key: key in lecturer.page.widgets(), PATIENCE)
            await lecturer.press(key)
        assert await lecturer.until(lambda: bool(_found(_CODE, lecturer)), PATIENCE)
        (code,) = _found(_CODE, lecturer)
        deadline = time.monotonic() + 60 * minutes
        for number in itertools.count(1):
            for at, view in enumerate(example().views, 1):
                query, part = f"class={code}&at={at}&{urlencode(view.query)}", Part(watch, students)
                await asyncio.gather(*(one.open(query, view.page) for one in students))
                visits = [one.requests[-1] for one in students]
                await asyncio.gather(
                    *(
                        one.until(lambda v=v: v.ended == v.ended, PATIENCE)
                        for one, v in zip(students, visits, strict=True)
                    )
                )
                await lecturer.close()
                await lecturer.open(query, view.page)
                assert await lecturer.until(lambda: bool(_found(_SEEN, lecturer)), PATIENCE)
                (seen,) = _found(_SEEN, lecturer)
                row = {"case": f"view {at}, {view.page}", "round": number, "not seen": visitors - int(seen)}
                rows.append(row | summary([one.ended for one in visits], "script's end") | await part.row())
                for one in students:
                    await one.close()
            if time.monotonic() >= deadline:
                break
    return rows


_CODE, _SEEN = re.compile(rf"class=([A-Z]{{{LENGTH}}})"), re.compile(r"(\d+) (?:students? )?on this view")


def _found(pattern: re.Pattern[str], visitor: Visitor) -> set[str]:
    """Return what a pattern finds in the elements of a page."""
    return {text for one in visitor.page.elements.values() for text in pattern.findall(str(one.element))}


async def of_visitors(
    url: str, watch: Watch, case: str, chosen: argparse.Namespace, stay: int = 0
) -> tuple[dict[str, Any], list[Sample]]:
    """Measure visitors who move controls: the row, and the samples until they stopped."""
    rooms = ROOMS if chosen.servers > 1 else 1
    visitors = [Visitor(url, f"127.0.0.{1 + place % rooms}") for place in range(chosen.visitors)]
    query, attackers = SETS[case], [Visitor(url)] if chosen.flood else []
    await arrive([*visitors, *attackers], query, max(WITHIN, 0.5 * chosen.visitors))
    part, seconds = Part(watch, visitors), 60.0 * chosen.minutes
    floods = [asyncio.create_task(flood(one, case, seconds, chosen.flood)) for one in attackers]
    walks = (
        wander(visitor, str(place), seconds, query, stay, chosen.every)
        for place, visitor in enumerate(visitors)
    )
    first = len(watch.samples)
    moves = [move for walk in await asyncio.gather(*walks) for move in walk]
    await asyncio.gather(*floods)
    row = {"case": case, "visitors": len(visitors), "servers": chosen.servers, "moves": len(moves)}
    row |= {"moves of one more": sum(len(one.requests) for one in attackers)}
    row |= summary([move.ended for move in moves], "script's end")
    samples = list(watch.samples)
    row |= await part.row() | {"server, MB more in a minute, second half": per_minute(samples[first:])}
    for visitor in [*visitors, *attackers]:
        await visitor.close()
    return row, samples


def per_minute(samples: Sequence[Sample]) -> float:
    """Return the growth of the servers' memory in MB over the second half."""
    half = samples[len(samples) // 2 :]
    return 60 * float(np.polyfit([one.seconds for one in half], [one.server for one in half], 1)[0])


async def of_rows(url: str, case: str) -> dict[str, Any]:
    """Measure moves of m on the Nyström and Fourier page, after the background jobs for its models."""
    visitor, moves = Visitor(url), list[Request]()
    await visitor.open(SETS[case])
    await visitor.rest(PATIENCE)
    await visitor.turn_to("Nyström and Fourier")
    await visitor.rest(PATIENCE)
    for key in [key for key in visitor.page.widgets() if key.startswith(JOB_BUTTON)]:
        await visitor.press(key)
        await visitor.until(lambda: bool(visitor.page.timers), STEP_PATIENCE)
        await visitor.rest(2 * PATIENCE)
    for place in range(ROW_MOVES):
        await visitor.move("m", str((25, 50, 100, 200, 500)[place * 2 % 5]))
        await visitor.rest(STEP_PATIENCE)
        moves.append(visitor.requests[-1])
    await visitor.close()
    rows = [move.figures[3] if len(move.figures) > 3 else math.nan for move in moves]
    told = {"errors": sum(visitor.page.errors.values()) + len(visitor.failures)}
    ends = summary([move.ended for move in moves], "script's end")
    return {"case": case, "moves": len(moves)} | summary(rows, "four rows") | ends | told


def over_time(samples: Sequence[Sample], case: str) -> list[dict[str, Any]]:
    """Return what was held every five minutes, and the growth in an hour over the second half."""
    table = pd.DataFrame(samples)
    seconds = table["seconds"]
    kept = table[(seconds // ROW).diff().ne(0) | (table.index == table.index[-1])]
    late = table[seconds >= WARM_UP] if seconds.iloc[-1] >= WARM_UP else table
    half = late.iloc[len(late) // 2 :]
    growth = np.polyfit(half["seconds"] / 3600, half.drop(columns="seconds"), 1)[0]
    out = kept.drop(columns="seconds").astype(object)  # numbers of the last row have fractions
    out.insert(0, "minute", [f"{one / 60:.0f}" for one in kept["seconds"]])
    out.loc[len(table)] = ["more in an hour", *growth]
    out.insert(0, "case", case)
    return out.rename(columns=lambda name: name.replace("_", " ")).to_dict("records")


PAGES = ("", "train", "ndcg_vs_m", "convergence", "low_rank", "influence")
"""Addresses of the pages that are measured in a browser."""
_WATCH = """
window.first = null; window.drawn = []; window.sent = null;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) { window.sent ??= performance.now(); send.call(this, data); };
new MutationObserver(changes => {
    const places = changes.map(one => one.target.closest ? one.target : one.target.parentElement);
    if (!places.some(place => place?.closest('.js-plotly-plot'))) return;
    window.drawn.push(performance.now());
    if (document.querySelector('.js-plotly-plot .main-svg path')) window.first ??= performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
"""Notes when figures change, and when the first message of a move is sent."""


def of_tabs(chosen: argparse.Namespace, case: str, root: Path | None) -> list[dict[str, Any]]:
    """Measure new tabs and moves, in this version of the app and another by turns."""
    rows, versions = [], {"": REPOSITORY} | ({"before": chosen.against} if chosen.against else {})
    with ExitStack() as stack:
        servers, browser = {}, stack.enter_context(chromium())
        for name, version in versions.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            own = {"RANKVIZ_RUNS": str(folder / "runs")} | ({"RANKVIZ_DATA": str(root)} if root else {})
            start = [sys.executable, "-m", "streamlit", "run", f"{version}/app.py", "--server.port"]
            servers[name] = stack.enter_context(serving(start, folder, version, own))
        for page in PAGES:
            found: dict[str, list[dict[str, float]]] = {name: [] for name in servers}
            address = f"/{page}" + ("?data=OHSUMED" if root else "")
            for turn in range(chosen.visitors + 1):
                for name, server in servers.items():
                    one = _in_a_tab(browser, server, address, turn + 1)
                    found[name] += [one] if turn else []  # the first makes the runs
            rows += [
                {"case": f"{case} {name}".strip(), "page": page or "home", **pd.DataFrame(made).median()}
                for name, made in found.items()
            ]
    return rows


def _in_a_tab(browser: Browser, server: Server, address: str, steps: int) -> dict[str, float]:
    """Open a page with an empty cache, and move C if the page reads it, so far that its runs are new."""
    process = psutil.Process(server.process.pid)

    def cpu() -> float:
        used = process.cpu_times()
        return 1e3 * float(used.user + used.system)

    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page, before = context.new_page(), cpu()
    page.add_init_script(_WATCH)
    open_page(page, f"{server.url}{address}")
    row = {"first figure": page.evaluate("window.first") or math.nan, "CPU": cpu() - before}
    slider = page.locator(".st-key-c").get_by_role("slider").first
    if slider.count() and slider.is_enabled():
        slider.focus()
        page.wait_for_timeout(500)
        page.evaluate("() => { window.drawn = []; window.sent = null; }")
        before = cpu()
        for _ in range(steps):
            page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(300)
        wait_settled(page)
        sent, drawn = page.evaluate("window.sent"), page.evaluate("window.drawn")
        late = [moment - sent for moment in drawn if sent is not None and moment > sent] or [math.nan]
        row |= {"C, first figure": late[0], "C, last figure": late[-1], "C, CPU": cpu() - before}
    context.close()
    return row


def measure(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of a measurement."""
    rows: list[dict[str, Any]] = []
    if chosen.what == "class":
        for case, prepare in (("cold, empty folders", False), ("cold, prepared", True)):
            with running(prepare, servers=chosen.servers) as (url, watch):
                rows += asyncio.run(of_a_class(url, watch, case, chosen))
        return rows
    if chosen.what == "lecture":
        with running(prepare=True) as (url, watch):
            return asyncio.run(of_lecture(url, watch, chosen.visitors, chosen.minutes))
    for case in chosen.data:
        root = report.letor("OHSUMED") if case == "OHSUMED" else None
        if case == "OHSUMED" and root is None:
            continue
        if chosen.what == "tabs":
            rows += of_tabs(chosen, case, root)
            continue
        with running(data=str(root or ""), servers=chosen.servers) as (url, watch):
            if chosen.what == "rows":
                rows.append(asyncio.run(of_rows(url, case)))
                continue
            stay = STAY if chosen.what == "long" else 0
            row, samples = asyncio.run(of_visitors(url, watch, case, chosen, stay))
            rows += over_time(samples, case) if stay else [row]
    return rows


def main() -> None:
    """Measure what the command line names, and write the table."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=list(KINDS))
    parser.add_argument("--visitors", type=int, help="tabs: repetitions of each measurement")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--servers", type=int, default=0, help="class, visitors: so many behind nginx")
    parser.add_argument("--every", type=float, default=EVERY, help="visitors: seconds from move to move")
    parser.add_argument("--flood", type=float, default=0.0, help="visitors: moves a second of one more")
    parser.add_argument("--within", type=float, default=WITHIN, help="class: seconds in which all come")
    parser.add_argument("--data", help="synthetic, OHSUMED or both with a comma between")
    parser.add_argument("--against", type=Path, help="tabs: the folder of another version of the app")
    parser.add_argument("--results", type=Path, default=report.RESULTS, help="the folder of the tables")
    chosen = parser.parse_args()
    report.RESULTS = chosen.results
    raise_file_limit()  # each visitor takes up to seven
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    title, notes, (visitors, minutes, data) = KINDS[chosen.what]
    chosen.visitors, chosen.minutes = chosen.visitors or visitors, chosen.minutes or minutes
    chosen.data = list(filter(None, (chosen.data or data).split(",")))
    if chosen.servers and PROGRAM is None:
        parser.error("--servers needs nginx: install Debian's package nginx-light")
    if unknown := set(chosen.data) - set(SETS):
        parser.error(f"no data set {', '.join(unknown)}; there are {', '.join(SETS)}")
    report.write(f"soak_{chosen.what}", title, pd.DataFrame(measure(chosen)), [notes])


if __name__ == "__main__":
    main()
