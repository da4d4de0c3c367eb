"""What jobs there are in a run folder, and what they have trained: read from the files, as anybody may."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankviz.experiments.jobs import belongs_to_a_store

BEFORE_TRAINING = ("starting", "data", "finished")
"""Stages that a job also tells of a run that it takes over from another job."""


@dataclass
class Jobs:
    """The jobs that were ever seen in a run folder: they may be deleted while one looks."""

    folder: Path
    specs: dict[str, list[str]] = field(default_factory=dict)
    records: dict[str, set[int]] = field(default_factory=dict)
    trained: dict[str, set[int]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def look(self) -> None:
        """Look at the jobs that are there and had not ended at the last look."""
        if not self.folder.is_dir():
            return
        for job in self.folder.iterdir():
            if belongs_to_a_store(job) and job.name not in self.outcomes:
                self._look_at(job)

    def _look_at(self, job: Path) -> None:
        name, ended = job.name, _json(job / "outcome.json")
        if name not in self.specs:
            told = _json(job / "spec.json")
            if told is None:
                return
            self.specs[name] = [json.dumps(spec, sort_keys=True) for spec in told["specs"]]
        self.records[name] = {int(file[7:-4]) for file in _names(job) if _RECORD.fullmatch(file)}
        self.trained[name] = {
            row["index"] for row in _rows(job / "progress.jsonl") if row["stage"] not in BEFORE_TRAINING
        }
        if ended is not None:
            self.outcomes[name] = ended

    @property
    def live(self) -> int:
        """Jobs that have not ended."""
        return len(self.specs) - len(self.outcomes)

    def counts(self) -> dict[str, int]:
        """Jobs, records, specs of all records; runs trained, and how often the same one was at most."""
        made = [self.specs[job][place] for job, places in self.records.items() for place in places]
        begun = Counter(self.specs[job][place] for job, places in self.trained.items() for place in places)
        return {
            "jobs": len(self.specs),
            "records": len(made),
            "specs": len(set(made)),
            "trained": sum(begun.values()),
            "the same at most": max(begun.values(), default=0),
            "failed jobs": sum(one["state"] == "failed" for one in self.outcomes.values()),
        }

    def last_end(self) -> float:
        """When the last job ended (seconds since 1970); nan where none did."""
        return max((float(one["ended"]) for one in self.outcomes.values()), default=math.nan)


_RECORD = re.compile(r"record-\d+\.npz")


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # just removed
        return []


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):  # not there yet, or just removed
        return None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue  # half written
