"""Where specs stand among many jobs: looked up in a table, which is built as jobs come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from rankviz.experiments.job_status import job_of
from rankviz.experiments.spec import RunSpec


class Places:
    """For each spec the jobs that have it, and its index there; safe among threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._paths: set[Path] = set()
        self._found: dict[RunSpec, list[tuple[Path, int]]] = {}

    def update(self, paths: Sequence[Path]) -> None:
        """Add the jobs that are new; begin anew where most of those known have gone."""
        with self._lock:
            if len(self._paths) > 2 * len(paths) + 10:
                self._paths, self._found = set(), {}
            for path in set(paths) - self._paths:
                self._add(path)
                self._paths.add(path)

    def _add(self, path: Path) -> None:
        """Add the specs of a job, each where it stands first: there it is trained."""
        seen = set[RunSpec]()
        for index, spec in enumerate(job_of(path).specs):
            if spec not in seen:
                seen.add(spec)
                self._found.setdefault(spec, []).append((path, index))

    def of(self, spec: RunSpec) -> list[tuple[Path, int]]:
        """The jobs in which a spec stands, some of which may have gone, and its index there."""
        with self._lock:
            return list(self._found.get(spec, ()))
