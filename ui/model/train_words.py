"""The texts of the Train page."""

from __future__ import annotations

CURVES = {
    "NDCG": "NDCG@k is 0 for a query with fewer than k documents",
    "P": "P@k divides by k for every query",
}
"""Each curve's rule for short queries, for its caption."""
BESIDE = "The linear model (its C is below More settings) or a pin."
METRIC = "For the sentences. The figure shows NDCG@k, or P@k if you choose one."
QUERY = "Default: the query whose difference between the models is nearest to the mean."
NO_PAIRS = "This part has no preference pairs."
COSTS_RESCALE = " Drawn for cost 1: other costs move the bend."
COSTS_MULTIPLY = " Drawn for cost 1: costs multiply the loss."
SCORES = "Scores: one per line, in file order."
TREC = "Lines of query, Q0, document, rank, score and tag, after a header with the settings (ir_metadata)."
THRESHOLDS = "**Thresholds of grades**: a score above a threshold indicates at least this grade"
NO_MEMORY = "Peak memory: unknown on this system."
COST = "This run took {seconds:.2f} s; predicted: {predicted}."
SAME_MODEL = "This is {name} itself. Choose another model to compare."
REFERENCE = " Other models stand beside the linear one with {C}."
SAME_LISTS = "Both lists are of {name}."
LISTS = (
    "Query {query}, first {k} of {n} documents; lines through the bottom: lower ranks. Click a document to "
    "mark it."
)
MISORDERED = "{wrong:,} of {of:,} preference pairs ({share}) are misordered or tied (margin at most 0)"
COUNTED = "All {pairs:,} preference pairs."
LOSS = "Bold: this model's loss, {label}, ℓ(t) = {formula}."
ROUNDS = "Round 0: equal scores. Marker: the round that is kept. NDCG@10 is rankviz's own, not a library's."
IMPORTANT = "{feature} has {share} of what the splits gain"
IMPORTANCE = "A share is a part of the gain in the method's own objective. Unlike a weight, it has no sign."
WEIGHTS = " Second bar: the feature's share of Σ|w| of the linear model beside."
NO_LOSS = "{model} has no loss to choose."
