"""Two first visitors at once: their threads import the app's modules at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import threading, streamlit
errors = []
def visit(line):
    try:
        exec(line, {})
    except (AttributeError, ImportError, RuntimeError) as error:
        errors.append(f"{line}: {error}")
modules = [("work", "runs"), ("work", "jobs"), ("learn", "home"), ("controls", "settings")]
lines = [f"import streamlit; from ui.{folder} import {name}" for folder, name in modules]
threads = [threading.Thread(target=visit, args=(line,)) for line in lines]
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
