"""The files through which a job and its worker talk, as far as they need the standard library only.

`worker.json` says which process works here, `worked.json` how long others have before, `progress.jsonl` how
far it is, `stop` that it shall end, `outcome.json` how it ended, `log.txt` what it printed. Each is written
aside and renamed, so that it is complete or absent, save the two that grow; one that cannot be read all the
same (a disk that was full or lost power) is set aside, and its job has failed. `run_folder` adds what there
is to do and what came of it; a worker that was just started can tell of itself through this module before it
imports the rest.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from rankviz.common.files import NO_ROOM, replace, write_synced
from rankviz.experiments.job_log import note_end
from rankviz.experiments.processes import ProcessId

STARTING = "starting"
"""The first stage a worker tells of: it is there and imports its libraries."""
TAIL_BYTES = 8192
"""The end of a growing file that is read for its latest lines; one line is a few hundred bytes."""

ROOM, ROOM_BYTES = ".room", 4096
"""A hidden file of this size makes way for how the job ended."""
NUMBER = (int, float)
STATES = ("finished", "stopped", "failed")
_ID = re.compile(r"[0-9a-f]{32}")


def is_id(name: str) -> bool:
    """Whether this is a name that a store gives to a job."""
    return _ID.fullmatch(name) is not None


def belongs_to_a_store(path: Path) -> bool:
    """Whether a run folder has a name that a store gave."""
    return is_id(path.name)


class UnreadableFile(ValueError):  # noqa: N818 - reads as what it says
    """A job file that is not what was written, as a sentence."""

    def __init__(self, path: Path, *, empty: bool = False) -> None:
        how = "is empty" if empty else "is not what was written"
        super().__init__(
            f"{path.name} of this run cannot be read: it {how}, as after a full disk or a loss of power."
        )


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
class JobFiles:
    """The files of one job; every method may be called by any process at any time."""

    path: Path

    def claim(self, process: ProcessId) -> bool:
        """Name the one process that works here; False where another one is named already."""
        worker = self.worker()
        if worker is not None:
            return worker.process.same(process)
        aside = self._aside({"pid": process.pid, "began": process.began, "since": time.time()})
        try:
            os.link(aside, self.path / "worker.json")
        except FileExistsError:
            worker = self.worker()
            return worker is not None and worker.process.same(process)
        finally:
            aside.unlink()
        return True

    def worker(self) -> Worker | None:
        """The process that was started for this job, alive or not."""
        values = _read_json(
            self.path / "worker.json", pid=int, began=(int, float, NoneType), since=(int, float)
        )
        return values and Worker(ProcessId(values["pid"], values["began"]), values["since"])

    def claimed(self) -> bool:
        """Whether a process was named that works here."""
        return (self.path / "worker.json").exists()

    def release(self) -> None:
        """Let the process that works here go: another one may take the job up where it left it."""
        aside = self._aside({"seconds": self.worked()})
        replace(aside, self.path / "worked.json")
        (self.path / "worker.json").unlink()

    def worked(self) -> float:
        """Seconds that processes have worked here, until now where one still does."""
        before, since = self.worked_before(), self.works_since()
        return before if since is None else before + max(0.0, time.time() - since)

    def works_since(self) -> float | None:
        """Since when the process works here whose seconds are not counted yet (seconds since 1970).

        Who lets it go may be ended between counting them and taking its name away.
        """
        worker, released = self.worker(), self.released()
        return None if worker is None else max(worker.since, released or 0.0)

    def worked_before(self) -> float:
        """Seconds that processes worked here that were let go."""
        values = _read_json(self.path / "worked.json", seconds=NUMBER)
        return float(values["seconds"]) if values else 0.0

    def released(self) -> float | None:
        """When a process was last let go (seconds since 1970), None where that never was."""
        try:
            return (self.path / "worked.json").stat().st_mtime
        except OSError:
            return None

    def ask_to_stop(self) -> None:
        """Leave the sign that the worker looks for."""
        (self.path / "stop").touch(exist_ok=True)

    def stop_asked(self) -> float | None:
        """When a stop was asked for (seconds since 1970), None if it was not."""
        try:
            return (self.path / "stop").stat().st_mtime
        except OSError:
            return None

    def keep_room(self) -> None:
        """Take the bytes that it takes to write how the job ended, while there are some."""
        (self.path / ROOM).write_bytes(bytes(ROOM_BYTES))

    def end(self, state: str, reason: str) -> None:
        """Write how the job ended, also into the store's log; on a full disk into the room kept for it."""
        (self.path / ROOM).unlink(missing_ok=True)
        replace(self._aside(asdict(Outcome(state, reason, time.time()))), self.path / "outcome.json")
        if belongs_to_a_store(self.path):
            note_end(self.path, state)

    def ended(self) -> bool:
        """Whether it is known how the job ended."""
        return (self.path / "outcome.json").exists()

    def outcome(self) -> Outcome | None:
        """How the job ended, None while it has not."""
        path = self.path / "outcome.json"
        values = _read_json(path, state=str, reason=str, ended=NUMBER)
        if values and values["state"] not in STATES:
            raise UnreadableFile(path)
        return values and Outcome(**values)

    def mend(self) -> None:
        """Fail the job where a file cannot be read, set that file aside, and ask who works here to stop."""
        readers = {
            "outcome.json": self.outcome,
            "worker.json": self.worker,
            "worked.json": self.worked_before,
        }
        for name, read in readers.items():
            try:
                read()
            except UnreadableFile as error:
                kept = f"unreadable-{name}"
                replace(self.path / name, self.path / kept)
                self.ask_to_stop()
                if not self.ended():
                    self.end(
                        "failed", f"{error} It was set aside as {kept}. Runs that had finished are kept."
                    )

    def tell(
        self,
        index: int,
        stage: str,
        fraction: float | None = None,
        record: dict[str, Any] | None = None,
        remaining: float | None = None,
    ) -> None:
        """Append a progress message: which spec and stage, how much of it, a row of the trace, seconds left.

        Where there is no room for it the work goes on: it is a record that cannot be kept that ends a job.
        """
        row = {"time": time.time(), "index": index, "stage": stage, "fraction": fraction, "record": record}
        row["remaining"] = remaining
        try:
            with (self.path / "progress.jsonl").open("ab") as stream:
                stream.write(json.dumps(row).encode() + b"\n")
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise

    def rows(self) -> Iterator[dict[str, Any]]:
        """All progress messages, oldest first; a line that is not whole yet is left for later."""
        try:
            yield from _whole_rows((self.path / "progress.jsonl").read_bytes())
        except FileNotFoundError:
            return

    def latest(self) -> dict[str, Any] | None:
        """The latest progress message."""
        rows = list(_whole_rows(_tail(self.path / "progress.jsonl")))
        return rows[-1] if rows else None

    def log_file(self) -> Path:
        """Output of the worker, warnings and tracebacks included."""
        return self.path / "log.txt"

    def last_words(self) -> str:
        """The last line of the log; after a traceback that is the error."""
        lines = _tail(self.log_file()).decode(errors="replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""

    def asides(self) -> Iterator[Path]:
        """What was written aside to be renamed, by a process that writes now or was ended."""
        return (path for path in self.path.glob(".*") if path.name != ROOM)

    def _aside(self, values: dict[str, Any]) -> Path:
        """A hidden file with these values as JSON, to be renamed to what it shall be."""
        aside = self.path / f".{secrets.token_hex(8)}.tmp"
        try:
            write_synced(aside, json.dumps(values))
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        return aside


def _whole_rows(text: bytes) -> Iterator[dict[str, Any]]:
    for line in text.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # half written, damaged, or the first one of a tail
        if _fits(row, stage=str, index=int, fraction=(*NUMBER, NoneType)):
            yield row


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            return stream.read()
    except FileNotFoundError:
        return b""


def _read_json(path: Path, **types: Any) -> Any:
    """The values in a file, None where there is none; `UnreadableFile` where they are not of these types."""
    try:
        text = path.read_bytes()
        values = json.loads(text.decode())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(path, empty=not text) from error
    if not _fits(values, **types) or set(values) != set(types):
        raise UnreadableFile(path)
    return values


def _fits(values: Any, **types: Any) -> bool:
    """Whether this is an object with values of these types; true and false are no numbers."""
    return isinstance(values, dict) and all(
        name in values and isinstance(values[name], kind) and not isinstance(values[name], bool)
        for name, kind in types.items()
    )
