"""Seconds of each method beside a public implementation of the same method, in turns in one process.

The first fold of OHSUMED and of MQ2008; needs RANKVIZ_LETOR. Both have the same data, settings and threads.
`requirements/bench.txt` has fastrank, mord and ranklab; `sofia_crr.cpp` says how to build sofia-ml, and
`RankLibTimes.java` RankLib. What is not installed is left out.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks import report
from benchmarks.peers import PairSVM, Trees
from benchmarks.report import fold_of, letor, timed
from rankviz import MART, CoordinateAscent, LambdaMART, RandomForest, RankSVM, XGBoostRanker, evaluate
from rankviz.common.arrays import FloatArray
from rankviz.common.parallel import limit_threads
from rankviz.datasets import RankingData
from rankviz.learning.pairs import PreferencePairs, preference_pairs
from rankviz.learning.score_losses import ALPHA, SCORE_LOSSES, Queries
from rankviz.models.adarank import AdaRankMAP, AdaRankNDCG
from rankviz.models.lambda_rank import lambda_weights
from rankviz.models.rankboost import RankBoost

Scores = Callable[[FloatArray], FloatArray]
Fit = Callable[[RankingData], Scores]
Pair = tuple[str, Fit, str, Fit]
ROUNDS = 9
C = 2.0**-10
TREES, LEAVES, LEAST, RATE = 100, 10, 50, 0.1
PASSES = 12
SOFIA, STEPS = "RANKVIZ_SOFIA", 100_000
"""Variable that names the program of `sofia_crr.cpp`, and its stochastic steps, the usual number."""
RANKLIB, EPOCHS = "RANKVIZ_RANKLIB", 1500
"""Variable that names RankLib's classes, and the epochs of its ListNet, the usual number."""


def ours(model: Any) -> Fit:
    return lambda train: model.fit_data(train).predict


def theirs(model: Any, label: Callable[[RankingData], Any] = lambda train: train.y) -> Fit:
    """Return the fit of an estimator of scikit-learn on documents."""
    return lambda train: _scores(model.fit(train.X, label(train)))


def _scores(model: Any) -> Scores:
    return model.decision_function if hasattr(model, "decision_function") else model.predict


def on_pairs(model: Any, every: bool = False) -> Fit:
    """Return the fit on differences of preference pairs; of all pairs of a query with `every`."""

    def fit(train: RankingData) -> Scores:
        if every:
            runs = zip(train.ptr[:-1], train.ptr[1:], strict=True)
            both = [np.triu_indices(end - start, 1) + start for start, end in runs]
            i, j = np.concatenate(both, axis=1)
            target = (train.y[i] - train.y[j]).astype(float)
        else:
            pairs = preference_pairs(train.y, train.ptr)
            i, j = pairs.winner, pairs.loser
            target = np.where(np.arange(len(i)) % 2, 1.0, -1.0)  # a classifier needs both
        differences = train.X[i] - train.X[j]
        if not every:
            differences *= target[:, None]
        w = np.ravel(model.fit(differences, target).coef_)
        return lambda X: X @ w

    return fit


@cache
def _pairs_of(train: RankingData) -> PreferencePairs:
    """Return the pairs, which a fit forms once for all its gradients."""
    return preference_pairs(train.y, train.ptr)


def gradient_by_pairs(train: RankingData) -> Scores:
    """Return minus the gradient λ of LambdaRank at the scores of the first feature."""
    f, pairs = train.X[:, 0], _pairs_of(train)
    push = lambda_weights(f, train.y, train.ptr, pairs) / (1.0 + np.exp(pairs.margins(f)))
    n = train.n_documents
    found = np.bincount(pairs.winner, push, n) - np.bincount(pairs.loser, push, n)
    return lambda X: found[: len(X)]


def gradient_by_ranklab(train: RankingData) -> Scores:
    from ranklab import compute_lambdarank_gradients

    f, y = train.X[:, 0].astype(np.float32), train.y.astype(np.float32)
    queries = [slice(start, end) for start, end in zip(train.ptr[:-1], train.ptr[1:], strict=True)]
    found = np.concatenate([compute_lambdarank_gradients(f[own], y[own]) for own in queries])
    return lambda X: found[: len(X)]


def listnet(train: RankingData) -> Scores:
    """Return ListNet's loss of each query at the scores of the first feature; the gradient comes with it."""
    found = SCORE_LOSSES["listnet"].terms(train.X[:, 0], train.y, Queries(train.ptr)).value
    return lambda X: found


def listnet_by_ranklab(train: RankingData) -> Scores:
    from ranklab import listnet_loss

    f, y = train.X[:, 0], train.y.astype(float)
    queries = zip(train.ptr[:-1], train.ptr[1:], strict=True)
    found = np.array([listnet_loss(f[start:end], y[start:end]) for start, end in queries])
    return lambda X: found


