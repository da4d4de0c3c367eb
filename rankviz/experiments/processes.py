"""Processes by number and start time, so that a number given to another process is not mistaken for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock


@dataclass(frozen=True)
class ProcessId:
    """A process of this machine.

    Attributes
    ----------
    pid : int
    began : int or None
        Clock ticks from the start of the machine to that of the process; None where the system does not say.
    """

    pid: int
    began: int | None

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        """The process that has this number now."""
        return cls(pid, _stat(pid)[1])

    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        child = _children.get(self.pid)
        if child is not None:
            return child.poll() is None
        state, began = _stat(self.pid)
        if state is None:
            return not _HAS_PROC and _answers(self.pid)
        return state not in "ZX" and began == self.began

    def terminate(self) -> None:
        """Ask the system to end it, if it is still there."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGTERM)

    def ending(self) -> str:
        """How it ended, in words; "" where it was not a child of this process."""
        child = _children.get(self.pid)
        if child is None or child.poll() is None:
            return ""
        if child.returncode >= 0:
            return f"exit status {child.returncode}"
        name = signal.Signals(-child.returncode).name
        memory = "; the system does that when memory runs out" if name == "SIGKILL" else ""
        return f"signal {-child.returncode} ({name}{memory})"


def start(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
    """Start a process in a session of its own, so that it outlives this one; its output goes to `log`."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with _lock:
        _children[child.pid] = child
    return ProcessId.of(child.pid)


_lock = Lock()
_children: dict[int, subprocess.Popen[bytes]] = {}
"""Our own children: only their parent learns how they ended, and it must ask."""

_HAS_PROC = sys.platform == "linux" and Path("/proc/self/stat").exists()


def _stat(pid: int) -> tuple[str | None, int | None]:
    """State letter and start time of a process from /proc; (None, None) where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        fields = text.rpartition(")")[2].split()  # the name before it may hold anything
        return fields[0], int(fields[19])
    except (OSError, IndexError, ValueError):
        return None, None


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
