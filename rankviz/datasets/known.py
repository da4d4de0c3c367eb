"""Public LETOR collections, recognised by their contents, and the names of their features.

Counts select the candidate set; digests of grades, features and queries decide. The digests here come from
`contents_of` on checked copies; a set without a copy has none. Sources: qin2010 for LETOR 3.0, qin2013 for
LETOR 4.0.

Names of LETOR 4.0's features are the collection's own list. OHSUMED of LETOR 3.0 and 2.0: quantities named as
in LETOR's papers; their columns were identified from the raw numbers. Three groups of fifteen columns are
title, abstract and both together: their first columns are counts, and the third count is the sum of the other
two. 12 is the logarithm of 11; 8 follows from 3 and 9. 13 and 14 are, to all digits in the files,
log-likelihoods with Dirichlet's (μ = 50) and with Jelinek and Mercer's smoothing, and 15 is the remaining
language model. LETOR 2.0 has the first ten of title and of abstract, and five of both together; its language
models could not be distinguished.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from operator import eq

import numpy as np

from rankviz.datasets.types import DIGEST_BYTES, RankingData

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


def _named(quantities: tuple[str, ...], field: str) -> tuple[str, ...]:
    return tuple(f"{quantity} of {field}" for quantity in quantities)


_LETOR_4_FEATURES = FeatureList(
    tuple(f"{quantity} of {field}" for quantity in _PER_FIELD_4 for field in _FIELDS_4) + _PER_DOCUMENT_4,
    "Names of features: the list of LETOR 4.0 (Qin and Liu, 2013).",
)
_OHSUMED_3_FEATURES = FeatureList(
    tuple(
        name
        for field in ("title", "abstract", "title + abstract")
        for name in _named((*_TERMS, *_BM25, "LMIR.DIR", "LMIR.JM", "LMIR.ABS"), field)
    ),
    "Names of features: quantities as in LETOR's papers (Qin, Liu, Xu and Li, 2010); which column "
    "holds which was found in the raw numbers of LETOR 3.0.",
)
_OHSUMED_2_FEATURES = FeatureList(
    (
        *_named(_TERMS, "title"),
        *_named(_TERMS, "abstract"),
        *_named((*_BM25, "LMIR (1st)", "LMIR (2nd)", "LMIR (3rd)"), "title + abstract"),
    ),
    "Names of features: found by comparing the raw numbers of LETOR 2.0 with those of LETOR 3.0. "
    "The order of the last three language models is unknown.",
)

FEATURE_LISTS: Mapping[tuple[str, str], FeatureList] = {
    ("MQ2007", "LETOR 4.0"): _LETOR_4_FEATURES,
    ("MQ2008", "LETOR 4.0"): _LETOR_4_FEATURES,
    ("OHSUMED", "LETOR 3.0"): _OHSUMED_3_FEATURES,
    ("OHSUMED", "LETOR 2.0"): _OHSUMED_2_FEATURES,
}
"""By the name and the release of a known set."""


LETOR_4 = "LETOR 4.0"
RAW = "before normalisation"


@dataclass(frozen=True)
class Contents:
    """Digests of a whole data set, independent of the order of queries and documents.

    Attributes
    ----------
    queries : str
        Of the queries and their numbers of documents.
    grades, features : str
        Of each query's grades, and of each query's features.
    documents : str
        Of each query's documents: features and grade together.
    """

    queries: str
    grades: str
    features: str
    documents: str


@dataclass(frozen=True)
class Version:
    """A copy of a known set, and its difference from the usual copy ("" for that one)."""

    contents: Contents
    what: str = ""


@dataclass(frozen=True)
class KnownSet:
    """A public data set, its counts over all parts, and its copies with known contents."""

    name: str
    release: str
    queries: int
    documents: int
    features: int
    versions: tuple[Version, ...] = ()

    @property
    def title(self) -> str:
        """Return name and release, as in "MQ2008 (LETOR 4.0)"."""
        return f"{self.name} ({self.release})"

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts by name."""
        return {"queries": self.queries, "documents": self.documents, "features": self.features}


_OHSUMED = ("cc3fab9dba8f68cdbb09a0d481e8dd9e", "b358f0aa628e1bd5138837a961032e96")
"""Queries and grades of every copy of OHSUMED."""
_OHSUMED_3 = Contents(*_OHSUMED, "15ebcc4a26ba3e7ebd38a1adc0596133", "fa96e271c32f7ba0854bb0b3c988aa18")
_OHSUMED_3_RAW = Contents(*_OHSUMED, "6efbbc31f254ce064278c7bed81d5c9b", "79943e87d1373da48f84458e63c69aac")
_OHSUMED_2 = Contents(*_OHSUMED, "eefdeeb4a1a642def29c540776baf91b", "088805419fa1bb8896a5b9b70969782a")
_MQ2008 = Contents(
    "df22992c3fb2715b04d7cb3a4884f4a0",
    "6bdf21f7c78759e943c7ae47fee354c1",
    "98227a830c273c8d6f98f30f07a05142",
    "dd8e691a3137b870ffb7e91d75b97348",
)
KNOWN_SETS = (
    KnownSet("OHSUMED", "LETOR 3.0", 106, 16_140, 45, (Version(_OHSUMED_3), Version(_OHSUMED_3_RAW, RAW))),
    KnownSet("OHSUMED", "LETOR 2.0", 106, 16_140, 25, (Version(_OHSUMED_2),)),
    KnownSet("TD2004", "LETOR 3.0", 75, 74_146, 64),
    KnownSet("MQ2007", LETOR_4, 1_692, 69_623, 46),
    KnownSet("MQ2008", LETOR_4, 784, 15_211, 46, (Version(_MQ2008),)),
    KnownSet("MSLR-WEB10K", "MSLR", 10_000, 1_200_192, 136),
)


