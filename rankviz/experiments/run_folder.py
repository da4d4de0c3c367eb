"""The folder of one job: what is to be done and what came of it, beside the files of `job_files`.

`spec.json` says what to do, `record-0000.npz` and so on hold what is done. The folder appears whole, and so
does every record.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from rankviz.common.files import write_synced
from rankviz.experiments.job_files import JobFiles
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec

FORMAT = 1


@dataclass(frozen=True)
class Job:
    """A job: what to do, and for whom.

    Attributes
    ----------
    specs : tuple of RunSpec
        Trained in this order.
    owner : str
        Who may stop and delete it.
    title : str
        What to call it on screen.
    roots : tuple of str
        Data roots that the specs' data sets are looked up in.
    threads : int
        Cores the worker may use.
    created : float
        Seconds since 1970.
    """

    specs: tuple[RunSpec, ...]
    owner: str
    title: str
    roots: tuple[str, ...]
    threads: int
    created: float

    def to_json(self) -> str:
        """The job as JSON text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {"specs": [spec.to_dict() for spec in self.specs]}
        return json.dumps({"format": FORMAT} | plain)

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read what `to_json` wrote; ValueError for anything else."""
        try:
            values = json.loads(text)
        except RecursionError:
            raise ValueError("a job description nested too deeply") from None
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError("not the description of a job that this version reads")
        try:
            values["specs"] = tuple(RunSpec.from_dict(spec) for spec in values["specs"])
            values["roots"] = tuple(values["roots"])
            return cls(**values)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"a job description without the right fields ({error})") from error


@dataclass(frozen=True)
class RunFolder(JobFiles):
    """The folder of one job; every method may be called by any process at any time."""

    @classmethod
    def create(cls, path: Path, job: Job, records: Sequence[RunRecord] = ()) -> RunFolder:
        """A new folder with its job; it appears whole. With the records of all its specs it has ended."""
        aside = path.with_name(f".new-{secrets.token_hex(8)}")
        aside.mkdir(mode=0o700)
        try:
            write_synced(aside / "spec.json", job.to_json())
            for index, record in enumerate(records):
                record.save(cls(aside).record_file(index))
            cls(aside).keep_room()
            if records:
                cls(aside).end("finished", f"{len(records)} of {len(records)} runs finished.")
            aside.rename(path)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        return cls(path)

    def job(self) -> Job:
        """The job; OSError where the folder is gone, ValueError where it is not ours."""
        return Job.from_json((self.path / "spec.json").read_text())

    def record_file(self, index: int) -> Path:
        """Where the record of the spec at `index` is, or will be."""
        return self.path / f"record-{index:04d}.npz"

    def record(self, index: int) -> RunRecord | None:
        """The record of the spec at `index`, None while it is not there."""
        file = self.record_file(index)
        return RunRecord.load(file) if file.exists() else None

    def finished(self) -> tuple[int, ...]:
        """Indices of the specs whose records are there."""
        return tuple(
            sorted(int(file.stem[-4:]) for file in self.path.glob("record-[0-9][0-9][0-9][0-9].npz"))
        )
