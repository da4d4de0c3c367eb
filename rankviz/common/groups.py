"""Free memory under Linux control groups: the limits of a container or a systemd unit.

/proc/self/cgroup lists this process's groups. Any group above may set a limit; a container sees its own group
as the top.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class _Hierarchy:
    """File layout of a version of control groups: its root, and the names of its files."""

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
"""By the controllers in /proc/self/cgroup; version 2 names none."""


def left_in_groups() -> Iterator[int]:
    """Yield the free bytes of each group with a limit, the process's own group first."""
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
    """Return the used bytes of files read once, which the system frees first."""
    told = (line.split() for line in _text(folder / "memory.stat").splitlines())
    return next((int(value) for name, value in told if name == kept.reclaimable), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
