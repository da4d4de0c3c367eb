"""Helper of the tests that kill: processes of their own, started with the libraries imported."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

_apart = multiprocessing.get_context("forkserver")
_apart.set_forkserver_preload(["tests.warm_for_kills"])


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
