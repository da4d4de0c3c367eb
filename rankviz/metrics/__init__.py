"""Ranking metrics with explicit definitions: first per query, then averaged over queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankviz.common import submodules
from rankviz.metrics.definitions import DEFINITIONS, Definition, definition_of
from rankviz.metrics.evaluation import Evaluation, evaluate
from rankviz.metrics.measures import MAP, NDCG, MeanNDCG, Measure, P, measure
from rankviz.metrics.pairwise import auc, kendall_tau, top_overlap

__all__ = [
    "DEFINITIONS",
    "MAP",
    "NDCG",
    "Definition",
    "Evaluation",
    "MeanNDCG",
    "Measure",
    "P",
    "auc",
    "definition_of",
    "evaluate",
    "kendall_tau",
    "measure",
    "top_overlap",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(globals())
