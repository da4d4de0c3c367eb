"""The texts of the Home page."""

from __future__ import annotations

from rankviz.datasets.folds import DEMONSTRATION

WELCOME = "Rank documents, and see why"
TITLE = "How many features are enough?"
LIST = {
    "about": "A query, its documents, and the NDCG of their order",
    "query": "Six documents that a query found, with their scores. Squares show grades: 2 is best.",
    "weight": "Weight of the text against the title",
    "title": "Title counts",
    "text": "Text counts",
    "document": "Document {name}: {score}",
    "sum": "NDCG = {dcg} / {ideal} (the best order) = {ndcg}. {right} of {pairs} pairs are in order.",
}
LEARNS = (
    "The slider is a weight: it says how much a match in the text counts. It gives each document a "
    "**score**, and the highest comes first.\n\n"
    "Each row adds **gain × discount**. Grades 0, 1 and 2 have gains 0, 1 and 3. The discount is 1 at "
    "rank 1, and 1/log₂(rank) further down. **NDCG** divides the sum by that of the best order.\n\n"
    "A model finds weights from **preference pairs**: two documents of one query with different grades."
)
DOORS = (
    ("lessons", ":material/school:", "**Learn**: nine short lessons, from pairs to kernels"),
    ("lecture", ":material/co_present:", "**Teach**: lead a class through lessons and pages"),
    ("data", ":material/upload:", "**Research**: your own data, from the Data page on"),
)
HOW = "Change a setting on the left"
ABOUT = (
    "RankSVM learns scores from preference pairs. A kernel makes scores non-linear; an **approximation** "
    "with m features makes it fast."
)
RESULTS = (
    "On the test parts of OHSUMED and MQ2008 (all folds), kernels do not beat the linear model "
    "significantly. On OHSUMED's 106 queries, the paired 95 % interval of the difference in NDCG@10 is "
    "[−0.015, +0.009] (mean of 5 seeds)."
)
DOCUMENTATION = ":material/menu_book: [**Documentation**](app/static/docs/index.html)"


def results(dataset: str) -> str:
    """Describe the results on real data, and say that the demonstration set is synthetic."""
    if dataset != DEMONSTRATION:
        return RESULTS
    return f"`{dataset}` is **synthetic**, and non-linear by design. {RESULTS}"
