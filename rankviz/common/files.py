"""Files that appear whole: written aside, brought to the disk, renamed; the standard library only."""

from __future__ import annotations

import errno
import os
import time
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