@dataclass(frozen=True)
class Recognition:
    """The known set that a data set was recognised as.

    Attributes
    ----------
    known : KnownSet or None
        The known set with the same counts or a similar name.
    complete : bool
        True if documents, grades and queries were compared and are the set's.
    sentence : str
    version : str
        Its copy of the set; "" for the usual one.
    columns : str
        "the set's" for features that were compared, "unchecked" if only the counts agree, "" otherwise.
    """

    known: KnownSet | None
    complete: bool
    sentence: str
    version: str = ""
    columns: str = ""


CHECKED, UNCHECKED = "the set's", "unchecked"


def may_be_known(data: RankingData) -> bool:
    """Return whether data may be a part of a known set whose contents are known."""
    return any(
        known.versions and data.n_features == known.features and data.n_documents <= known.documents
        for known in KNOWN_SETS
    )


def contents_of(parts: Iterable[RankingData]) -> Contents:
    """Return the digests of a data set that consists of these parts, which share no query."""
    held = list(parts)
    ids = np.concatenate([part.query_ids for part in held])
    sizes = np.concatenate([np.diff(part.ptr) for part in held])
    queries = np.stack([ids, sizes], axis=1)[np.argsort(ids, kind="stable")].astype("<i8")
    digests = np.concatenate([part.query_digests for part in held])
    kinds = (np.ascontiguousarray(kind).view(f"S{DIGEST_BYTES}") for kind in np.moveaxis(digests, 1, 0))
    contents = (queries.tobytes(), *(np.sort(kind, axis=None).tobytes() for kind in kinds))
    found = (hashlib.blake2b(one, digest_size=DIGEST_BYTES).hexdigest() for one in contents)
    return Contents(*found)


def recognise(
    name: str,
    queries: int,
    documents: int,
    features: int,
    contents: Callable[[], Contents] | None = None,
) -> Recognition:
    """Say which known set this is, and whether it is complete, deviates or could not be compared.

    Counts are over the whole data set, which is the union of the parts of one fold. If they are a known
    set's, `contents` is called and compared. Otherwise the known set whose name occurs in `name`, with most
    counts in common, is compared.
    """
    counts = {"queries": queries, "documents": documents, "features": features}
    for known in KNOWN_SETS:
        if known.counts == counts:
            return _compared(known, contents() if contents is not None and known.versions else None)
    namesakes = [known for known in KNOWN_SETS if known.name.casefold() in name.casefold()]
    if not namesakes:
        return Recognition(None, False, f"This is none of the public sets known here: {_listed(counts)}.")
    known = max(namesakes, key=lambda k: sum(k.counts[what] == n for what, n in counts.items()))
    deviations = [
        f"{n:,} {what} instead of {known.counts[what]:,}"
        for what, n in counts.items()
        if n != known.counts[what]
    ]
    sentence = f"This is named like {known.title} but deviates from it: {', '.join(deviations)}."
    return Recognition(known, False, sentence)


def _compared(known: KnownSet, found: Contents | None) -> Recognition:
    """Compare contents (None if unknown) with those of a set that has the same counts."""
    counts = _listed(known.counts)
    if found is None:
        sentence = f"This has the counts of {known.title}; its content was not checked: {counts}."
        return Recognition(known, False, sentence, columns=UNCHECKED)
    for version in known.versions:
        if version.contents == found:
            what = f", {version.what}" if version.what else ""
            sentence = f"This is {known.title}{what}, complete: {counts}."
            return Recognition(known, True, sentence, version.what, CHECKED)
    given = astuple(found)
    nearest = max(known.versions, key=lambda one: sum(map(eq, astuple(one.contents), given)))
    same = nearest.contents
    if found.queries != same.queries:
        differ, are = "queries", "by what they are called or by how many documents they have"
    else:
        other = {"grades": found.grades != same.grades, "features": found.features != same.features}
        differ = " and ".join(what for what, differs in other.items() if differs)
        # where each query has the same grades and features, they belong to other documents
        differ, are = (differ, "") if differ else ("grades", "they belong to other documents")
    sentence = f"This has the counts of {known.title}, but its {differ} differ{are and f': {are}'}. {counts}."
    columns = CHECKED if found.features == same.features else ""
    return Recognition(known, False, sentence, columns=columns)


def feature_names(d: int) -> tuple[str, ...] | None:
    """Return the names of LETOR 4.0's features for d = 46, else None.

    Features 5(k − 1) + 1 … 5k hold the k-th of eight quantities for body, anchor, title, URL and whole
    document; 41 to 46 belong to the document. Other sets with 46 features may differ.
    """
    names = FEATURE_LISTS["MQ2008", LETOR_4].names
    return names if d == len(names) else None


def features_of_set(recognition: Recognition, features: int) -> FeatureList | None:
    """Return the feature names of a recognised set, with their source; None for other sets.

    The source says if only the counts were compared.
    """
    if recognition.known is None or not recognition.columns:
        return None
    found = FEATURE_LISTS.get((recognition.known.name, recognition.known.release))
    if found is None or len(found.names) != features:
        return None
    if recognition.columns == CHECKED:
        return found
    title = recognition.known.title
    return replace(
        found, source=f"{found.source} The counts are those of {title}; its features were not checked."
    )


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in counts.items())
