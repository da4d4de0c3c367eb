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
    "**Move the slider** until NDCG is 1. It sets how much matches in the title and in the text count. The "
    "highest **score** comes first.\n\n"
    "Each row adds **gain × discount**. Grade 2 has gain 3, grade 1 has gain 1. Ranks 1 and 2 count fully, "
    "lower ranks less. **NDCG** is this sum divided by the sum of the best order.\n\n"
    "A model learns such weights from **preference pairs**: two documents of one query with different grades."
)
JOIN = "Join a class with a code"
DOORS = (
    ("lessons", ":material/school:", "**Learn**: nine short lessons, from pairs to low rank"),
    ("lecture", ":material/groups:", JOIN),
    ("lecture", ":material/co_present:", "**Teach**: lead a class through lessons and pages"),
    ("data", ":material/upload:", "**Research**: your own data, from the Data page on"),
)
HOW = "Change a setting in the sidebar"
ABOUT = "A kernel makes scores non-linear. An **approximation** with m features makes it fast."
RESULTS = (
    "On the test parts of OHSUMED and MQ2008, kernels do not beat the linear model significantly "
    "(NDCG@10, all folds)."
)
PAGES = "All pages"
DOCUMENTATION = ":material/menu_book: [**Documentation**](app/static/docs/index.html)"


def results(dataset: str) -> str:
    """Describe the results on real data, and say that the demonstration set is synthetic."""
    if dataset != DEMONSTRATION:
        return RESULTS
    return f"`{dataset}` is **synthetic**. {RESULTS}"
