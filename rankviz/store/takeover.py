"""Imports job folders of versions before the run store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rankviz.common.errors import DataError, SettingError
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.store.places import default_folder
from rankviz.store.runs import RunStore

_ID = re.compile(r"[0-9a-f]{32}")
FORMAT = 1


def take_over(store: RunStore, folder: str | os.PathLike[str] | None = None) -> int:
    """Keep the records of all job folders as runs of their owners; return the number of new ones.

    The folder stays unchanged. Known and unreadable records are skipped. Default: the folder of the user's
    runs.
    """
    taken = 0
    for job in _jobs(default_folder() if folder is None else Path(folder)):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            owner, specs = _described(job)
            made = store.records.made([spec.hash for spec in specs])
            store.records.claim(sorted(made), owner)
            taken += store.records.keep(_records(job, specs, made), owner)
    return taken


def _jobs(folder: Path) -> list[Path]:
    """Return the folders of jobs below a folder."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        found = [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False)]
    return sorted(path for path in found if _ID.fullmatch(path.name))


def _described(job: Path) -> tuple[str, list[RunSpec]]:
    """Return owner and specs of a job; raise ValueError or similar if unreadable."""
    values = json.loads((job / "spec.json").read_text(encoding="utf-8"))
    if values["format"] != FORMAT:
        raise ValueError("the folder of a job of another version")
    return str(values["owner"]), [RunSpec.from_dict(spec) for spec in values["specs"]]


def _records(job: Path, specs: list[RunSpec], made: set[str]) -> Iterator[RunRecord]:
    """Yield a job's readable records that name their data's digest."""
    for index, spec in enumerate(specs):
        with suppress(DataError, SettingError, OSError):
            if spec.hash not in made and (job / f"record-{index:04d}.npz").exists():
                record = RunRecord.load(job / f"record-{index:04d}.npz")
                if record.spec.digest:
                    yield record
