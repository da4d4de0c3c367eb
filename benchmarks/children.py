"""Seconds and memory of fits: all methods take turns, each in its own process.

Turns, because other work on the machine then meets all methods alike; processes, because the peak memory of a
process never falls. A child first fits a few queries, which loads libraries and starts threads; the memory
that it holds then is its baseline.
"""

from __future__ import annotations

import gc
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol, Self

import numpy as np

from rankviz.common.memory import peak_memory, reset_peak_memory, resident_memory
from rankviz.common.threads import cores, limit_threads
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
                children[name] = stack.enter_context(Child(method, train))
            except ChildError as error:
                found[name].failure = str(error)
        for turn in range(repetitions):
            for name, child in children.items():
                measured = found[name]
                if measured.failure or (turn and measured.runs[0].seconds > SLOW):
                    continue
                try:
                    measured.runs.append(child.ask("fit"))
                    if turn == repetitions - 1 or measured.runs[0].seconds > SLOW:
                        measured.scores, measured.objectives = child.ask("judge", test)
                except ChildError as error:
                    measured.failure = str(error)
                last = (
                    measured.failure or f"{measured.runs[-1].seconds:.3f} s, {measured.memory / 1e6:,.0f} MB"
                )
                print(f"  {time.strftime('%H:%M:%S')} turn {turn + 1}: {name}: {last}", flush=True)
    return found


class Child:
    """A process that holds the documents and a method, and answers questions about it."""

    def __init__(self, method: Method, train: RankingData) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, method, train, cores()), daemon=True)
        self._process.start()
        other.close()

    def __enter__(self) -> Self:
        try:
            self._answer()
        except ChildError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def ask(self, question: str, *arguments: object) -> Any:
        """Have one of `_Worker`'s methods called there. Raises `ChildError`."""
        try:
            self._connection.send((question, arguments))
        except OSError as error:
            raise ChildError("the process has died") from error
        return self._answer()

    def _answer(self) -> Any:
        try:
            if not self._connection.poll(LONGEST):
                self._process.kill()
                raise ChildError(f"given up after {LONGEST:g} s")
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise ChildError("the process has died, probably for want of memory") from error
        if isinstance(answer, Exception):
            raise ChildError(f"{type(answer).__name__}: {answer}")
        return answer


def _serve(connection: Connection, method: Method, train: RankingData, threads: int) -> None:
    """The child's loop: answer until it is ended. Whatever goes wrong is an answer too."""
    limit_threads(threads)
    question, arguments, worker = "warm_up", (), _Worker(method, train)
    while True:
        try:
            answer = getattr(worker, question)(*arguments)
        except Exception as error:  # told to the parent, which notes it in the table
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        connection.send(answer)
        question, arguments = connection.recv()


class _Worker:
    def __init__(self, method: Method, train: RankingData) -> None:
        self.method, self.train = method, train
        self.model: Any = None
        self.baseline = 0

    def warm_up(self) -> None:
        queries = np.arange(min(WARM_UP_QUERIES, self.train.n_queries))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few documents are fewer than landmarks
            self.method.fit(take_queries(self.train, queries, name="warm-up"))
        gc.collect()
        self.baseline = resident_memory()

    def fit(self) -> Run:
        self.model = None
        gc.collect()
        reset_peak_memory()
        began = time.perf_counter()
        self.model = self.method.fit(self.train)
        seconds = time.perf_counter() - began
        stages, iterations = getattr(self.model, "seconds_", {}), getattr(self.model, "n_iter_", np.nan)
        return Run(seconds, dict(stages), peak_memory() - self.baseline, iterations)

    def judge(self, test: RankingData | None) -> tuple[np.ndarray | None, tuple[float, float]]:
        if test is None:
            return None, (np.nan, np.nan)
        return self.model.predict(test.X), self.method.objectives(self.model, self.train)
