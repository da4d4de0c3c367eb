"""A line for each job that ended, in `jobs.log` beside the runs: who, what, how long, how it ended.

Who is the beginning of a visitor's digest, which tells visitors apart and names nobody; what is the methods
that were trained. Titles, data sets and reasons, which may hold names that visitors gave, are left out.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from rankviz.store.job_status import JobStatus
from rankviz.store.places import default_folder

NAME = "jobs.log"
MOST_BYTES = 1 << 20
"""With so many the log begins anew; the one before is kept as jobs.log.1."""
WHO_DIGITS = 8


def note_end(job: JobStatus) -> None:
    """Append the line of a job that ended; a full disk loses the line and nothing else."""
    with suppress(OSError):
        log = default_folder() / NAME
        with suppress(FileNotFoundError):
            if log.stat().st_size > MOST_BYTES:
                os.replace(log, log.with_name(f"{NAME}.1"))
        with log.open("ab") as stream:  # in one write, so that lines of several processes do not mix
            stream.write(_line(job).encode() + b"\n")


def _line(job: JobStatus) -> str:
    """Time, visitor, methods, finished runs, seconds since it was asked for, how it ended."""
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
