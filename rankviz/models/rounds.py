"""Base class of rankers that grow by rounds, such as boosted trees: trace, early stopping, and Stop.

See docs/decisions/0033-contracts-of-rankers-and-designs.md.
"""

from __future__ import annotations

import importlib
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.memory import megabytes, reuse_freed_memory
from rankviz.common.npz import Arrays, shaped
from rankviz.common.numbers import counted
from rankviz.common.progress import Callback, Progress, Report, StopRequested, reporter
from rankviz.common.settings import Positive, Setting, Steps, Typed, Whole
from rankviz.datasets.types import RankingData
from rankviz.features.maps import Form
from rankviz.learning.memory import default_budget
from rankviz.learning.solvers import Sizes, Work
from rankviz.metrics.top import TopNDCG
from rankviz.models.ranker import Outcome, Ranker, grades_of, query_ids_of, refuse_unusable
from rankviz.models.trees import Terms, Trees

MEASURE = "NDCG@10"
"""The metric of the trace and of early stopping, by the definition of runs."""
PARTS = ("training", "validation")
"""Columns of the trace with this metric, by part."""
IMPORTANCE = "importance"
"""Array of a record with the shares of features."""
TREES = "trees_"
"""Prefix of the arrays of trees, in records and files."""
ROOTS = f"{TREES}roots"
KEPT = "n_rounds"
"""Array of a record with the number of rounds, for models without trees."""

ROUNDS = Setting(
    name="n_rounds",
    symbol="rounds",
    label="Rounds",
    domain=Whole(1, 100_000),
    default=300,
    help="Largest number of rounds: of trees, thresholds, features, or new weights of pairs. Early stopping "
    "may keep fewer.",
    key="rounds",
    offer=Typed(1, 5000, 50),
    caption=lambda n: counted(n, "round"),
    named=True,
)

PATIENCE = Setting(
    name="patience",
    symbol="patience",
    label="Patience",
    domain=Whole(0, 100_000),
    default=50,
    help="Training ends after so many rounds without a higher NDCG@10 on the validation part, and keeps the "
    "rounds up to the best one. 0 keeps all rounds.",
    key="patience",
    offer=Typed(0, 1000, 10),
    caption=lambda n: f"patience {n}",
    quiet=True,
)

LEARNING_RATE = Setting(
    name="learning_rate",
    symbol="rate",
    label="Learning rate",
    domain=Positive(),
    default=0.1,
    help="Each tree is multiplied by it. A smaller rate needs more rounds.",
    key="rate",
    offer=Steps((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)),
    caption=lambda rate: f"rate {rate:g}",
)

LEAVES = Setting(
    name="leaves",
    symbol="leaves",
    label="Leaves",
    domain=Whole(2, 10_000),
    default=10,
    help="Largest number of leaves of a tree. Two leaves ask for one feature only.",
    key="leaves",
    offer=Steps((2, 4, 6, 8, 10, 16, 31, 63, 127)),
    caption=lambda n: f"{n} leaves",
    named=True,
)

LEAF_DOCUMENTS = Setting(
    name="leaf_documents",
    symbol="documents in a leaf",
    label="Least documents in a leaf",
    domain=Whole(1, 2_147_483_647),
    default=20,
    help="Each leaf of a tree has at least so many training documents.",
    key="leafdocs",
    offer=Steps((1, 5, 10, 20, 50, 100, 200, 500)),
    caption=lambda n: f"{n} documents in a leaf",
    quiet=True,
)

BOOSTING = (ROUNDS, LEAVES, LEARNING_RATE, LEAF_DOCUMENTS, PATIENCE)
"""Settings of boosted trees."""

STOPPED = "stopped on request"
"""How the status of a stopped training begins."""
ROUND_SECONDS = 0.002
"""Seconds of a round besides its tree: both parts are measured."""

Grown = Callable[[int], tuple[Trees | Terms, FloatArray]]
"""Returns the trees (or terms) of the first rounds, and each feature's share of what they gain."""


