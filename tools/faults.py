"""What a visitor sees when something fails: `make faults`, or `python -m tools.faults [--out FOLDER]`.

Each story runs the app and brings about one fault after the other: a worker or a server is killed, a file
damaged, a disk filled up, a bound reached. At each it stops with the page on which a sentence says so, for a
picture and for the tests in a browser. Disks are small ones of their own, which takes root.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as Late

from rankviz.experiments.run_folder import RunFolder
from tools.browser import REPOSITORY, AppError, Server, app_server, chromium, open_page, wait_settled
from tools.disks import small_disk

LONG = "ndcg_vs_m?seeds=10&upto=2000"
"""A page with a curve that takes some minutes, which it offers to train in the background."""
PATIENCE = 60_000
"""Milliseconds; a worker starts within two seconds, but not on a machine that is busy."""
SIZE = {"width": 1440, "height": 900}
ROWS = "".join(f"{row % 3} qid:{row // 6} 1:{row / 99:.3f} 2:{row % 7}\n" for row in range(60))


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


def begin(page: Page, server: Server, runs: Path, query: str = LONG) -> Path:
    """Have runs trained in the background; the folder of the job, once it has made the first of them."""
    before = set(large_jobs(runs))
    ask(page, server, query)
    expect(page.get_by_role("button", name="Stop the job")).to_be_visible(timeout=PATIENCE)
    while not (new := set(large_jobs(runs)) - before):
        page.wait_for_timeout(50)
    (job,) = new
    while not list(job.glob("record-*.npz")) and not (job / "outcome.json").exists():
        page.wait_for_timeout(50)
    return job


def large_jobs(runs: Path) -> list[Path]:
    """Folders of jobs that were asked for: on a busy machine a page begins short ones by itself too."""
    return [
        file.parent for file in runs.glob("*/spec.json") if len(json.loads(file.read_text())["specs"]) > 50
    ]


@contextmanager
def app(scratch: Path, runs: Path, **environment: str) -> Iterator[Server]:
    """The app with its jobs in a folder; it must log no traceback, and what still works there is stopped."""
    with app_server(scratch, {"RANKVIZ_RUNS": str(runs)} | environment) as server:
        yield server
        if "Traceback" in server.log():
            raise AppError(f"the app logged a fault:\n{server.log()}")
    for run in map(RunFolder, runs.glob("[0-9a-f]*")):
        if not run.ended():
            run.ask_to_stop()


def press_until(page: Page, name: str, heard: Callable[[], bool]) -> None:
    """Press a button until that is heard: one that is drawn anew meanwhile takes no click.

    It is not waited for until it is at rest, for on a busy machine the page is not before the job has ended.
    """
    for _ in range(20):
        if heard():
            return
        with suppress(Late):
            page.get_by_role("button", name=name).click(timeout=5000, force=True)
        page.wait_for_timeout(2000)


def delete(page: Page) -> None:
    """Delete the ended job that a page shows."""
    press_until(page, "Delete the job", lambda: not page.get_by_role("button", name="Delete the job").count())
    expect(page.get_by_role("button", name="Delete the job")).to_have_count(0, timeout=PATIENCE)


def workers(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Workers that are killed, and job files that are damaged."""
    runs = scratch / "runs"
    with app(scratch, runs) as server:
        page = browser.new_context(viewport=SIZE).new_page()
        job = begin(page, server, runs)
        os.kill(json.loads((job / "worker.json").read_text())["pid"], signal.SIGKILL)
        yield Moment("killed-worker", page, "The worker process ended without a result; signal 9 (SIGKILL")
        delete(page)
        job = begin(page, server, runs)
        (job / "worker.json").write_bytes(b"")
        yield Moment("damaged-file", page, "worker.json of this run cannot be read: it is empty")
        delete(page)
        page.context.close()


