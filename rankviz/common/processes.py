"""Processes by number and start time, because the system reuses numbers.

Linux lists them in /proc, without a library; other systems need psutil. A browser has none.

See docs/decisions/0027-what-systems-differ-in.md.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from rankviz.common.files import IN_BROWSER, WINDOWS


@dataclass(frozen=True)
class ProcessId:
    """A process of this machine.

    Attributes
    ----------
    pid : int
    began : float or None
        Clock ticks from the start of the machine to that of the process (Linux), seconds since 1970
        (elsewhere); None if unknown.
    """

    pid: int
    began: float | None

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        """Return the process that has this number now."""
        return cls(pid, _running_since(pid)[1])

    def alive(self) -> bool:
        """Return True if it still runs; a zombie does not."""
        child = self._child()
        if child is not None:
            return child.poll() is None
        runs, began = _running_since(self.pid)
        return runs and self.same(ProcessId(self.pid, began))

    def same(self, other: ProcessId) -> bool:
        """Return True if both are one process, by number and, if known, by start time."""
        if self.pid != other.pid or self.began is None or other.began is None:
            return self.pid == other.pid
        return abs(self.began - other.began) <= (0 if _HAS_PROC else CLOCK_SECONDS)

    def _child(self) -> subprocess.Popen[bytes] | None:
        """Return our own child; another process may have its number once the child has ended."""
        process, child = _children.get(self.pid, (self, None))
        return child if self.same(process) else None

    def terminate(self) -> None:
        """Terminate it if it still runs."""
        if self.alive():
            with contextlib.suppress(OSError):  # it has ended, or is not ours
                os.kill(self.pid, signal.SIGTERM)  # Windows ends it at once, whatever the signal

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for its end; return True if it has ended."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def ending(self) -> str:
        """Return its exit status or signal in words; "" if it was not a child of this process."""
        child = self._child()
        if child is None or child.poll() is None:
            return ""
        if child.returncode >= 0:
            return f"exit status {child.returncode}"
        name = _signal_name(-child.returncode)
        memory = "; the system does that when memory runs out" if name == "SIGKILL" else ""
        return f"signal {-child.returncode} ({name}{memory})"


def can_start() -> bool:
    """Return True if this system can start processes; a browser cannot."""
    return not IN_BROWSER


def start(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
    """Start a process in its own session, so that it outlives this one; write its output to `log`."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            **_detached_options(),
        )
    process = ProcessId.of(child.pid)
    with _lock:
        _children[child.pid] = process, child
    return process


def reap() -> None:
    """Reap our children that have ended; the system lists them until then."""
    with _lock:
        for _, child in _children.values():
            child.poll()


atexit.register(reap)  # else Python warns that ended children still run

_lock = Lock()
_children: dict[int, tuple[ProcessId, subprocess.Popen[bytes]]] = {}
"""Our own children: only the parent learns a child's exit status, and must poll it."""

CLOCK_SECONDS = 2.0
"""Tolerance between start times: some systems correct them with the clock."""
_HAS_PROC = sys.platform == "linux" and Path("/proc/self/stat").exists()


def _detached_options() -> dict[str, Any]:
    """Return options that protect the process from a closed console and Ctrl-C in it."""
    if not WINDOWS:
        return {"start_new_session": True}
    flags = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")
    return {"creationflags": sum(getattr(subprocess, flag) for flag in flags)}


def stand_back(niceness: int) -> None:
    """Lower the priority of this process by 0 to 19, where the system can; Windows cannot."""
    getattr(os, "nice", int)(niceness)
    if not WINDOWS and os.getsid(0) == os.getpid():
        # Linux may share its processors among sessions first; then niceness counts only within a session
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(niceness))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return "without a name"


def _running_since(pid: int) -> tuple[bool, float | None]:
    """Return True if a process of this number runs (not a zombie), and its start time."""
    return _in_proc(pid) if _HAS_PROC else _by_psutil(pid)


def _in_proc(pid: int) -> tuple[bool, int | None]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        fields = text.rpartition(")")[2].split()  # the name before it may contain any character
        return fields[0] not in "ZX", int(fields[19])
    except (OSError, IndexError, ValueError):
        return False, None


def _by_psutil(pid: int) -> tuple[bool, float | None]:
    if IN_BROWSER:  # no process can exist
        return False, None
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return process.status() != psutil.STATUS_ZOMBIE, process.create_time()
    except psutil.NoSuchProcess:
        return False, None
    except psutil.AccessDenied:
        return True, None
