"""Public LETOR collections, recognised by their counts, and the names of LETOR 4.0's features.

Sources: qin2010 for LETOR 3.0, qin2013 for LETOR 4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

LETOR_4 = "LETOR 4.0"
_FIELDS = ("body", "anchor", "title", "URL", "whole document")
_PER_FIELD = ("TF", "IDF", "TF·IDF", "length", "BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM")
_PER_DOCUMENT = ("PageRank", "inlinks", "outlinks", "slashes in URL", "URL length", "child pages")


@dataclass(frozen=True)
class KnownSet:
    """A public data set and its counts over all of its parts."""

    name: str
    release: str
    queries: int
    documents: int
    features: int

    @property
    def title(self) -> str:
        """Name and release, as in "MQ2008 (LETOR 4.0)"."""
        return f"{self.name} ({self.release})"

    @property
    def counts(self) -> dict[str, int]:
        """The counts by what they count."""
        return {"queries": self.queries, "documents": self.documents, "features": self.features}


KNOWN_SETS = (
    KnownSet("OHSUMED", "LETOR 3.0", 106, 16_140, 45),
    KnownSet("OHSUMED", "LETOR 2.0", 106, 16_140, 25),
    KnownSet("TD2004", "LETOR 3.0", 75, 74_146, 64),
    KnownSet("MQ2007", LETOR_4, 1_692, 69_623, 46),
    KnownSet("MQ2008", LETOR_4, 784, 15_211, 46),
    KnownSet("MSLR-WEB10K", "MSLR", 10_000, 1_200_192, 136),
)


@dataclass(frozen=True)
class Recognition:
    """The known set that a data set was recognised as, or None; whether it is complete; and a sentence."""

    known: KnownSet | None
    complete: bool
    sentence: str


def recognise(name: str, queries: int, documents: int, features: int) -> Recognition:
    """Say which known set this is, and that it is complete or how it deviates.

    Counts are over the whole data set, which is the union of the parts of one fold. Equal counts decide; else
    a known set whose name occurs in `name` is compared with, the one with most counts in common.
    """
    counts = {"queries": queries, "documents": documents, "features": features}
    for known in KNOWN_SETS:
        if known.counts == counts:
            return Recognition(known, True, f"This is {known.title}, complete: {_listed(counts)}.")
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


def feature_names(d: int) -> tuple[str, ...] | None:
    """Names of the features of LETOR 4.0 if there are d = 46 of them, else None.

    Features 5(k − 1) + 1 … 5k hold the k-th of eight quantities for body, anchor, title, URL and whole
    document; 41 to 46 belong to the document. They say nothing about other sets that happen to have 46.
    """
    if d != len(_PER_FIELD) * len(_FIELDS) + len(_PER_DOCUMENT):
        return None
    return tuple(f"{quantity} of {field}" for quantity in _PER_FIELD for field in _FIELDS) + _PER_DOCUMENT


def names_for(recognition: Recognition, features: int) -> tuple[str, ...] | None:
    """Feature names of a set recognised as one of LETOR 4.0, else None."""
    if recognition.known is None or recognition.known.release != LETOR_4:
        return None
    return feature_names(features)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in counts.items())
