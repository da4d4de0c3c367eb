"""NDCG@k of many scorings of the same documents: only the first k documents of a list are sorted."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import evaluate
from rankviz.metrics.lists import Ties, blocks, known


class Band(NamedTuple):
    """Lists of similar size of which each has a gain and at least k documents.

    Attributes
    ----------
    queries : (b,) int64
    documents : (b, w) int64
    absent : (b, w) bool, or None
        None if all lists have w documents.
    gains : (b, w) float64
    best : (b,) float64
        DCG@k of the best order.
    """

    queries: IntArray
    documents: IntArray
    absent: BoolArray | None
    gains: FloatArray
    best: FloatArray


class TopNDCG:
    """NDCG@k of one part by `COMPARED`, to the bits of `evaluate`, which sorts whole lists.

    By that definition lists without a gain, or with fewer than k documents, have 0 for all scores.
    """

    def __init__(self, part: RankingData, k: int = 10) -> None:
        self._part, self._k, self._discounts = part, k, COMPARED.discounts(k)

    def mean(self, scores: FloatArray) -> float:
        """Return the mean over the queries for scores (n,)."""
        return float(self.by_query(scores[None])[0].mean())

    def by_query(self, scores: FloatArray) -> FloatArray:
        """Return NDCG@k of every query for scores (times, n) -> (times, Q)."""
        if not np.isfinite(scores).all():
            for own in scores:  # it names the document without a score
                evaluate(own, self._part, COMPARED, at=[self._k])
        found = np.zeros((len(scores), self._part.n_queries))
        for band in self._bands:
            found[:, band.queries] = self._dcg(scores, band) / band.best
        return found

    @cached_property
    def _bands(self) -> list[Band]:
        found = []
        for block in blocks(self._part):
            best = block.best(COMPARED)[:, : self._k][:, -1]
            own = np.flatnonzero((block.sizes[:, 0] >= self._k) & (best > 0))
            if own.size:
                some = slice(int(block.sizes[own].max()))
                absent = block.absent[own, some]
                gains = COMPARED.gains(known(block.grades[own, some], COMPARED))
                lists = block.queries[own], block.documents[own, some]
                found.append(Band(*lists, absent if absent.any() else None, gains, best[own]))
        return found

    def _dcg(self, scores: FloatArray, band: Band) -> FloatArray:
        """Return DCG@k of the lists of a band for scores (times, n) -> (times, b)."""
        k, (b, w) = self._k, band.documents.shape
        keys = -scores.take(band.documents, axis=1)
        if band.absent is not None:
            keys[:, band.absent] = np.inf
        keys = keys.reshape(-1, w)
        first = keys <= np.partition(keys, k - 1, axis=1)[:, k - 1 : k]
        more = np.count_nonzero(first, axis=1) > k  # equal scores at rank k
        if any_more := more.any():
            first[more] = False
            first[more, :k] = True  # any k: these lists are sorted below
        at = np.flatnonzero(first).reshape(-1, k)
        top = keys.take(at)
        order = np.argsort(top, axis=1, kind="stable")
        order += np.arange(0, at.size, k)[:, None]
        top, own = top.take(order), band.gains.take(at.take(order), mode="wrap")
        found: FloatArray = np.cumsum(own * self._discounts, axis=1)[:, -1]
        same = top[:, 1:] == top[:, :-1]
        if any_more or same.any():
            tied = np.flatnonzero(more | (same & (own[:, 1:] != own[:, :-1])).any(axis=1))
            if tied.size:
                found[tied] = self._dcg_with_ties(keys[tied], band.gains[tied % b])
        return found.reshape(-1, b)

    def _dcg_with_ties(self, keys: FloatArray, gains: FloatArray) -> FloatArray:
        """Return DCG@k of lists with keys and gains (r, w), with equal keys at the mean over their orders."""
        k = self._k
        last = np.partition(keys, k - 1, axis=1)[:, k - 1 : k]
        n = int(np.count_nonzero(keys <= last, axis=1).max())  # whole groups, up to that of rank k
        order = np.argpartition(keys, n - 1, axis=1)[:, :n]
        keys, gains = (np.take_along_axis(one, order, axis=1) for one in (keys, gains))
        order = np.argsort(keys, axis=1)
        keys, gains = (np.take_along_axis(one, order, axis=1) for one in (keys, gains))
        same = np.zeros(keys.shape, np.bool_)
        np.equal(keys[:, 1:], keys[:, :-1], out=same[:, 1:])
        expected = Ties.of(same).mean(gains)[:, : self._k]
        return np.asarray(np.cumsum(expected * self._discounts, axis=1)[:, -1])
