"""Two first visitors at once: their threads import the app's modules at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import importlib, threading, time
errors = []
def visit(name, delay):
    time.sleep(delay)
    try:
        importlib.import_module(name)
    except (ImportError, RuntimeError) as error:
        errors.append(f"{name}: {error}")
names = ("ui.runs", "ui.jobs", "ui.home_views", "ui.settings")
threads = [threading.Thread(target=visit, args=(name, 0.01 * k)) for k, name in enumerate(names)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors)
"""


def test_modules_can_be_imported_by_several_threads_at_once() -> None:
    repository = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=repository
    )
    assert done.stdout.strip() == "[]"
