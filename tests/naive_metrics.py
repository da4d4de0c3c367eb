"""Metrics as plain loops, written straight from the definitions: what the fast ones must equal.

Every function takes the grades of one query, best score first.
"""

import itertools
import math
from functools import partial

import numpy as np
import pandas as pd

from rankviz.datasets.types import RankingData


def letor_dcg(grades: list[int], k: int) -> float:
    total = 0.0
    for rank in range(1, k + 1):
        gain = 2 ** grades[rank - 1] - 1
        total += gain if rank <= 2 else gain / math.log2(rank)
    return total


def letor_ndcg(grades: list[int], k: int) -> float:
    if len(grades) < k:
        return 0.0
    best = letor_dcg(sorted(grades, reverse=True), k)
    return letor_dcg(grades, k) / best if best else 0.0


def hits(grades: list[int], k: int, threshold: int) -> int:
    return sum(grade >= threshold for grade in grades[:k])


def average_precision(grades: list[int], threshold: int) -> float:
    found = [
        hits(grades, rank, threshold) / rank
        for rank, grade in enumerate(grades, start=1)
        if grade >= threshold
    ]
    return sum(found) / len(found) if found else 0.0


def slow_letor4(grades: list[int], ranks: list[int], threshold: int = 1) -> dict[str, float]:
    n = len(grades)
    return {
        **{f"NDCG@{k}": letor_ndcg(grades, k) for k in ranks},
        "MeanNDCG": sum(letor_ndcg(grades, k) for k in range(1, n + 1)) / n,
        **{f"P@{k}": hits(grades, k, threshold) / k for k in ranks},
        "MAP": average_precision(grades, threshold),
    }


def slow_letor_script(grades: list[int], ranks: list[int]) -> dict[str, float]:
    """Eval-Score-4.0 reads gain and relevance from tables without grades above 2: they act as grade 0."""
    return slow_letor4([{0: 0, 1: 1, 2: 2}.get(grade, 0) for grade in grades], ranks)


def slow_letor3(grades: list[int], ranks: list[int]) -> dict[str, float]:
    return {
        **{f"NDCG@{k}": letor_ndcg(grades, k) for k in ranks},
        **{f"P@{k}": hits(grades, k, 1) / k if len(grades) >= k else 0.0 for k in ranks},
        "MAP": average_precision(grades, 1),
    }


def slow_mslr(grades: list[int], ranks: list[int]) -> dict[str, float]:
    return slow_letor4(grades, ranks, threshold=2)


def textbook_ndcg(grades: list[int], k: int) -> float:
    k = min(k, len(grades))

    def dcg(order: list[int]) -> float:
        return sum((2 ** order[i - 1] - 1) / math.log2(i + 1) for i in range(1, k + 1))

    return dcg(grades) / dcg(sorted(grades, reverse=True))


def slow_textbook(grades: list[int], ranks: list[int]) -> dict[str, float]:
    n = len(grades)
    if max(grades) == 0:
        return dict.fromkeys(
            [*(f"NDCG@{k}" for k in ranks), "MeanNDCG", *(f"P@{k}" for k in ranks), "MAP"], math.nan
        )
    return {
        **{f"NDCG@{k}": textbook_ndcg(grades, k) for k in ranks},
        "MeanNDCG": sum(textbook_ndcg(grades, k) for k in range(1, n + 1)) / n,
        **{f"P@{k}": hits(grades, k, 1) / min(k, n) for k in ranks},
        "MAP": average_precision(grades, 1),
    }


def he2009_ndcg(grades: list[int], k: int) -> float:
    def dcg(order: list[int]) -> float:
        value = float(order[0])
        for n in range(2, min(k, len(order)) + 1):
            value += order[n - 1] / math.log2(n)
        return value

    best = dcg(sorted(grades, reverse=True))
    return dcg(grades) / best if best else 0.0


def slow_he2009(grades: list[int], ranks: list[int]) -> dict[str, float]:
    return {
        **{f"NDCG@{k}": he2009_ndcg(grades, k) for k in ranks},
        **{f"P@{k}": hits(grades, k, 2) / k for k in ranks},
        "MAP": average_precision(grades, 2),
        "AvgNDCG": sum(he2009_ndcg(grades, k) for k in range(1, 21)) / 20,
        "AvgPrec": sum(hits(grades, k, 2) / k for k in range(1, 21)) / 20,
    }


