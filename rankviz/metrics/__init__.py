"""Ranking metrics with explicit definitions: first per query, then averaged over queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankviz.common import submodules
from rankviz.metrics.definitions import DEFINITIONS, Definition, definition_of
from rankviz.metrics.evaluation import Evaluation, evaluate
from rankviz.metrics.measures import (
    ERR,
    MAP,
    NDCG,
    RBP,
    RR,
    Bpref,
    MeanNDCG,
    MeanRank,
    Measure,
    P,
    PairAccuracy,
    R,
    Rprec,
    measure,
)
from rankviz.metrics.pairwise import auc, kendall_tau, top_overlap

__all__ = [
    "DEFINITIONS",
    "ERR",
    "MAP",
    "NDCG",
    "RBP",
    "RR",
    "Bpref",
    "Definition",
    "Evaluation",
    "MeanNDCG",
    "MeanRank",
    "Measure",
    "P",
    "PairAccuracy",
    "R",
    "Rprec",
    "auc",
    "definition_of",
    "evaluate",
    "kendall_tau",
    "measure",
    "top_overlap",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(globals())
