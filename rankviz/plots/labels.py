"""Words in figures: legend entries that tell runs apart by what differs among them, names of documents."""

from __future__ import annotations

from collections.abc import Sequence

from rankviz.datasets.statistics import document_names
from rankviz.datasets.types import RankingData
from rankviz.experiments.labels import distinct_labels
from rankviz.experiments.spec import RunSpec
from rankviz.plots.style import look_of


def shown_documents(part: RankingData, query: int) -> list[str]:
    """Names of the documents of the query at position `query`, shown as they are.

    Plotly reads some HTML in texts, links too; a sign of no width behind each "<" makes it a plain one.
    """
    return [harmless(name) for name in document_names(part, query)]


def harmless(text: str) -> str:
    """A text that Plotly shows as it is: one of a document, or a name that somebody gave."""
    return text.replace("<", "<\u2060")


def short_labels(specs: Sequence[RunSpec]) -> list[str]:
    """One label a spec: method and m; among those that look alike, all that varies too."""
    alike: dict[str, list[RunSpec]] = {}
    for spec in specs:
        alike.setdefault(look_of(spec), []).append(spec)
    found = {look: iter(distinct_labels(group)) for look, group in alike.items()}
    return [next(found[look_of(spec)]) for spec in specs]