def slow_tool(grades: list[int], ranks: list[int], linear: bool, empty: float) -> dict[str, float]:
    """Metrics of trec_eval and scikit-learn (linear gain), and of LightGBM and XGBoost (2^y − 1)."""

    def dcg(order: list[int], k: int) -> float:
        return sum((y if linear else 2**y - 1) / math.log2(i + 1) for i, y in enumerate(order[:k], start=1))

    best, n = sorted(grades, reverse=True), len(grades)
    nothing = max(grades) == 0
    return {
        **{f"NDCG@{k}": empty if nothing else dcg(grades, k) / dcg(best, k) for k in ranks},
        **{f"P@{k}": hits(grades, k, 1) / (k if linear else min(k, n)) for k in ranks},
        "MAP": empty if nothing else average_precision(grades, 1),
    }


SLOW = {
    "letor": slow_letor4,
    "rankviz": slow_letor4,
    "letor_script": slow_letor_script,
    "letor3": slow_letor3,
    "mslr": slow_mslr,
    "textbook": slow_textbook,
    "he2009": slow_he2009,
    "trec_eval": partial(slow_tool, linear=True, empty=0.0),
    "sklearn": partial(slow_tool, linear=True, empty=0.0),
    "lightgbm": partial(slow_tool, linear=False, empty=1.0),
    "xgboost": partial(slow_tool, linear=False, empty=1.0),
}


def slow_measures(grades: list[int]) -> dict[str, float]:
    """Return the measures that every definition has, of a ranked list; empty ones are 0."""
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade >= 1]
    n, bound = len(ranks), min(len(ranks), len(grades) - len(ranks))
    reads, err = 1.0, []
    for rank, grade in enumerate(grades, 1):
        stops = (2 ** min(grade, 4) - 1) / 16
        err.append(reads * stops / rank)
        reads *= 1 - stops
    lost = [min(rank - place, bound) / bound if bound else 0 for place, rank in enumerate(ranks, 1)]
    pairs = [a > b for a, b in itertools.combinations(grades, 2) if a != b]
    return {
        "ERR@3": sum(err[:3]),
        "ERR@10": sum(err[:10]),
        "RBP(p=0.8)": sum(0.2 * 0.8 ** (rank - 1) for rank in ranks),
        "RBP(p=0.5)": sum(0.5**rank for rank in ranks),
        "RR": 1 / ranks[0] if n else 0.0,
        "R@2": sum(rank <= 2 for rank in ranks) / n if n else 0.0,
        "Rprec": sum(rank <= n for rank in ranks) / n if n else 0.0,
        "Bpref": sum(1 - one for one in lost) / n if n else 0.0,
        "PairAccuracy": sum(pairs) / len(pairs) if pairs else 0.0,
        "MeanRank": sum(ranks) / n if n else math.nan,
    }


def slow_measures_by_ties(scores: list[float], grades: list[int]) -> dict[str, pd.Series]:
    """Return each measure by every rule for equal scores, from all orders."""
    found = pd.DataFrame([slow_measures(order) for order in all_orders(scores, grades)])
    rules = {"order": found.iloc[0], "mean": found.mean(), "worst": found.min(), "best": found.max()}
    for rule, other in (("worst", found.max()), ("best", found.min())):
        rules[rule]["MeanRank"] = other["MeanRank"]  # less is better
    return rules


def all_orders(scores: list[float], grades: list[int]) -> list[list[int]]:
    """Return the grades in every ranked order: all orders of equal scores; the first is that of the file."""
    groups = [
        [g for s, g in zip(scores, grades, strict=True) if s == one] for one in sorted(set(scores))[::-1]
    ]
    orders = itertools.product(*map(itertools.permutations, groups))
    return [list(itertools.chain.from_iterable(order)) for order in orders]


def slow_ties(scores: list[float], grades: list[int], name: str, ranks: list[int]) -> dict[str, pd.Series]:
    """Return each metric by every rule for equal scores, from all orders."""
    found = pd.DataFrame([SLOW[name](order, ranks) for order in all_orders(scores, grades)])
    return {"order": found.iloc[0], "mean": found.mean(), "worst": found.min(), "best": found.max()}


def slow_evaluate(scores: np.ndarray, data: RankingData, name: str, ranks: list[int]) -> pd.DataFrame:
    rows = {}
    for position, query in enumerate(data.query_ids):
        documents = range(data.ptr[position], data.ptr[position + 1])
        best_first = sorted(documents, key=lambda i: (-scores[i], data.rows[i]))
        rows[int(query)] = SLOW[name]([int(data.y[i]) for i in best_first], ranks)
    return pd.DataFrame.from_dict(rows, orient="index")
