"""What the control groups of Linux leave this process of memory: a container's limit, that of a systemd unit.

/proc/self/cgroup says which groups it is in. A limit may be that of any group above its own; a container sees
its own group as the top.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class _Hierarchy:
    """Where a version of control groups keeps what: its root, and the names of its files."""

    root: Path
    limit: str
    used: str
    reclaimable: str


_VERSIONS = {
    "": _Hierarchy(Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    "memory": _Hierarchy(
        Path("/sys/fs/cgroup/memory"),
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""By the controllers that /proc/self/cgroup names: version 2 names none."""


def left_in_groups() -> Iterator[int]:
    """Bytes that each group with a limit still gives, the process's own first; nothing where none has one."""
    for line in _text(MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        if (kept := _VERSIONS.get(controllers)) is not None:
            own = PurePosixPath("/", path)
            for group in (own, *own.parents):
                yield from _left(kept, kept.root / group.relative_to("/"))


def _left(kept: _Hierarchy, folder: Path) -> Iterator[int]:
    limit, used = _text(folder / kept.limit), _text(folder / kept.used)
    if limit.strip().isdigit() and used.strip().isdigit():  # "max", or no group of this name in here
        yield max(0, int(limit) - int(used) + _reclaimable(kept, folder))


def _reclaimable(kept: _Hierarchy, folder: Path) -> int:
    """Of what counts as used, the part of files read once, which the system gives up first."""
    told = (line.split() for line in _text(folder / "memory.stat").splitlines())
    return next((int(value) for name, value in told if name == kept.reclaimable), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
