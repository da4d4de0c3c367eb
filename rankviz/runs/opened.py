"""Folds opened by a worker: keeps the latest, because runs of a sweep mostly share it."""

from __future__ import annotations

from rankviz.common.progress import Callback
from rankviz.datasets.types import Fold
from rankviz.runs.run import open_named
from rankviz.runs.spec import RunSpec


class Folds:
    """Folds below data roots; keeps the latest."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self._roots, self._name = roots, ("", "")
        self._latest: Fold | None = None

    def of(self, spec: RunSpec, callback: Callback) -> Fold:
        """Return the fold of a spec, as read."""
        if self._latest is None or self._name != (spec.dataset, spec.fold):
            self._latest, self._name = None, (spec.dataset, spec.fold)
            self._latest = open_named(spec, self._roots, callback)
        return self._latest
