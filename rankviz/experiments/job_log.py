"""A line for each job that ended, in `jobs.log` of the store: who, what, how long, how it ended.

Who is the beginning of a visitor's digest, which tells visitors apart and names nobody; what is the methods
that were trained. Titles, data sets and reasons, which may hold names that visitors gave, are left out.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

NAME = "jobs.log"
MOST_BYTES = 1 << 20
"""With so many the log begins anew; the one before is kept as jobs.log.1."""
WHO_DIGITS = 8


def note_end(run: Path, state: str) -> None:
    """Append the line of a job that ended in this state; a full disk loses the line and nothing else."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        log = run.parent / NAME
        with suppress(FileNotFoundError):
            if log.stat().st_size > MOST_BYTES:
                os.replace(log, log.with_name(f"{NAME}.1"))
        with log.open("ab") as stream:  # in one write, so that lines of several processes do not mix
            stream.write(_line(run, state).encode() + b"\n")


def _line(run: Path, state: str) -> str:
    """Time, visitor, methods, finished runs, seconds since it was asked for, how it ended."""
    job = json.loads((run / "spec.json").read_text(encoding="utf-8"))
    finished = sum(1 for _ in run.glob("record-*.npz"))
    now = time.time()
    return " ".join(
        (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
            f"visitor={str(job['owner'])[:WHO_DIGITS]}",
            f"methods={','.join(sorted({str(spec['method']) for spec in job['specs']}))}",
            f"runs={finished}/{len(job['specs'])}",
            f"seconds={now - job['created']:.1f}",
            f"state={state}",
        )
    )