def servers(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Two servers on one folder of jobs, of which the one that began a job is killed while it runs.

    The browser's cookie is for the host, so the visitor is the same at both.
    """
    runs, one, other = (scratch / name for name in ("runs", "one", "other"))
    for folder in (one, other):
        folder.mkdir()
    page = browser.new_context(viewport=SIZE).new_page()
    with app(other, runs, RANKVIZ_WORKERS="1") as second, ExitStack() as running:
        first = running.enter_context(app_server(one, {"RANKVIZ_RUNS": str(runs), "RANKVIZ_WORKERS": "1"}))
        job = begin(page, first, runs)
        waiting = page.context.new_page()
        ask(waiting, second, f"{LONG}&c=-5")
        yield Moment("job-of-another-server", waiting, "waiting until another run has ended")
        first.process.kill()
        with suppress(AppError):  # it says that the app has ended
            running.close()
        made = len(list(job.glob("record-*.npz")))
        page.goto(
            f"{second.url}/{LONG}"
        )  # it draws anew with every run that the job makes: it is never at rest
        while len(list(job.glob("record-*.npz"))) < made + 3:
            page.wait_for_timeout(50)
        yield Moment("killed-server", page, "runs have finished; the figures show these")
        press_until(page, "Stop the job", lambda: (job / "stop").exists() or (job / "outcome.json").exists())
        yield Moment("stopped-from-another-server", page, "Stopped")
        page.context.close()


def disks(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """A disk with jobs, uploads and caches that fills up, is full, has room again, and is read-only."""
    with small_disk(scratch / "disk") as disk:
        runs, uploads, cache = (disk.path / name for name in ("runs", "uploads", "cache"))
        # the store of runs is open all the time, and a disk with files that are written to becomes no other
        own = {"RANKVIZ_CACHE": str(cache), "RANKVIZ_STORE": str(scratch / "runs.sqlite")}
        with app(scratch, runs, RANKVIZ_UPLOADS=str(uploads), **own) as server:
            page = browser.new_context(viewport=SIZE).new_page()
            begin(page, server, runs)
            disk.fill()
            yield Moment("disk-fills-up", page, "Nothing more can be written where jobs are kept (No space")
            ask(page, server)
            yield Moment("full-disk", page, "folder of jobs cannot be written to (No space left on device)")
            upload(page, server)
            yield Moment("full-disk-upload", page, "No space left on device")
            disk.make_room()
            disk.mount_again("ro")
            ask(page, server)
            yield Moment("read-only-disk", page, "of jobs cannot be written to (Read-only file system)")
            upload(page, server)
            yield Moment("read-only-upload", page, "Read-only file system")
            disk.mount_again("rw")
            begin(page, server, runs)
            upload(page, server)
            yield Moment("space-again", page, "is your own; other visitors do not see it")
            page.context.close()


def bounds(browser: Browser, scratch: Path) -> Iterator[Moment]:
    """Bounds of the machine that visitors reach, one after the other."""
    runs = scratch / "runs"
    few = bounded(scratch, "live_jobs_each = 1\nlive_jobs = 2\nupload_bytes_each = 1000000\n")
    with app(scratch, runs, RANKVIZ_BOUNDS=few) as server:
        one, two, three = (browser.new_context(viewport=SIZE).new_page() for _ in range(3))
        begin(one, server, runs, f"{LONG}&c=-5")
        ask(one, server, f"{LONG}&c=-6")
        yield Moment("jobs-of-one-visitor", one, "Of one visitor at most 1 job may wait or run")
        begin(two, server, runs, f"{LONG}&c=-7")
        ask(three, server, f"{LONG}&c=-8")
        yield Moment("jobs-of-all-visitors", three, "At most 2 jobs of all visitors may wait or run")
        upload(three, server, ROWS * 1000)
        yield Moment("upload-bound", three, "with your earlier uploads")
        for page in (one, two, three):
            page.context.close()
    with app(scratch, scratch / "other", RANKVIZ_BOUNDS=bounded(scratch, "job_seconds = 5\n")) as server:
        page = browser.new_context(viewport=SIZE).new_page()
        begin(page, server, scratch / "other", f"{LONG}&c=-7")
        yield Moment("job-over-its-seconds", page, "Stopped after 5.0 s, the most that one job may work")
        page.context.close()


def bounded(scratch: Path, text: str) -> str:
    """A file of bounds with this text."""
    path = scratch / "bounds.toml"
    path.write_text(text)
    return str(path)


STORIES: dict[str, Callable[[Browser, Path], Iterator[Moment]]] = {
    "workers": workers,
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
    form.locator('input[type="file"]').set_input_files(file)
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