@cache
def _file(train: RankingData) -> str:
    """Write documents to a file for a program that numbers features from 1; return its path."""
    query = np.repeat(np.arange(train.n_queries), np.diff(train.ptr))
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        dump_svmlight_file(train.X.copy(), train.y.copy(), file.name, zero_based=False, query_id=query)
    atexit.register(Path(file.name).unlink)
    return file.name


def by_sofia(train: RankingData) -> Scores:
    """Return CRR by its author's program: stochastic steps on the objective divided by 2·C·n."""
    penalty, pairs = 0.5 / (C * train.n_documents), 1.0 - ALPHA.default
    asked = [os.environ[SOFIA], _file(train), train.n_features, penalty, pairs, STEPS]
    said = subprocess.run([str(one) for one in asked], capture_output=True, check=True, text=True).stdout
    took, *w = map(float, said.split())
    return Foreign(took, lambda X: X @ np.array(w))


@dataclass(frozen=True)
class Foreign:
    """Scores by the model of a program that says its own seconds."""

    took: float
    scores: Scores

    def __call__(self, X: FloatArray) -> FloatArray:
        return self.scores(X)


@cache
def _ranklib(train: RankingData) -> subprocess.Popen[str]:
    """Start RankLib, which reads the documents once and ends with this process."""
    driver, thresholds = Path(__file__).with_name("RankLibTimes.java"), str(RankBoost().thresholds)
    asked = ["java", "-XX:+UseSerialGC", "-cp", os.environ[RANKLIB], str(driver), _file(train), thresholds]
    return subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def by_ranklib(method: str, rounds: int) -> Fit:
    """Return the fit by RankLib, whose model has FEATURE:α, FEATURE:THRESHOLD:α, or weights of a network."""

    def fit(train: RankingData) -> Scores:
        program = _ranklib(train)
        print(method, rounds, file=program.stdin, flush=True)
        took, *said = program.stdout.readline().split()  # type: ignore[union-attr]
        if method == "ListNet":  # 0 FEATURE WEIGHT, the intercept last
            return Foreign(float(took), lambda X: X @ np.array(said[2:-3:3], float))
        terms = [[float(x) for x in term.split(":")] for term in said]

        def term(column: FloatArray, alpha: float, threshold: float | None = None) -> FloatArray:
            return alpha * (column if threshold is None else column > threshold)

        return Foreign(
            float(took), lambda X: np.sum([term(X[:, int(j) - 1], *c[::-1]) for j, *c in terms], axis=0)
        )

    return fit


def by_mord(train: RankingData) -> Scores:
    from mord import LogisticAT

    w = LogisticAT(alpha=1.0 / C).fit(train.X, train.y).coef_
    return lambda X: X @ w


def by_fastrank(train: RankingData) -> Scores:
    from fastrank import CDataset, TrainRequest

    asked = TrainRequest.coordinate_ascent()
    asked.measure, asked.params.num_restarts, asked.params.num_max_iterations = "ndcg@10", 1, PASSES
    asked.params.seed, asked.params.quiet, asked.params.init_random = 42, True, False
    documents = train.X.astype(np.float32), train.y.astype(float), np.asarray(train.qid, np.int64)
    model = CDataset.from_numpy(*documents).train_model(asked)
    w = np.array(model.to_dict()["Linear"]["weights"])
    return lambda X: X @ w


