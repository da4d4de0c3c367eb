"""Folders of jobs as versions before the run store left them, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankviz import RunRecord, RunSpec


def spec_file(specs: Sequence[RunSpec | Mapping[str, Any]], /, **changes: object) -> str:
    """The spec.json of a job, in the order in which it was written."""
    flat = [json.loads(spec.to_json()) if isinstance(spec, RunSpec) else dict(spec) for spec in specs]
    job = {
        "format": 1,
        "specs": flat,
        "owner": "me",
        "title": "Two runs",
        "roots": ["/data"],
        "threads": 1,
        "created": 1700000000.5,
    }
    return json.dumps(job | changes)


def leave_job(folder: Path, name: str, text: str, records: Mapping[int, RunRecord]) -> Path:
    """The folder of a job that has ended, with some of its records."""
    job = folder / name
    job.mkdir(parents=True, mode=0o700)
    (job / "spec.json").write_text(text)
    for index, record in records.items():
        record.save(job / f"record-{index:04d}.npz")
    (job / "worker.json").write_text('{"pid": 12, "began": 34, "since": 1700000001.5}')
    (job / "outcome.json").write_text('{"state": "finished", "reason": "1 of 1 runs finished.", "ended": 9}')
    return job
