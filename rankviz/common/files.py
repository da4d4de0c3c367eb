"""Files that appear whole: written aside, brought to the disk, renamed; the standard library only."""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rankviz.common.system import WINDOWS

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What the system says where nothing more can be written."""
PATIENCE = 0.5
"""Seconds that a file may be held open by somebody who reads it: Windows then does not replace it."""


def sync(stream: IO[str] | IO[bytes]) -> None:
    """Bring what was written to the disk."""
    stream.flush()
    os.fsync(stream.fileno())


@contextmanager
def appearing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, which appears under its name when it is whole; a failure leaves nothing.

    Raises OSError where it cannot be written, also where the name is that of a folder or a device.
    """
    target = path.resolve()  # a link stays one
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "cannot save here (this is no file)", str(path))
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        opened = aside.open("xb")
    except OSError as error:  # it names the temporary file, which nobody asked for
        raise OSError(error.errno, f"cannot save here ({error.strerror})", str(path.parent)) from None
    try:
        with opened as file:
            yield file
            sync(file)
        replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def replace(aside: Path, target: Path) -> None:
    """Rename over what is there; on Windows again for a while, where somebody reads that."""
    deadline = time.monotonic() + (PATIENCE if WINDOWS else 0)
    while True:
        try:
            os.replace(aside, target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