class Watch:
    """Follows training round by round: measures, reports, and says when to end.

    Attributes
    ----------
    rows : list of dict
        The trace: iteration, seconds, and `MEASURE` on each part. Row 0 is before the first round.
    stopped : bool
        True if a stop was requested.
    later : bool
        True if nobody reads the scores during training: `grow` passes none.
    """

    def __init__(
        self,
        parts: Sequence[RankingData],
        n_rounds: int,
        patience: int,
        report: Report,
        later: bool = False,
    ) -> None:
        self._measures, self._n_rounds, self._report = [TopNDCG(part) for part in parts], n_rounds, report
        self._patience = patience if len(parts) > 1 else 0
        self._began = time.perf_counter()
        self.rows: list[dict[str, Any]] = []
        self.stopped, self.later = False, later
        self([] if later else [np.zeros(part.n_documents) for part in parts])

    def __call__(self, scores: Sequence[FloatArray], **more: float) -> bool:
        """Note the scores of each part after a round, and more numbers; return True to end training."""
        row: dict[str, Any] = {"iteration": len(self.rows), "seconds": time.perf_counter() - self._began}
        for name, own, measure in zip(PARTS, scores, self._measures, strict=False):
            row[name] = measure.mean(own)
        self.rows.append(row | more)
        try:
            self._report(Progress("newton", min(len(self.rows) / (self._n_rounds + 1), 1.0), self.rows[-1]))
        except StopRequested:
            if len(self.rows) == 1:  # there is no model yet
                raise
            self.stopped = True
        return self.stopped or 0 < self._patience <= self.rounds - self._best

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return len(self.rows) - 1

    @property
    def _best(self) -> int:
        """The round with the highest metric on the validation part, at least 1; the first of equal ones."""
        values = [row[PARTS[1]] for row in self.rows[1:]]
        return 1 + int(np.argmax(values)) if values else 0

    @property
    def kept(self) -> int:
        """Rounds to keep."""
        return self._best if self._patience else self.rounds

    @property
    def status(self) -> str:
        """Say how training ended, in a sentence."""
        ran, kept = counted(self.rounds, "round"), counted(self.kept, "round")
        end = f"{STOPPED} after {ran}" if self.stopped else f"trained {ran}"
        if not self._patience:
            return f"{end}, and kept all of them"
        return f"{end}, and kept {kept}: {MEASURE} on the validation part was highest there"


