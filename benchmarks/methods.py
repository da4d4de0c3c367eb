"""Methods measured: rankviz, and what a user would take in its stead, each as settings with `fit`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec

import numpy as np

from rankviz import RankSVM
from rankviz.common.numbers import power_of_two
from rankviz.common.threads import cores
from rankviz.datasets import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.risk.pairs import preference_pairs

NO_OBJECTIVE = (np.nan, np.nan)
MINIMUM_TOL = 1e-10
"""The least objective is our own, once more, with the Newton decrement below this share of it."""


def available(package: str) -> bool:
    """Whether a peer is installed (requirements-bench.txt)."""
    return find_spec(package) is not None


def _kernel_words(C: float, gamma: float, *, has_kernel: bool) -> str:
    words = f"C = {power_of_two(C)}"
    return f"{words}, γ = {power_of_two(gamma)}" if has_kernel else words


@dataclass(frozen=True)
class Ours:
    """RankSVM as it is, with its own tolerance."""

    feature_map: str
    m: int
    C: float
    gamma: float = 1.0
    tol: float = 1e-6

    @property
    def label(self) -> str:
        """Name in tables."""
        kind = FEATURE_MAPS[self.feature_map]
        return f"rankviz {kind.label}{f' m = {self.m}' if kind.has_components else ''}"

    @property
    def words(self) -> str:
        """Settings in words."""
        return _kernel_words(self.C, self.gamma, has_kernel=FEATURE_MAPS[self.feature_map].has_kernel)

    def fit(self, train: RankingData) -> RankSVM:
        return RankSVM(
            self.feature_map, n_components=self.m, gamma=self.gamma, C=self.C, tol=self.tol
        ).fit_data(train)

    def objectives(self, model: RankSVM, train: RankingData) -> tuple[float, float]:
        return model.objective_, replace(self, tol=MINIMUM_TOL).fit(train).objective_


@dataclass(frozen=True)
class PairSVM:
    """The same problem by scikit-learn: approximate map, differences of all pairs, LinearSVC in the primal.

    LinearSVC's squared hinge is ½‖w‖² + C Σ max(0, 1 − t)², ours to the letter. It wants two classes, so half
    of the differences are turned round. Its tolerance is loose, in its favour: at 10^-1 it stops further
    above the minimum than ours, at 10^-2 it may take up to half as long again and end closer.
    """

    transformer: str
    m: int
    C: float
    gamma: float = 1.0
    tol: float = 1e-1

    @property
    def label(self) -> str:
        """Name in tables."""
        mapping = "" if self.transformer == "linear" else f"{self.transformer} m = {self.m} + "
        return f"scikit-learn {mapping}pairs + LinearSVC"

    @property
    def words(self) -> str:
        """Settings in words."""
        words = _kernel_words(self.C, self.gamma, has_kernel=self.transformer != "linear")
        return f"{words}, tol = {self.tol:g}, all pairs"

    def fit(self, train: RankingData) -> FittedPairSVM:
        from sklearn.svm import LinearSVC

        mapping = self._mapping()
        features = mapping.fit_transform(train.X)
        pairs = preference_pairs(train.y, train.ptr)
        differences = features[pairs.winner]
        differences -= features[pairs.loser]
        labels = np.random.default_rng(0).permutation(np.arange(len(pairs)) % 2) * 2.0 - 1.0
        differences *= labels[:, None]
        svm = LinearSVC(
            C=self.C, tol=self.tol, dual=False, fit_intercept=False, random_state=0, max_iter=10_000
        )
        return FittedPairSVM(mapping, svm.fit(differences, labels).coef_[0])

    def _mapping(self) -> object:
        from sklearn.kernel_approximation import Nystroem, RBFSampler
        from sklearn.preprocessing import FunctionTransformer

        if self.transformer == "linear":
            return FunctionTransformer()
        if self.transformer == "Nystroem":
            return Nystroem(kernel="rbf", gamma=self.gamma, n_components=self.m, random_state=0)
        return RBFSampler(gamma=self.gamma, n_components=self.m, random_state=0)

    def objectives(self, model: FittedPairSVM, train: RankingData) -> tuple[float, float]:
        features, pairs = model.mapping.transform(train.X), preference_pairs(train.y, train.ptr)
        slack = np.maximum(0.0, 1.0 - pairs.margins(features @ model.w))
        reached = 0.5 * float(model.w @ model.w) + self.C * float(slack @ slack)
        same = replace(train, X=np.ascontiguousarray(features))
        return reached, Ours("linear", 1, self.C, tol=MINIMUM_TOL).fit(same).objective_


@dataclass(frozen=True)
class FittedPairSVM:
    """A map and weights."""

    mapping: object
    w: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.mapping.transform(X) @ self.w


@dataclass(frozen=True)
class LightGBM:
    """Gradient-boosted trees by LightGBM's lambdarank."""

    leaves: int
    rate: float
    least: int
    rounds: int
    label: str = field(default="LightGBM lambdarank", init=False)

    @property
    def words(self) -> str:
        """Settings in words."""
        return (
            f"{self.leaves} leaves, learning rate {self.rate:g}, ≥ {self.least} documents per leaf, "
            f"{self.rounds} trees"
        )

    def fit(self, train: RankingData, vali: RankingData | None = None, patience: int = 0) -> Boosted:
        """Boost; with a validation part, stop after `patience` trees without a better NDCG@10 there."""
        import lightgbm

        settings = {
            "objective": "lambdarank",
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "min_data_in_leaf": self.least,
            "eval_at": [10],
            "metric": "ndcg",
            "num_threads": cores(),
            "seed": 0,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(train.X, train.y, group=np.diff(train.ptr))
        if vali is None:
            return Boosted(lightgbm.train(settings, data, self.rounds), self.rounds)
        other = lightgbm.Dataset(vali.X, vali.y, group=np.diff(vali.ptr), reference=data)
        stop = [lightgbm.early_stopping(patience, verbose=False)]
        model = lightgbm.train(settings, data, self.rounds, valid_sets=[other], callbacks=stop)
        return Boosted(model, model.best_iteration)

    def objectives(self, model: object, train: RankingData) -> tuple[float, float]:
        return NO_OBJECTIVE


@dataclass(frozen=True)
class XGBoost:
    """Gradient-boosted trees by XGBoost's rank:ndcg."""

    depth: int
    rate: float
    least: float
    rounds: int
    label: str = field(default="XGBoost rank:ndcg", init=False)

    @property
    def words(self) -> str:
        """Settings in words."""
        return (
            f"depth {self.depth}, learning rate {self.rate:g}, min_child_weight {self.least:g}, "
            f"{self.rounds} trees"
        )

    def fit(self, train: RankingData, vali: RankingData | None = None, patience: int = 0) -> BoostedXGB:
        """Boost; with a validation part, stop after `patience` trees without a better NDCG@10 there."""
        import xgboost

        settings = {
            "objective": "rank:ndcg",
            "max_depth": self.depth,
            "eta": self.rate,
            "min_child_weight": self.least,
            "eval_metric": "ndcg@10",
            "tree_method": "hist",
            "nthread": cores(),
            "seed": 0,
        }
        data = xgboost.QuantileDMatrix(train.X, train.y, qid=train.qid, nthread=cores())
        if vali is None:
            return BoostedXGB(xgboost.train(settings, data, self.rounds), self.rounds)
        other = xgboost.QuantileDMatrix(vali.X, vali.y, qid=vali.qid, ref=data, nthread=cores())
        model = xgboost.train(
            settings,
            data,
            self.rounds,
            evals=[(other, "vali")],
            early_stopping_rounds=patience,
            verbose_eval=False,
        )
        return BoostedXGB(model, model.best_iteration + 1)

    def objectives(self, model: object, train: RankingData) -> tuple[float, float]:
        return NO_OBJECTIVE


@dataclass(frozen=True)
class Boosted:
    """Trees and how many of them count."""

    model: object
    rounds: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X, num_iteration=self.rounds, num_threads=cores())


@dataclass(frozen=True)
class BoostedXGB:
    """Trees and how many of them count."""

    model: object
    rounds: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        import xgboost

        return self.model.predict(
            xgboost.DMatrix(X, nthread=cores()), iteration_range=(0, self.rounds)
        ).astype(np.float64)
