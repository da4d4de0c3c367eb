"""Boosters as their papers write them: plain loops over pairs, queries, features and thresholds."""

from itertools import pairwise

import numpy as np

from rankviz import RankingData, evaluate

Pair = tuple[int, int]


def pairs_of(data: RankingData) -> list[list[Pair]]:
    found = []
    for first, end in pairwise(data.ptr.tolist()):
        found.append([(i, j) for i in range(first, end) for j in range(first, end) if data.y[i] > data.y[j]])
    return found


def thresholds(column: np.ndarray) -> list[float]:
    values = sorted(set(column.tolist()))
    return [(a + b) / 2 for a, b in pairwise(values)]


def best_stump(X: np.ndarray, weights: dict[Pair, float]) -> tuple[int, float, float]:
    """The threshold with the largest |Σ D (h_i − h_j)|, with its sum."""
    best = (0, 0.0, 0.0)
    for feature in range(X.shape[1]):
        for threshold in thresholds(X[:, feature]):
            h = X[:, feature] > threshold
            r = sum(w * (float(h[i]) - float(h[j])) for (i, j), w in weights.items())
            if abs(r) > abs(best[2]) + 1e-12:
                best = feature, threshold, r
    return best


def rankboost(data: RankingData, rounds: int) -> tuple[np.ndarray, list[float]]:
    """Scores (rounds, n), and the product of the normalisers Z after each round."""
    pairs = [pair for own in pairs_of(data) for pair in own]
    D = dict.fromkeys(pairs, 1.0 / len(pairs))
    f, scores, bound, bounds = np.zeros(len(data.y)), [], 1.0, []
    for _ in range(rounds):
        feature, threshold, r = best_stump(data.X, D)
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        h = (data.X[:, feature] > threshold).astype(float)
        D = {(i, j): w * np.exp(alpha * (h[j] - h[i])) for (i, j), w in D.items()}
        Z = sum(D.values())
        assert np.sqrt(1 - r * r) + 1e-12 >= Z
        D = {pair: w / Z for pair, w in D.items()}
        f, bound = f + alpha * h, bound * Z
        scores.append(f)
        bounds.append(bound)
    return np.array(scores), bounds


def frank(data: RankingData, rounds: int) -> tuple[np.ndarray, list[float]]:
    """Scores (rounds, n), and the fidelity loss after each round."""
    queries = [own for own in pairs_of(data) if own]
    D = {pair: 1.0 / (len(own) * len(queries)) for own in queries for pair in own}
    f, scores, losses = np.zeros(len(data.y)), [], []
    for _ in range(rounds):
        P = {(i, j): 1.0 / (1.0 + np.exp(f[j] - f[i])) for i, j in D}
        W = {pair: D[pair] * np.sqrt(P[pair]) * (1.0 - P[pair]) for pair in D}
        tried = []
        for feature in range(data.n_features):
            for threshold in thresholds(data.X[:, feature]):
                h = (data.X[:, feature] > threshold).astype(float)
                right = sum(w for (i, j), w in W.items() if h[i] > h[j])
                wrong = sum(w for (i, j), w in W.items() if h[i] < h[j])
                after = f + 0.5 * np.log((right + 1e-12) / (wrong + 1e-12)) * h
                loss = sum(D[i, j] * (1 - np.sqrt(1 / (1 + np.exp(after[j] - after[i])))) for i, j in D)
                tried.append((loss, after))
        loss, f = min(tried, key=lambda one: one[0])
        scores.append(f)
        losses.append(loss)
    return np.array(scores), losses


def measured(scores: np.ndarray, data: RankingData, measure: str) -> np.ndarray:
    """The measure of each query, with equal scores at the mean."""
    return evaluate(scores, data, "letor", ties="mean", measures=[measure]).per_query[measure].to_numpy()


def adarank(data: RankingData, measure: str, rounds: int) -> tuple[np.ndarray, list[float]]:
    """Scores (rounds, n), and the mean of exp(−E) after each round."""
    Q = data.n_queries
    P, f, scores, losses, k = [1.0 / Q] * Q, np.zeros(len(data.y)), [], [], -1
    alone = [measured(data.X[:, k], data, measure) for k in range(data.n_features)]
    for _ in range(rounds):
        value = {j: sum(P[q] * E[q] for q in range(Q)) for j, E in enumerate(alone) if j != k}
        k = max(value, key=lambda j: value[j])
        good = sum(P[q] * (1 + alone[k][q]) for q in range(Q))
        bad = sum(P[q] * (1 - alone[k][q]) for q in range(Q))
        f = f + 0.5 * np.log(good / bad) * data.X[:, k]
        E = measured(f, data, measure)
        P = [np.exp(-E[q]) / sum(np.exp(-E)) for q in range(Q)]
        scores.append(f)
        losses.append(float(np.mean(np.exp(-E))))
    return np.array(scores), losses
