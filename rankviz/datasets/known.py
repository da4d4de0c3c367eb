"""Public LETOR collections, recognised by their counts, and the names of their features.

Sources: qin2010 for LETOR 3.0, qin2013 for LETOR 4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.datasets.named_features import FEATURE_LISTS, FeatureList

LETOR_4 = "LETOR 4.0"


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
    names = FEATURE_LISTS["MQ2008", LETOR_4].names
    return names if d == len(names) else None


def features_of_set(recognition: Recognition, features: int) -> FeatureList | None:
    """The feature names of a set that was recognised, with their source; None where there are none."""
    if recognition.known is None:
        return None
    found = FEATURE_LISTS.get((recognition.known.name, recognition.known.release))
    return found if found is not None and len(found.names) == features else None


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in counts.items())