class RoundRanker(Ranker):
    """A ranker whose scores are a sum of trees, one for each round, or of multiples of features.

    A subclass has `settings`, `n_rounds` and `patience`, and the method `grow`.

    Attributes
    ----------
    trees_ : Trees or Terms
    n_rounds_ : int
        Rounds that are kept.
    feature_importances_ : (d,) float64
        Each feature's share of what the splits of the kept rounds gain; they sum to 1.
    trace_ : DataFrame
        iteration, seconds, and NDCG@10 on the training and the validation part, for each round.
    status_ : str
    memory_need_ : int
        Bytes counted for training before it started, besides the documents.
    library_ : str
        The version of the library that grew its trees; "" if there is none.
    """

    library_: str = ""

    settings: ClassVar[tuple[Setting, ...]]
    sums: ClassVar[type[Trees] | type[Terms]] = Trees
    """Class of the sum."""
    traced: ClassVar[tuple[str, str]] = ("", "")
    """Column of its trace with the function of the training part that it minimises or raises, and words."""
    library: ClassVar[str] = ""
    """The package that grows its trees; "" if there is none."""
    measured_later: ClassVar[bool] = False
    """True if `grow` passes no scores to a watch that is `later`: its trees give those of each round."""
    n_rounds: int
    patience: int = 0

    @property
    def keeps_documents(self) -> bool:
        """True if documents are kept until somebody reads the trace; trees do not refer to them."""
        return self.measured_later

    @abstractmethod
    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Train on the first part; call `watch` with the scores of all parts after each round."""

    def check_settings(self) -> None:
        """Raise `SettingError` for a setting outside its range."""
        for setting in self.settings:
            setting.check(getattr(self, setting.parameter or setting.name))

    @classmethod
    def bytes_for(cls, n: int, d: int, values: Mapping[str, Any]) -> int:
        """Return the bytes of training on n documents of all parts: bins, gradients and histograms."""
        return n * (d + 64) + 256 * 24 * int(values[LEAVES.name]) * d

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        validation: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train as `Ranker.fit`, with early stopping by NDCG@10 on `validation`, a tuple (X, y, qid)."""
        self._validation = None if validation is None else _data_of(*validation)
        try:
            return super().fit(X, y, qid=qid, sample_weight=sample_weight, callback=callback)
        finally:
            del self._validation

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Train on a checked `RankingData`, without a validation part unless `fit` got one."""
        return self.fit_watching(data, getattr(self, "_validation", None), callback)

    def fit_watching(
        self, data: RankingData, validation: RankingData | None, callback: Callback | None = None
    ) -> Self:
        """Train, and measure each round on both parts; see `fit`."""
        self.check_settings()
        refuse_unusable(data)
        parts = [data] if validation is None or not validation.n_documents else [data, validation]
        self.memory_need_ = self.refuse_large(parts)
        reuse_freed_memory()
        later = self.measured_later and callback is None and len(parts) == 1
        watch = Watch(parts, self.n_rounds, self.patience, reporter(callback), later)
        grown = self.grow(parts, watch)
        self.library_ = library_version(self.library) if self.library else ""
        self.n_features_in_ = data.n_features
        self.n_rounds_, self.status_, self.stopped_ = watch.kept, watch.status, watch.stopped
        self.trees_, self.feature_importances_ = grown(watch.kept)
        self.__dict__.pop("trace_", None)
        self._rows, self._unmeasured = watch.rows, data if later else None
        return self

    @cached_property
    def trace_(self) -> pd.DataFrame:
        """One row for each round; if nobody read the metrics during training, they are computed here."""
        if "_rows" not in vars(self):
            raise AttributeError("trace_ exists after fit")
        if (part := self._unmeasured) is not None and isinstance(self.trees_, Trees):
            measure, stages = TopNDCG(part), self.trees_.stages(part.X)
            scores = np.zeros(part.n_documents)
            for row in self._rows:  # LightGBM's last round has no tree if there is no more split
                scores = next(stages, scores)
                row |= {PARTS[0]: measure.mean(scores)} | self.lowered(part, scores)
            self._unmeasured = None  # it keeps documents no longer
        return pd.DataFrame(self._rows)

    def lowered(self, part: RankingData, scores: FloatArray) -> dict[str, float]:
        """Return more columns of the trace, such as the function that it minimises, at scores (n,)."""
        return {}

    def _final_weights(self) -> FloatArray:
        """Return none for trees, without reading the trace as `outcome` does."""
        return np.zeros(0) if self.measured_later else super()._final_weights()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy keeps: the trace, without documents."""
        if getattr(self, "_unmeasured", None) is not None:
            self.trace_  # noqa: B018  # measures it
        state: dict[str, Any] = super().__getstate__()
        return state

    def refuse_large(self, parts: Sequence[RankingData]) -> int:
        """Return the bytes of training; raise `DataError` if they are not free."""
        n, d = sum(part.n_documents for part in parts), parts[0].n_features
        need, budget = self.bytes_for(n, d, self.get_params()), default_budget()
        if need > budget:
            raise DataError(
                f"training on {n:,} documents needs about {megabytes(need)} of memory",
                expected=f"at most {megabytes(budget)}",
                remedy="Choose fewer leaves, or fewer documents.",
            )
        return need

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Sum of the trees' values."""
        return self.trees_.scores(X, report)

    def form(self) -> Form:
        """Return its scores as a sum of functions of single features, or of boxes for larger trees."""
        return self.trees_.form(self.n_features_in_)

    def unfitted(self) -> Self:
        """Return an unfitted copy that keeps as many rounds as this model, on any data."""
        fixed = {"n_rounds": self.n_rounds_} | ({"patience": 0} if self.patience else {})
        copy: Self = clone(self).set_params(**fixed)
        return copy

    def outcome(self) -> Outcome:
        """Status, trace, trees and shares of features."""
        solution = {IMPORTANCE: self.feature_importances_} | self._trees()
        return Outcome(self.status_, self.stopped_, trace=self.trace_, solution=solution)

    def _trees(self) -> Arrays:
        return {f"{TREES}{name}": found for name, found in self.trees_.arrays().items()}

    @property
    def stored(self) -> Arrays:
        """Arrays of a file, for `restore`."""
        return {IMPORTANCE: self.feature_importances_} | self._trees()

    def trees_from(self, arrays: Arrays, d: int) -> Trees | Terms:
        """Return the trees in arrays of `stored`. Raises KeyError or ValueError for damaged ones."""
        own = {name.removeprefix(TREES): a for name, a in arrays.items() if name.startswith(TREES)}
        return self.sums.from_arrays(own, d)

    def restore(self, arrays: Arrays, d: int, trace: pd.DataFrame, status: str) -> Self:
        """Set what training set, from arrays of `stored` or a record. Raises as `trees_from`."""
        self.trees_, self.feature_importances_ = self.trees_from(arrays, d), shaped(arrays, IMPORTANCE, d)
        self.n_features_in_, self.n_rounds_ = d, len(self.trees_.roots)
        if len(trace) <= self.n_rounds_ or not {"iteration", PARTS[0]} <= set(trace):
            raise ValueError("the trace lacks rounds of the model")
        self.trace_, self.status_ = trace, str(status)
        self.stopped_ = self.status_.startswith(STOPPED)
        return self


