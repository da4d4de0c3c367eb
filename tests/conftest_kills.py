"""Helpers of the tests that kill: processes that end themselves at a chosen step, and who is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHANGES = ("os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir")
"""What Python announces of changes of files, beside those that are opened to write; and of processes."""

_apart = multiprocessing.get_context("forkserver")
_apart.set_forkserver_preload(["tests.warm_for_kills"])


def end_at(step: int, folder: Path, act: Callable[..., Any], *arguments: Any) -> None:
    """Act, and be killed before the change number `step` of processes or below a folder, counted from 1."""
    seen, latest = 0, ("", "")

    def count(event: str, details: tuple[Any, ...]) -> None:
        nonlocal seen, latest
        writes = event == "open" and isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR)
        change = event, str(details[0]) if details else ""
        here = (writes or event in CHANGES) and change[1].startswith(str(folder))
        if (here or event in ("os.kill", "subprocess.Popen")) and change != latest:  # rows are one change
            seen, latest = seen + 1, change
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    act(*arguments)


def kill_at(step: int, folder: Path, act: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a process that does this was killed at the step; else it has fewer."""
    process = apart(end_at, step, folder, act, *arguments)
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def apart(act: Callable[..., Any], *arguments: Any) -> Any:
    """A new process that does this; it has imported the libraries."""
    process = _apart.Process(target=_as_here, args=(dict(os.environ), act, *arguments))
    process.start()
    return process


def _as_here(environment: dict[str, str], act: Callable[..., Any], *arguments: Any) -> None:
    """Act with the environment of the test: the program that starts all these has that of its own start."""
    os.environ.clear()
    os.environ.update(environment)
    act(*arguments)


def processes_on(folder: Path) -> Iterator[int]:
    """The processes that are there now whose command line names a folder, or what is in it."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                named = os.fsencode(folder) in (entry / "cmdline").read_bytes()
                runs = (entry / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
            except OSError:  # it is gone by now
                continue
            if named and runs:
                yield int(entry.name)


def hidden_files(folder: Path) -> list[str]:
    """What was written aside and is there still, room that an ended job takes, and what desks there are."""
    found = [path for path in folder.rglob("*") if path.name.startswith(".")]
    needed = [path for path in folder.rglob(".room") if not (path.parent / "outcome.json").exists()]
    left = {*found, *(folder / ".desks").glob("*")} - {folder / ".lock", folder / ".desks", *needed}
    return [str(path.relative_to(folder)) for path in left]
