"""Take pictures of every kind of failure: `make faults`, or `python -m tools.faults [--out FOLDER]`.

Each story runs the app and brings about one fault after the other: a worker or a server is killed, the run
store damaged, a disk filled up, a bound reached. At each it stops with the page on which a sentence says so,
for a picture and for the tests in a browser. Disks are small ones of their own, which takes root.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Browser, Page, expect

from tools.browser import REPOSITORY, AppError, Server, app_server, chromium, open_page, wait_settled
from tools.stored import FILE, Stored, small_disk, stored

LONG = "ndcg_vs_m?seeds=10&upto=2000"
"""A page with a curve that takes some minutes, which it offers to train in the background."""
HARD = "ndcg_vs_m?c=4&g=2&upto=10"
"""A page with one run that takes some minutes, which it offers beside a curve that is there at once."""
PATIENCE = 60_000
"""Milliseconds; a worker starts within two seconds, but not on a machine that is busy."""
ROOMY = 64 << 20
"""Bytes of a disk that one job does not fill alone."""
FEW = 50
"""On a busy machine a page begins jobs of so many runs by itself too."""
SIZE = {"width": 1440, "height": 900}
ROWS = "".join(f"{row % 3} qid:{row // 6} 1:{row / 99:.3f} 2:{row % 7}\n" for row in range(60))


Result = TypeVar("Result")


@dataclass(frozen=True)
class Moment:
    """A page at which something has failed, by a short name, and what it says there."""

    name: str
    page: Page
    sentence: str


def ask(page: Page, server: Server, query: str = LONG) -> None:
    """Open a page and have its runs trained in the background."""
    open_page(page, f"{server.url}/{query}")
    page.get_by_role("button", name="Train in the background").click()


def begin(page: Page, server: Server, store: Stored, query: str = LONG) -> str:
    """Have runs trained in the background; the id of the job, once it has made the first of them."""
    before = {job.id for job in store.jobs()}
    ask(page, server, query)
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible(timeout=PATIENCE)
    new = wait(page, lambda: [job.id for job in store.jobs() if job.id not in before and job.total > FEW])[0]
    wait(page, lambda: store.made(new) or not is_live(store, new))
    return new


def wait(page: Page, happened: Callable[[], Result]) -> Result:
    """Wait for an event and return its value; raise AppError if it does not happen."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not (found := happened()):
        if time.monotonic() > deadline:
            raise AppError("the run store did not get the expected runs in time")
        page.wait_for_timeout(50)
    return found


def is_live(store: Stored, job_id: str) -> bool:
    """Return True if a job waits or runs."""
    job = store.job(job_id)
    return job is not None and job.live


@contextmanager
def app(scratch: Path, runs: Path, **environment: str) -> Iterator[Server]:
    """The app with its runs in a folder; it must log no traceback."""
    with app_server(scratch, {"RANKVIZ_RUNS": str(runs)} | environment) as server:
        yield server
        if "Traceback" in server.log():
            raise AppError(f"the app logged a fault:\n{server.log()}")


def press(page: Page, name: str) -> None:
    """Press a button, once, without waiting for rest: on a busy machine a job has ended by then.

    The event goes to the button itself: a mouse may miss it, because figures above it change their height.
    """
    page.get_by_role("button", name=name).dispatch_event("click", timeout=PATIENCE)


def stop(page: Page, store: Stored, job: str) -> None:
    """Stop a job by its button, which is heard wherever in a run of the page it is pressed."""
    press(page, "Stop the job")
    wait(page, lambda: not is_live(store, job))


def delete(page: Page) -> None:
    """Delete the ended job that a page shows."""
    press(page, "Delete the job")
    expect(page.get_by_role("button", name="Delete the job")).to_have_count(0, timeout=PATIENCE)


