"""Foreign words in figures: names of documents."""

from __future__ import annotations

from rankviz.datasets.statistics import document_names
from rankviz.datasets.types import RankingData


def shown_documents(part: RankingData, query: int) -> list[str]:
    """Return names of the documents of the query at position `query`, escaped.

    Plotly reads some HTML in texts, including links; a zero-width character after each "<" prevents it.
    """
    return [harmless(name) for name in document_names(part, query)]


def harmless(text: str) -> str:
    """Escape a foreign text, so that Plotly shows it unchanged."""
    return text.replace("<", "<\u2060")
