"""What jobs have left in folders, from before there was a run store, and from pages since: taken over."""

from __future__ import annotations

import os
from contextlib import suppress

from rankviz.common.errors import DataError
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.record import RunRecord
from rankviz.store.runs import RunStore


def take_over(store: RunStore, folder: str | os.PathLike[str] | None = None) -> int:
    """Keep the records of all jobs below a folder, as runs of those who asked for them; how many are new.

    The folder is left as it is; what was taken over before is passed over, as is a record that cannot be
    read. By default the folder of the user's jobs.
    """
    taken = 0
    for owner, specs, record_of in JobStore(folder).finished():
        made = store.records.made([spec.hash for spec in specs])
        store.records.claim(sorted(made), owner)
        new = list[RunRecord]()
        for index, spec in enumerate(specs):
            if spec.hash not in made:
                with suppress(DataError):
                    new += [record] if (record := record_of(index)) is not None and record.spec.digest else []
        taken += store.records.keep(new, owner)
    return taken