def workers(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Workers that are killed."""
    runs = scratch / "runs"
    with stored(runs) as store, app(scratch, runs) as server:
        page = browser.new_context(viewport=SIZE).new_page()
        ask(page, server, HARD)
        kill_at_work(page, store)
        killed = "The worker process that made it ended without a result; signal 9 (SIGKILL"
        yield Moment("killed-worker", page, killed)
        delete(page)
        job = begin(page, server, store)
        kill_at_work(page, store)
        made = store.made(job)
        wait(page, lambda: store.made(job) >= made + 3)
        yield Moment("others-go-on", page, "runs ready")
        page.context.close()


def kill_at_work(page: Page, store: Stored) -> None:
    """Kill the workers while a run is trained."""
    wait(page, lambda: any((job.latest or {}).get("stage") == "newton" for job in store.jobs()))
    for process in store.workers():
        os.kill(process.pid, signal.SIGKILL)


def damage(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """A run store in which something is overwritten, and one that is no database at all."""
    runs = scratch / "runs"
    page = browser.new_context(viewport=SIZE).new_page()
    with stored(runs) as store:
        with app(scratch, runs) as server:
            job = begin(page, server, store)
            store.damage("families.progress", '{"dig')
            yield Moment("damaged-progress", page, "runs ready")
            stop(page, store, job)
            yield Moment("stopped", page, "Stopped on request")
            delete(page)
            page.goto("about:blank")
        store.damage("records.content", b"damaged")
        with app(scratch, runs) as server:  # another one, that remembers nothing
            open_page(page, f"{server.url}/{LONG}")
            yield Moment("damaged-records", page, "No results yet; points appear")
    bad = scratch / FILE
    bad.write_bytes(b"no database at all " * 1000)
    with app(scratch, runs, RANKVIZ_STORE=str(bad)) as server:
        ask(page, server)
        yield Moment("no-database", page, "runs cannot be used: the file is not a database")
        page.context.close()


def servers(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Two servers on one run store, of which the one that began a job is killed while it runs.

    The browser's cookie is for the host, so the visitor is the same at both.
    """
    runs, one, other = (scratch / name for name in ("runs", "one", "other"))
    for folder in (one, other):
        folder.mkdir()
    page = browser.new_context(viewport=SIZE).new_page()
    own = {"RANKVIZ_RUNS": str(runs), "RANKVIZ_WORKERS": "1"}
    with stored(runs) as store, app(other, runs, RANKVIZ_WORKERS="1") as second, ExitStack() as running:
        first = running.enter_context(app_server(one, own))
        job = begin(page, first, store)
        waiting = page.context.new_page()
        ask(waiting, second, f"{LONG}&c=-5")
        yield Moment("job-of-another-server", waiting, "waiting for another run")
        first.process.kill()
        with suppress(AppError):  # it says that the app has ended
            running.close()
        made = store.made(job)
        page.goto(f"{second.url}/{LONG}")  # never at rest: it draws anew with every run that the job makes
        wait(page, lambda: store.made(job) >= made + 3)
        yield Moment("killed-server", page, "runs ready")
        stop(page, store, job)
        yield Moment("stopped-from-another-server", page, "Stopped")
        page.context.close()


def disks(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """A disk with the run store, uploads and caches that fills up, is full, has room again, is read-only."""
    with small_disk(scratch / "disk", ROOMY) as disk:
        runs, uploads, cache = (disk.path / name for name in ("runs", "uploads", "cache"))
        own = {"RANKVIZ_CACHE": str(cache), "RANKVIZ_UPLOADS": str(uploads)}
        page, other = (browser.new_context(viewport=SIZE).new_page() for _ in range(2))
        with stored(runs) as store, app(scratch, runs, **own) as server:
            begin(page, server, store)
            disk.fill()
            full = "The database of runs cannot be used: its disk is full"
            yield Moment("disk-fills-up", page, full)
            ask(page, server, f"{LONG}&c=-5")
            yield Moment("full-disk", page, full)
            upload(page, server)
            yield Moment("full-disk-upload", page, "No space left on device")
            disk.make_room()
            # another visitor's: whether the job before goes on depends on when there was room
            begin(other, server, store, f"{LONG}&c=-6")
            other.context.close()
            upload(page, server)
            yield Moment("space-again", page, "Only you see mine")
            page.goto("about:blank")
        disk.mount_again("ro")  # which needs that nobody writes there
        with app(scratch, runs, **own) as server:
            ask(page, server, f"{LONG}&c=-7")
            # cannot be opened or may not be written to, as SQLite's own files are there or not
            yield Moment("read-only-disk", page, "runs cannot be used: it")
            upload(page, server)
            yield Moment("read-only-upload", page, "Read-only file system")
            page.context.close()
        disk.mount_again("rw")


def bounds(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Bounds of the machine that visitors reach, one after the other."""
    runs = scratch / "runs"
    few = bounded(scratch, "live_jobs_each = 1\nlive_jobs = 2\nupload_bytes_each = 1000000\n")
    with stored(runs) as store, app(scratch, runs, RANKVIZ_BOUNDS=few) as server:
        one, two, three = (browser.new_context(viewport=SIZE).new_page() for _ in range(3))
        begin(one, server, store, f"{LONG}&c=-5")
        ask(one, server, f"{LONG}&c=-6")
        yield Moment("jobs-of-one-visitor", one, "Of one visitor at most 1 job may wait or run")
        begin(two, server, store, f"{LONG}&c=-7")
        ask(three, server, f"{LONG}&c=-8")
        yield Moment("jobs-of-all-visitors", three, "At most 2 jobs of all visitors may wait or run")
        upload(three, server, ROWS * 1000)
        yield Moment("upload-bound", three, "with your earlier uploads")
        for page in (one, two, three):
            page.context.close()
    other, soon = scratch / "other", bounded(scratch, "job_seconds = 5\n")
    with stored(other) as store, app(scratch, other, RANKVIZ_BOUNDS=soon) as server:
        page = browser.new_context(viewport=SIZE).new_page()
        begin(page, server, store, f"{LONG}&c=-7")
        yield Moment("job-over-its-seconds", page, "Stopped after 5.0 s, the most that this job may work")
        page.context.close()
    third, room = scratch / "third", bounded(scratch, "run_bytes = 200000\n")
    with stored(third) as store, app(scratch, third, RANKVIZ_BOUNDS=room) as server:
        one, two = (browser.new_context(viewport=SIZE).new_page() for _ in range(2))
        job = begin(one, server, store, f"{LONG}&c=-7")
        wait(one, lambda: store.made(job) >= FEW)
        ask(two, server, f"{LONG}&c=-8")
        yield Moment("room-of-others", two, "of runs are kept here, and those there are of other visitors")
        for page in (one, two):
            page.context.close()


def bounded(scratch: Path, text: str) -> str:
    """A file of bounds with this text."""
    path = scratch / "bounds.toml"
    path.write_text(text)
    return str(path)


STORIES: dict[str, Callable[[Browser, Path], Iterator[Moment]]] = {
    "workers": workers,
    "damage": damage,
    "servers": servers,
    "disks": disks,
    "bounds": bounds,
}


def upload(page: Page, server: Server, text: str = ROWS) -> None:
    """Upload a file on the Data page."""
    open_page(page, f"{server.url}/data")
    form = page.get_by_test_id("stExpander").filter(has_text="Bring your own data")
    form.locator("summary").click()
    file = {"name": "mine.txt", "mimeType": "text/plain", "buffer": text.encode()}
    form.locator('input[type="file"]').first.set_input_files(file)
    add = form.get_by_role("button", name="Check and add")
    expect(add).to_be_enabled()
    wait_settled(page)
    add.click()


def said(moment: Moment) -> None:
    """Wait until the page says what it should."""
    main = moment.page.get_by_test_id("stMain")
    expect(main.get_by_text(moment.sentence)).to_be_visible(timeout=PATIENCE)


def main() -> None:
    """Go through the stories, take a picture at each moment, say where they are."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("stories", nargs="*", help=f"all by default: {', '.join(STORIES)}")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "screens" / "faults")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name in chosen.stories or STORIES:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                for moment in STORIES[name](browser, Path(scratch)):
                    said(moment)
                    wait_settled(moment.page)
                    path = chosen.out / f"{moment.name}.png"
                    moment.page.screenshot(path=path)
                    print(path)


if __name__ == "__main__":
    main()
