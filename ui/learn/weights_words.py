"""Sentences of the page of weights."""

from __future__ import annotations

ABOUT = (
    "Drag a weight or use the arrow keys; grey: learned weights. These minimise the objective, not NDCG. "
    "“Back to the optimum” shows Newton's steps. All pairs have equal weight."
)
TOO_LARGE = "{n:,} documents × {d} features exceed the limit of {most:,} values. Choose smaller data."
NO_SUCH_LOSS = "This page does not support the {loss} loss. Choose another one."
NO_PAIRS = "No pairs: all learned weights are 0"
ANSWER = "Learned weights: NDCG@10 {mean:.3f} on the training part; {largest} has the largest weight"
TOO_MANY_PAIRS = "{n:,} pairs are too many for this page."
FIGURE = "Weights, and the ranking of query {label}"
RANKING, SCORES = "Query {label}: rank, grade, document", "score"
OTHER_WEIGHTS = "The link's weights do not fit; learned weights are shown."
QUERY_HELP = "Query to rank."
