"""The folder of one job: the files through which the job store and its worker talk to each other.

`spec.json` says what to do, `worker.json` which process does it, `progress.jsonl` how far it is, `stop` that
it shall end, `record-0000.npz` and so on hold what is done, `outcome.json` how it ended, `log.txt` what the
worker printed. Each is written aside and renamed, so that it is complete or absent, save the two that grow.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankviz.datasets.textfile import written_aside
from rankviz.experiments.processes import ProcessId
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec

FORMAT = 1
TAIL_BYTES = 8192
"""The end of a growing file that is read for its latest lines; one line is a few hundred bytes."""


@dataclass(frozen=True)
class Job:
    """What a job is to do, for whom.

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
        return json.dumps({"format": FORMAT} | asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read what `to_json` wrote; ValueError for anything else."""
        values = json.loads(text)
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError("not the description of a job that this version reads")
        values["specs"] = tuple(RunSpec.from_dict(spec) for spec in values["specs"])
        values["roots"] = tuple(values["roots"])
        return cls(**values)


@dataclass(frozen=True)
class Outcome:
    """How a job ended: "finished", "stopped" or "failed", why in a sentence, when."""

    state: str
    reason: str
    ended: float


@dataclass(frozen=True)
class Worker:
    """The process that works on a job, and since when (seconds since 1970)."""

    process: ProcessId
    since: float


@dataclass(frozen=True)
class RunFolder:
    """The files of one job; every method may be called by any process at any time."""

    path: Path

    @classmethod
    def create(cls, path: Path, job: Job) -> RunFolder:
        """A new folder with its job; it appears whole."""
        aside = path.with_name(f".new-{secrets.token_hex(8)}")
        aside.mkdir(mode=0o700)
        (aside / "spec.json").write_text(job.to_json())
        aside.rename(path)
        return cls(path)

    def job(self) -> Job:
        """What is to be done; OSError where the folder is gone, ValueError where it is not ours."""
        return Job.from_json((self.path / "spec.json").read_text())

    def claim(self, process: ProcessId) -> bool:
        """Name the one process that works here; False where another one is named already."""
        aside = self.path / f".{secrets.token_hex(8)}.tmp"
        aside.write_text(json.dumps({"pid": process.pid, "began": process.began, "since": time.time()}))
        try:
            os.link(aside, self.path / "worker.json")
        except FileExistsError:
            worker = self.worker()
            return worker is not None and worker.process == process
        finally:
            aside.unlink()
        return True

    def worker(self) -> Worker | None:
        """The process that was started for this job, alive or not."""
        values = _read_json(self.path / "worker.json")
        return values and Worker(ProcessId(values["pid"], values["began"]), values["since"])

    def ask_to_stop(self) -> None:
        """Leave the sign that the worker looks for."""
        (self.path / "stop").touch(exist_ok=True)

    def stop_asked(self) -> float | None:
        """When a stop was asked for (seconds since 1970), None if it was not."""
        try:
            return (self.path / "stop").stat().st_mtime
        except OSError:
            return None

    def end(self, state: str, reason: str) -> None:
        """Write how the job ended."""
        with written_aside(self.path / "outcome.json") as stream:
            stream.write(json.dumps(asdict(Outcome(state, reason, time.time()))).encode())

    def ended(self) -> bool:
        """Whether it is known how the job ended."""
        return (self.path / "outcome.json").exists()

    def outcome(self) -> Outcome | None:
        """How the job ended, None while it has not."""
        values = _read_json(self.path / "outcome.json")
        return values and Outcome(**values)

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
            sorted(int(file.stem.removeprefix("record-")) for file in self.path.glob("record-*.npz"))
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """All progress messages, oldest first; a line that is not whole yet is left for later."""
        try:
            with (self.path / "progress.jsonl").open("rb") as stream:
                yield from _whole_rows(stream.read())
        except FileNotFoundError:
            return

    def latest(self) -> dict[str, Any] | None:
        """The latest progress message."""
        rows = list(_whole_rows(_tail(self.path / "progress.jsonl")))
        return rows[-1] if rows else None

    def log_file(self) -> Path:
        """What the worker printed, warnings and tracebacks."""
        return self.path / "log.txt"

    def last_words(self) -> str:
        """The last line of the log; after a traceback that is the error."""
        lines = _tail(self.log_file()).decode(errors="replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""


def _whole_rows(text: bytes) -> Iterator[dict[str, Any]]:
    for line in text.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue  # half written, or the first one of a tail
        if isinstance(row, dict):
            yield row


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            return stream.read()
    except FileNotFoundError:
        return b""


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
