"""What cannot be done with a job, as sentences."""

from __future__ import annotations

import errno

NO_PROCESS = (errno.EAGAIN, errno.ENOMEM)
"""What the system says where it starts no process."""


class JobError(Exception):
    """Something that cannot be done with a job, as a sentence."""


class StoreUnusable(JobError):  # noqa: N818 - reads as what it says
    """Nothing can be written where jobs are kept: the disk is full, or the folder may not be written to."""

    @classmethod
    def because(cls, error: OSError) -> StoreUnusable:
        """What the system says, as a sentence with what to do; no folder of the server's is named."""
        why = error.strerror or type(error).__name__
        if error.errno in NO_PROCESS:
            return cls(
                f"Nothing can be trained in the background: the system starts no further process ({why}). "
                "Short runs are made all the same. Try again when other work has ended."
            )
        return cls(
            f"Nothing can be trained in the background: the folder of jobs cannot be written to ({why}). "
            "Short runs are made all the same. Who runs the app can free space there, or set RANKVIZ_RUNS."
        )


class NoSuchJob(JobError):  # noqa: N818 - reads as what it says
    """No job has this id (any more)."""


class NotTheOwner(JobError):  # noqa: N818 - reads as what it says
    """Only who started a job may stop or delete it."""
