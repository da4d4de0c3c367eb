"""The log of ended jobs, `jobs.log` beside the runs: one line each with visitor, methods, time and outcome.

The visitor is the start of a digest, which distinguishes visitors but names nobody. Titles, data sets and
reasons are left out, because visitors may have put names there.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from rankviz.store.job_status import JobStatus
from rankviz.store.places import default_folder

NAME = "jobs.log"
MOST_BYTES = 1 << 20
"""Size at which a new log begins; the previous one is kept as jobs.log.1."""
WHO_DIGITS = 8


def note_end(job: JobStatus) -> None:
    """Append the line of an ended job; a full disk loses only this line."""
    with suppress(OSError):
        log = default_folder() / NAME
        with suppress(FileNotFoundError):
            if log.stat().st_size > MOST_BYTES:
                os.replace(log, log.with_name(f"{NAME}.1"))
        with log.open("ab") as stream:  # one write: processes do not mix lines
            stream.write(_line(job).encode() + b"\n")


def _line(job: JobStatus) -> str:
    """Format time, visitor, methods, finished runs, seconds since submission and outcome."""
    now = time.time()
    return " ".join(
        (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
            f"visitor={job.owner[:WHO_DIGITS]}",
            f"methods={','.join(sorted({spec.method for spec in job.specs}))}",
            f"runs={len(job.finished)}/{job.total}",
            f"seconds={now - job.created:.1f}",
            f"state={job.state}",
        )
    )
