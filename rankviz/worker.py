"""The worker of a job: `python -m rankviz.worker RUN_DIR` trains what the folder's spec.json lists.

It says that it is there before it imports what it works with, for that takes a second; then `work` begins.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rankviz.experiments.job_files import STARTING, JobFiles
from rankviz.experiments.processes import ProcessId


def main(arguments: list[str]) -> int:
    """Work on the folder that the command line names; the exit status is 0 unless nothing could be done."""
    if len(arguments) != 1:
        print("usage: python -m rankviz.worker RUN_DIR", file=sys.stderr)  # noqa: T201
        return 2
    folder = JobFiles(Path(arguments[0]))
    if not folder.claim(ProcessId.of(os.getpid())):
        print("another process works on this folder", file=sys.stderr)  # noqa: T201
        return 1
    folder.tell(0, STARTING)
    from rankviz.experiments.work import work

    work(folder.path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
