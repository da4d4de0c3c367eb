"""Progress, stopping and timing of long computations.

A computation calls its `report` several times a second; to stop it, the report raises `StopRequested`.
`reporter` turns a user's callback into a report.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError


class StopRequested(Exception):  # noqa: N818 - a request, not an error
    """Raised inside a computation that its callback stops before there is a result.

    Examples
    --------
    >>> from rankviz import RankSVM, StopRequested
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> try:
    ...     RankSVM("fourier").fit(data.X, data.y, qid=data.qid, callback=lambda progress: True)
    ... except StopRequested as stop:
    ...     print(stop)
    stopped by the callback
    """


@dataclass(frozen=True)
class Progress:
    """One message of a running computation.

    Attributes
    ----------
    stage : str
        "data", "features", "pairs", "newton" or "evaluate".
    fraction : float or None
        Completed share of the stage, 0 to 1; None if unknown (Newton steps).
    record : dict or None
        The latest row of the trace, in stage "newton".
    scores : (n,) float64 or None
        Scores of the training part at the start of a Newton step, None for other messages. They are in the
        order of the data: `fit` first regroups separated documents of a query.
    weights : float64 array or None
        The solver's variables at the start of a Newton step: (m,) weights of features.
    shards : (int, int) or None
        Finished shards and all shards, for a fit in shards.

    Examples
    --------
    >>> from rankviz import Progress, RankSVM
    >>> from rankviz.datasets import make_data
    >>> data, stages = make_data(n_queries=12, documents_per_query=(8, 20), seed=0), set()
    >>> def note(progress: Progress) -> None:
    ...     stages.add(progress.stage)
    >>> model = RankSVM("fourier", n_components=20).fit(data.X, data.y, qid=data.qid, callback=note)
    >>> sorted(stages)
    ['features', 'newton', 'pairs']
    """

    stage: str
    fraction: float | None = None
    record: dict[str, Any] | None = None
    scores: FloatArray | None = None
    weights: FloatArray | None = None
    shards: tuple[int, int] | None = None


Callback = Callable[[Progress], bool | None]
"""A user's function, called with each `Progress`; returning True asks for a stop."""

Report = Callable[[Progress], None]
"""A computation's function; it raises `StopRequested` to stop."""


def silent(progress: Progress) -> None:
    """Ignore progress."""


def reporter(callback: Callback | None) -> Report:
    """Turn a user's callback into a report that raises `StopRequested` when the callback returns True."""
    if callback is None:
        return silent
    if not callable(callback):
        raise SettingError(f"callback={callback!r} must be a function that takes a Progress")

    def report(progress: Progress) -> None:
        if callback(progress) is True:
            raise StopRequested("stopped by the callback")

    return report


class Stopwatch:
    """Seconds between calls of `lap`, by name; laps of the same name add up.

    Attributes
    ----------
    laps : dict
        Stage -> seconds.
    """

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.laps[stage] = self.laps.get(stage, 0.0) + now - self._last
        self._last = now
