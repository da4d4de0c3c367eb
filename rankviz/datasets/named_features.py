"""Names of the features of LETOR's sets, with their sources.

LETOR 4.0: the collection's own list (qin2013). OHSUMED of LETOR 3.0 and 2.0: quantities named as in LETOR's
papers (qin2010); their columns were identified from the raw numbers. Three groups of fifteen columns are
title, abstract and both together: their first columns are counts, and the third count is the sum of the other
two. 12 is the logarithm of 11; 8 follows from 3 and 9. 13 and 14 are, to all digits in the files,
log-likelihoods with Dirichlet's (μ = 50) and with Jelinek and Mercer's smoothing, and 15 is the remaining
language model. LETOR 2.0 has the first ten of title and of abstract, and five of both together; its language
models could not be distinguished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_FIELDS_4 = ("body", "anchor", "title", "URL", "whole document")
_PER_FIELD_4 = ("TF", "IDF", "TF·IDF", "length", "BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM")
_PER_DOCUMENT_4 = ("PageRank", "inlinks", "outlinks", "slashes in URL", "URL length", "child pages")
_TERMS = (
    "TF",
    "log TF",
    "TF/length",
    "log TF/length",
    "IDF",
    "log IDF",
    "ICF",
    "log TF·IDF/length",
    "TF·IDF",
    "log TF·ICF/length",
)
"""Sums over the query's words: TF counts a word in the field, IDF is by documents, ICF by words."""
_BM25 = ("BM25", "log BM25")


@dataclass(frozen=True)
class FeatureList:
    """Names of a data set's features, in order, and their source as a sentence."""

    names: tuple[str, ...]
    source: str


def _of(quantities: tuple[str, ...], field: str) -> tuple[str, ...]:
    return tuple(f"{quantity} of {field}" for quantity in quantities)


_LETOR_4 = FeatureList(
    tuple(f"{quantity} of {field}" for quantity in _PER_FIELD_4 for field in _FIELDS_4) + _PER_DOCUMENT_4,
    "Names of features: the list of LETOR 4.0 (Qin and Liu, 2013).",
)
_OHSUMED_3 = FeatureList(
    tuple(
        name
        for field in ("title", "abstract", "title + abstract")
        for name in _of((*_TERMS, *_BM25, "LMIR.DIR", "LMIR.JM", "LMIR.ABS"), field)
    ),
    "Names of features: quantities as in LETOR's papers (Qin, Liu, Xu and Li, 2010); which column "
    "holds which was found in the raw numbers of LETOR 3.0.",
)
_OHSUMED_2 = FeatureList(
    (
        *_of(_TERMS, "title"),
        *_of(_TERMS, "abstract"),
        *_of((*_BM25, "LMIR (1st)", "LMIR (2nd)", "LMIR (3rd)"), "title + abstract"),
    ),
    "Names of features: found by comparing the raw numbers of LETOR 2.0 with those of LETOR 3.0; which of "
    "the last three language models is which could not be told.",
)

FEATURE_LISTS: Mapping[tuple[str, str], FeatureList] = {
    ("MQ2007", "LETOR 4.0"): _LETOR_4,
    ("MQ2008", "LETOR 4.0"): _LETOR_4,
    ("OHSUMED", "LETOR 3.0"): _OHSUMED_3,
    ("OHSUMED", "LETOR 2.0"): _OHSUMED_2,
}
"""By the name and the release of a known set."""
