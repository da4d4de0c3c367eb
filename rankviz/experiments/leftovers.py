"""What processes that were ended left half made or half removed in a store: it goes once it is old."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from rankviz.experiments.job_files import JobFiles, belongs_to_a_store

LEFT_SECONDS = 3600.0
"""What is half made is taken for left over after this."""
_FOLDER = re.compile(r"\.(new|gone)-[0-9a-f]{16}")


def clear_away(store: Path) -> None:
    """Remove what is left over; OSError where that cannot be."""
    for path in store.iterdir():
        if _FOLDER.fullmatch(path.name) and _is_old(path):
            shutil.rmtree(path, ignore_errors=True)
        elif belongs_to_a_store(path):
            for aside in JobFiles(path).asides():
                if _is_old(aside):
                    aside.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    """Whether it was not touched for long; what is gone by now is not."""
    try:
        return time.time() - path.stat().st_mtime > LEFT_SECONDS
    except FileNotFoundError:
        return False
