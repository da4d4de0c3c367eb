"""The runs behind the figures that pages open with, made before anybody asks: `python -m ui.defaults`.

It opens every page as a visitor would who changes nothing, makes all the runs that the page then asks for,
and keeps their records in the store of jobs, for all visitors. They are made again after a change of the
code. `make install` does it, and the app at its first start, in a process of its own.
"""

from __future__ import annotations

import logging
import math
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from rankviz.experiments.desks import code
from rankviz.experiments.jobs import JobStore, StoreUnusable
from rankviz.experiments.processes import can_start, start
from ui.shared import jobs
from ui.shared.navigation import ENTRIES
from ui.shared.runs import remembered

ENVIRONMENT = "RANKVIZ_PREPARE"
"""With "no" here the app makes nothing before it is asked for."""
ROUTER = Path(__file__).resolve().parents[1] / "router.py"
SECONDS = 600
_MODESTLY = "getattr(os, 'nice', int)(10)"
"""Visitors go first; Windows has no such order."""


def main() -> None:
    """Open every page and keep the runs it has made, unless they are there already."""
    store, title = JobStore(), _title()
    if store.kept(title):
        return
    from streamlit import config
    from streamlit.testing.v1 import AppTest  # takes long, and the app has no use for it

    config.set_option("secrets.files", [])  # where visitors log in nobody does so here
    os.environ[ENVIRONMENT] = "no"  # the app does not start this again
    logging.disable(logging.WARNING)  # a page without a browser is what is wanted here
    jobs.LIVE_SECONDS = jobs.LIVE_IN_ALL = jobs.LIVE_LIMIT = math.inf  # nobody waits
    for entry in ENTRIES:
        app = AppTest.from_file(ROUTER, default_timeout=SECONDS)
        app.switch_page(entry.script).run()
    try:
        store.keep(remembered(), title)
    except StoreUnusable as error:
        sys.stderr.write(f"The figures that pages open with are made when they are asked for: {error}\n")


@cache
def prepare() -> None:
    """Once for a server, have them made by another process, if they are not there and nobody says no."""
    if os.environ.get(ENVIRONMENT) == "no" or not can_start():
        return
    store = JobStore()
    if not store.kept(_title()):
        command = [sys.executable, "-c", f"import os; {_MODESTLY}; from ui.defaults import main; main()"]
        with suppress(OSError):  # nothing can be written there, which pages say where it matters
            start(command, os.environ | {"PYTHONPATH": str(ROUTER.parent)}, store.folder / "defaults.log")


def _title() -> str:
    return f"Figures that pages open with, {code()}"


if __name__ == "__main__":
    main()