@dataclass(eq=False, repr=False)
class BoostedTrees(RoundRanker):
    """Trees with several leaves, one after another: the parameters of `BOOSTING`."""

    n_rounds: int = 300
    patience: int = 50
    leaves: int = 10
    learning_rate: float = 0.1
    leaf_documents: int = 20
    random_state: int = 0
    n_threads: int = 1

    settings: ClassVar[tuple[Setting, ...]] = BOOSTING


_MODULES = {"scikit-learn": "sklearn"}


def library_version(package: str) -> str:
    """Return the version of a package that is installed here; "" if it does not load."""
    try:
        return str(importlib.import_module(_MODULES.get(package, package)).__version__)
    except (ImportError, OSError):  # OSError: a system without OpenMP's library
        return ""


def other_library(kind: Callable[..., Ranker], version: str) -> str:
    """Say that the library of a ranker has another version here than the one that trained it; "" if not."""
    package = getattr(kind, "library", "")
    here = library_version(package) if package and version else version
    if here == version:
        return ""
    found = f"{package} {here} is" if here else f"{package} is not"
    return (
        f"{package} {version} trained this model, and {found} installed here: its scores stay, as "
        "it keeps its trees, but training it again may give other trees"
    )


def _data_of(X: ArrayLike, y: ArrayLike, qid: ArrayLike) -> RankingData:
    return RankingData.from_arrays(X, grades_of(y), query_ids_of(qid), regroup=True, copy=False)


def shares(gains: ArrayLike) -> FloatArray:
    """Return gains (d,) divided by their sum; zeros if nothing gained."""
    found = np.asarray(gains, np.float64)
    return found / max(float(found.sum()), np.finfo(np.float64).tiny)


def work_of(
    seconds_per_entry: float, kind: type[RoundRanker], per_pair: float = 0.0
) -> Callable[[Mapping[str, Any], Sizes], Work]:
    """Return the work of a method, from the seconds of a tree per document, or pair, and feature.

    Early stopping typically ends training after at most twice its patience: 52 to 158 rounds with 50.
    """

    def work(values: Mapping[str, Any], sizes: Sizes) -> Work:
        rounds = values[ROUNDS.name]
        rounds = min(rounds, 2 * values.get(PATIENCE.name, 0) or rounds)
        of_tree = seconds_per_entry * sizes.n + per_pair * sizes.entries
        seconds = rounds * (ROUND_SECONDS + of_tree * sizes.d)
        return Work(seconds=seconds, memory=kind.bytes_for(2 * sizes.n, sizes.d, values))

    return work