def pairs() -> Iterator[Pair]:
    """Yield our name and fit, and theirs."""
    ridge, relevance = Ridge(alpha=0.5 / C), LogisticRegression(C=C, tol=1e-6)
    ranknet = LogisticRegression(C=C, fit_intercept=False, tol=1e-6, solver="newton-cholesky")
    all_pairs = Ridge(alpha=0.5 / C, fit_intercept=False)
    yield "Ridge", ours(RankSVM(loss="least_squares", C=C)), "scikit-learn Ridge", theirs(ridge)
    label = lambda train: train.y > 0  # noqa: E731
    yield (
        "logistic on relevance",
        ours(RankSVM(loss="logistic_relevance", C=C)),
        "scikit-learn LogisticRegression",
        theirs(relevance, label),
    )
    yield "RankSVM", ours(RankSVM(C=C)), "pairs + LinearSVC", _pair_svm
    yield "RankNet", ours(RankSVM(loss="ranknet", C=C)), "pairs + LogisticRegression", on_pairs(ranknet)
    yield "RankRLS", ours(RankSVM(loss="rankrls", C=C)), "all pairs + Ridge", on_pairs(all_pairs, every=True)
    if find_spec("mord"):
        yield "ordinal thresholds", ours(RankSVM(loss="ordinal", C=C)), "mord LogisticAT", by_mord
    if SOFIA in os.environ:
        yield "CRR", ours(RankSVM(loss="crr", C=C)), "sofia-ml", by_sofia
    if find_spec("ranklab"):
        yield "one loss of ListNet", listnet, "ranklab", listnet_by_ranklab
        yield "one gradient of LambdaRank", gradient_by_pairs, "ranklab", gradient_by_ranklab
    if find_spec("fastrank"):
        own = CoordinateAscent(n_rounds=PASSES, patience=PASSES)
        yield "coordinate ascent", ours(own), "fastrank", by_fastrank
    if RANKLIB in os.environ:
        yield "ListNet", ours(RankSVM(loss="listnet", C=C)), "RankLib", by_ranklib("ListNet", EPOCHS)
        for boosting in (AdaRankNDCG, AdaRankMAP, RankBoost):
            name = boosting.__name__
            yield name, ours(boosting(n_rounds=TREES)), "RankLib", by_ranklib(name, TREES)
    settings = {"learning_rate": RATE, "min_child_samples": LEAST, "num_leaves": LEAVES}
    boosted = LambdaMART(n_rounds=TREES, leaves=LEAVES, leaf_documents=LEAST, learning_rate=RATE)
    lightgbm = Trees("lightgbm", tuple(settings.items()), TREES)
    yield "LambdaMART", ours(boosted), lightgbm.label, lambda train: lightgbm.fit(train).predict
    if find_spec("xgboost"):
        grown = {"learning_rate": RATE, "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide"}
        xgboost = Trees("xgboost", tuple(grown.items()), TREES)
        own = XGBoostRanker(n_rounds=TREES, leaves=LEAVES, learning_rate=RATE)
        yield "LambdaMART (XGBoost)", ours(own), xgboost.label, lambda train: xgboost.fit(train).predict
    mart = HistGradientBoostingRegressor(
        learning_rate=RATE, max_iter=TREES, max_leaf_nodes=LEAVES, min_samples_leaf=LEAST
    )
    own = MART(n_rounds=TREES, leaves=LEAVES, leaf_documents=LEAST, learning_rate=RATE)
    yield "MART", ours(own), "scikit-learn HistGradientBoosting", theirs(mart)
    forest = RandomForestRegressor(TREES, max_features=0.3, min_samples_leaf=20, random_state=0)
    yield "random forest", ours(RandomForest(n_rounds=TREES)), "scikit-learn RandomForest", theirs(forest)


def _pair_svm(train: RankingData) -> Scores:
    return PairSVM("linear", 1, C).fit(train).predict


def main() -> None:
    if letor("methods beside public implementations") is None:
        return
    limit_threads(1)
    warnings.simplefilter("ignore")  # two of scikit-learn's solvers may end before their tolerance
    rows = []
    for name in ("OHSUMED", "MQ2008"):
        fold = fold_of(name)
        for label, own, other, fit in pairs():
            took: list[list[float]] = [[], []]
            scores: list[Scores] = [lambda X: X[:, 0]] * 2
            for _ in range(1 + ROUNDS):
                for k, one in enumerate((own, fit)):
                    scores[k], spent = timed(partial(one, fold.train))
                    took[k].append(scores[k].took if isinstance(scores[k], Foreign) else spent)
            medians = [float(np.median(one[1:])) for one in took]
            row = {"set": name, "method": label, "s": medians[0], "beside": other, "s there": medians[1]}
            row |= {"there / here": medians[1] / medians[0]}
            if "one " not in label:
                means = [float(evaluate(s(fold.test.X), fold.test).mean["NDCG@10"]) for s in scores]
                row |= {"test NDCG@10": means[0], "NDCG@10 there": means[1]}
            rows.append(row)
            print(row, flush=True)
    notes = [
        f"Medians of {ROUNDS} fits in turns, after one that does not count; one thread. C = 2⁻¹⁰; trees: "
        f"{TREES} of {LEAVES} leaves. Equal NDCG@10 shows that both do the same; "
        "starts, bins and settings differ elsewhere.",
        "LambdaRank's gradient, and ListNet's loss with its gradient, are those of one step: ranklab has no "
        "training, and gives the loss alone. Pairs are formed before, as in a fit.",
        f"sofia-ml takes {STEPS:,} stochastic steps; reading its file does not count.",
        f"RankLib runs in a warm JVM; {TREES} rounds of AdaRank and RankBoost. Its AdaRank takes a feature "
        "once in succession and does not stop early, as ours. Its ListNet takes its usual "
        f"{EPOCHS:,} epochs without a penalty; ours ends at the minimum of an objective with one.",
        "ApproxNDCG, SmoothRank and FRank are not compared: we found no public program with one but in "
        "deep-learning libraries. The public program of SVM-MAP embeds Python 2, which is not built here.",
    ]
    report.write("methods", "Methods beside public implementations", pd.DataFrame(rows), notes)


if __name__ == "__main__":
    main()
