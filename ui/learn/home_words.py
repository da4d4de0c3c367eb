"""The texts of the Home page."""

from __future__ import annotations

from rankviz.datasets.folds import DEMONSTRATION

TITLE = "How many features are enough?"
HOW = "Change a setting on the left"
ABOUT = (
    "RankSVM learns scores from **preference pairs**: two documents of one query with different grades. A "
    "kernel makes scores non-linear; an **approximation** with m features makes it fast."
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
