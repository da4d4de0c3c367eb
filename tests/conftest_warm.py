"""Processes of their own for tests, started with the libraries imported."""

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankviz.common.processes import ProcessId, start

_apart = multiprocessing.get_context("forkserver")
_apart.set_forkserver_preload(["tests.warm"])


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


def start_warm(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
    """Start a worker as `start` does, but forked from a process that has imported the libraries."""
    if command[1:-1] != ["-m", "rankviz.store.worker"]:
        return start(command, environment, log)
    process = _apart.Process(target=_work, args=(environment, command[-1], str(log)))
    process.start()
    assert process.pid
    return ProcessId.of(process.pid)


def _work(environment: dict[str, str], name: str, log: str) -> None:
    """Be a worker, in a session of its own."""
    from rankviz.store import worker

    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    _as_here(environment, worker.main, [name])
