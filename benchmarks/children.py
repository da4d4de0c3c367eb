"""Seconds and memory of fits: all methods take turns, each in its own process.

Turns, because other work on the machine then meets all methods alike; processes, because the peak memory of a
process never falls. A child first fits a few queries, which loads libraries and starts threads; the memory
that it holds then is its baseline.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from benchmarks.report import timed
from rankviz.common.memory import peak_memory, reset_peak_memory, resident_memory
from rankviz.common.parallel import cores, limit_threads
from rankviz.datasets import RankingData
from rankviz.datasets.parts import take_queries

REPETITIONS = 5
SLOW = 60.0
"""A method whose first fit takes longer, in seconds, is not repeated."""

LONGEST = 300.0
"""A fit, in seconds, is given up after this."""

WARM_UP_QUERIES = 10


class Method(Protocol):
    """Settings of something that learns to rank; they travel between processes."""

    def fit(self, train: RankingData) -> Any:
        """Learn from documents; the result has `predict(X)`."""
        ...

    def objectives(self, model: Any, train: RankingData) -> tuple[float, float]:
        """Return the objective reached, and the least value of the same problem; NaN where there is none."""
        ...


@dataclass(frozen=True)
class Run:
    """One fit: seconds, seconds of stages, peak bytes above the baseline, iterations."""

    seconds: float
    stages: dict[str, float]
    memory: float
    iterations: float = np.nan


@dataclass
class Measured:
    """All fits of one method; scores and objectives are of the last."""

    runs: list[Run] = field(default_factory=list)
    scores: np.ndarray | None = None
    objectives: tuple[float, float] = (np.nan, np.nan)
    failure: str = ""

    def seconds(self, stage: str = "") -> list[float]:
        """Seconds of each fit, or of one stage."""
        return [run.stages.get(stage, np.nan) if stage else run.seconds for run in self.runs]

    def median(self, stage: str = "") -> float:
        """Median of `seconds`, NaN without a fit."""
        return statistics.median(self.seconds(stage)) if self.runs else np.nan

    @property
    def iterations(self) -> float:
        """Return the iterations of the first fit, or NaN."""
        return self.runs[0].iterations if self.runs else np.nan

    @property
    def memory(self) -> float:
        """Return the peak bytes of the first fit above the baseline: later ones reuse its memory."""
        return self.runs[0].memory if self.runs else np.nan


class ChildError(RuntimeError):
    """A fit failed, took too long, or took its process with it."""


def side_by_side(
    methods: Mapping[str, Method],
    train: RankingData,
    test: RankingData | None = None,
    repetitions: int = REPETITIONS,
) -> dict[str, Measured]:
    """Fit every method `repetitions` times in turn, then score `test` where it is given."""
    found = {name: Measured() for name in methods}
    with ExitStack() as stack:
        children: dict[str, Child] = {}
        for name, method in methods.items():
            try:
                children[name] = stack.enter_context(Child())
                children[name].ask(_warm_up, method, train)
            except ChildError as error:
                found[name].failure = str(error)
        for turn in range(repetitions):
            for name, child in children.items():
                measured = found[name]
                if measured.failure or (turn and measured.runs[0].seconds > SLOW):
                    continue
                try:
                    measured.runs.append(child.ask(_fit))
                    if turn == repetitions - 1 or measured.runs[0].seconds > SLOW:
                        measured.scores, measured.objectives = child.ask(_judge, test)
                except ChildError as error:
                    measured.failure = str(error)
                last = (
                    measured.failure or f"{measured.runs[-1].seconds:.3f} s, {measured.memory / 1e6:,.0f} MB"
                )
                print(f"  {time.strftime('%H:%M:%S')} turn {turn + 1}: {name}: {last}", flush=True)
    return found


class Child:
    """A process that calls functions, and keeps its memory between the calls. Use as a context manager."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, context, limit_threads, (cores(),))

    def __enter__(self) -> Self:
        self._process = self._pool.submit(os.getpid).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def ask(self, work: Callable[..., Any], *arguments: object, seconds: float | None = LONGEST) -> Any:
        """Return what a function returns there. Raises `ChildError`."""
        try:
            return self._pool.submit(work, *arguments).result(seconds)
        except BrokenProcessPool as error:
            raise ChildError("the process has died, probably for want of memory") from error
        except TimeoutError as error:
            os.kill(self._process, signal.SIGKILL)
            raise ChildError(f"given up after {seconds:g} s") from error
        except Exception as error:
            raise ChildError(f"{type(error).__name__}: {error}") from error


class _Worker:
    """The method, its documents and its last model, in the process of a method."""

    method: Method
    train: RankingData
    model: Any = None
    baseline = 0


def _warm_up(method: Method, train: RankingData) -> None:
    """Keep the method and its documents, and fit a few queries."""
    _Worker.method, _Worker.train = method, train
    queries = np.arange(min(WARM_UP_QUERIES, train.n_queries))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few documents are fewer than landmarks
        method.fit(take_queries(train, queries, name="warm-up"))
    gc.collect()
    _Worker.baseline = resident_memory()


def _fit() -> Run:
    _Worker.model = None
    gc.collect()
    reset_peak_memory()
    model, seconds = timed(lambda: _Worker.method.fit(_Worker.train))
    stages, iterations = getattr(model, "seconds_", {}), getattr(model, "n_iter_", np.nan)
    _Worker.model = model
    return Run(seconds, dict(stages), peak_memory() - _Worker.baseline, iterations)


def _judge(test: RankingData | None) -> tuple[np.ndarray | None, tuple[float, float]]:
    if test is None:
        return None, (np.nan, np.nan)
    return _Worker.model.predict(test.X), _Worker.method.objectives(_Worker.model, _Worker.train)
