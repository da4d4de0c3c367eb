"""The texts of the Train page."""

from __future__ import annotations

CURVES = {
    "NDCG": "NDCG@k is 0 for a query with fewer than k documents",
    "P": "P@k divides by k for every query",
}
"""Each curve's rule for short queries, for its caption."""
BESIDE = "The linear model (its C is below More settings) or a pin."
METRIC = "For the sentences. The figure shows NDCG@k, or P@k if you choose one."
QUERY = "Default: the query whose difference is nearest to the mean."
NO_PAIRS = "This part has no preference pairs."
COSTS_RESCALE = " Drawn for cost 1: other costs move the bend."
COSTS_MULTIPLY = " Drawn for cost 1: costs multiply the loss."
SCORES = "Scores: one per line, in file order."
NO_MEMORY = "Peak memory: unknown on this system."


def cost(seconds: float, predicted: object) -> str:
    """Return the seconds of the run, with the prediction."""
    return f"This run took {seconds:.2f} s; predicted: {predicted}."


def same_model(name: str) -> str:
    """Say that both models are the same."""
    return f"This is {name} itself. Choose another model to compare."


def same_lists(name: str) -> str:
    """Say that both lists are of one model."""
    return f"Both lists are of {name}."


def lists(query: int, n: int, k: int) -> str:
    """Return the caption of the lists of a query."""
    return (
        f"Query {query}, first {k} of {n} documents; lines through the bottom: lower ranks. Click a "
        "document to mark it."
    )


def misordered(wrong: int, of: int, share: str) -> str:
    """Say how many pairs are misordered."""
    return f"{wrong:,} of {of:,} preference pairs ({share}) are misordered or tied (margin at most 0)"


def counted(pairs: int) -> str:
    """Say how many pairs have drawn margins."""
    return f"All {pairs:,} preference pairs."


def loss(label: str, formula: str) -> str:
    """Return which loss is drawn in bold."""
    return f"Bold: this model's loss, {label}, ℓ(t) = {formula}."


def no_loss(model: str) -> str:
    """Say that a model has no loss of pairs."""
    return f"{model} has no loss to choose."
