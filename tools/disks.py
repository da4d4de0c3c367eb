"""A small disk, to try what happens when it is full or read-only: a tmpfs, where one may be mounted."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

BYTES = 16 << 20
PATIENCE = 10.0
"""Seconds."""


class NotAllowed(RuntimeError):  # noqa: N818 - a fact about a machine
    """This system lets us mount nothing, as it does for users who are not root; says why."""


@dataclass(frozen=True)
class Disk:
    """A disk of a few megabytes."""

    path: Path

    def fill(self) -> None:
        """Leave no byte free."""
        with suppress(OSError), (self.path / "ballast").open("ab", buffering=0) as stream:
            while stream.write(bytes(4096)):
                pass

    def make_room(self) -> None:
        """Give back what `fill` took."""
        (self.path / "ballast").unlink(missing_ok=True)

    def mount_again(self, how: str) -> None:
        """Mount it read-only ("ro") or as before ("rw"), as soon as nobody writes there any more."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return _mount("-o", f"remount,{how}", str(self.path))
            except NotAllowed:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)


@contextmanager
def small_disk(path: Path, size: int = BYTES) -> Iterator[Disk]:
    """A disk mounted at a new folder, gone afterwards; `NotAllowed` where nothing may be mounted."""
    path.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def _mount(*arguments: str) -> None:
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotAllowed(f"there is no mount here ({error})") from error
    if done.returncode:
        raise NotAllowed(f"nothing can be mounted here: {done.stderr.strip()}")
