"""Words in figures that somebody else wrote: names of documents."""

from __future__ import annotations

from rankviz.datasets.statistics import document_names
from rankviz.datasets.types import RankingData


def shown_documents(part: RankingData, query: int) -> list[str]:
    """Names of the documents of the query at position `query`, shown as they are.

    Plotly reads some HTML in texts, links too; a sign of no width behind each "<" makes it a plain one.
    """
    return [harmless(name) for name in document_names(part, query)]


def harmless(text: str) -> str:
    """A text that Plotly shows as it is: one of a document, or a name that somebody gave."""
    return text.replace("<", "<\u2060")
