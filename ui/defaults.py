"""The runs behind the figures that pages open with, made before anybody asks: `python -m ui.defaults`.

It opens every page as a visitor would who changes nothing, makes all the runs that the page then asks for,
and keeps their records in the run store, for all visitors. They are made again after a change of the
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

from rankviz.experiments.processes import can_start, start
from rankviz.store import StoreError
from rankviz.store.common import keep_for_all, kept_for_all
from rankviz.store.places import default_folder
from rankviz.store.workplace import code
from ui.shared import jobs
from ui.shared.navigation import ENTRIES
from ui.shared.run_store import run_store
from ui.shared.runs import remembered

ENVIRONMENT = "RANKVIZ_PREPARE"
"""With "no" here the app makes nothing before it is asked for."""
ROUTER = Path(__file__).resolve().parents[1] / "router.py"
SECONDS = 600
_MODESTLY = "getattr(os, 'nice', int)(10)"
"""Visitors go first; Windows has no such order."""
_LATER = "The figures that pages open with are made when they are asked for"


def main() -> None:
    """Open every page and keep the runs it has made, unless they are there already."""
    title = _title()
    try:
        if kept_for_all(run_store(), title):
            return
    except StoreError as error:
        sys.stderr.write(f"{_LATER}: {error}\n")
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
        keep_for_all(run_store(), remembered(), title)
    except StoreError as error:
        sys.stderr.write(f"{_LATER}: {error}\n")


@cache
def prepare() -> None:
    """Once for a server, have them made by another process, if they are not there and nobody says no."""
    if os.environ.get(ENVIRONMENT) == "no" or not can_start():
        return
    with suppress(StoreError, OSError):  # nothing can be written there, which pages say where it matters
        if not kept_for_all(run_store(), _title()):
            command = [sys.executable, "-c", f"import os; {_MODESTLY}; from ui.defaults import main; main()"]
            log = default_folder() / "defaults.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            start(command, os.environ | {"PYTHONPATH": str(ROUTER.parent)}, log)


def _title() -> str:
    return f"Figures that pages open with, {code()}"


if __name__ == "__main__":
    main()
