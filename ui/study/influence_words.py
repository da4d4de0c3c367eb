"""The texts of the Influence page: helps, captions, and the sentence on the best C."""

from __future__ import annotations

from rankviz.common.numbers import counted, power_of_two, span
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import Comparison, queries_in_words

HELP = {
    "metric": "Mean over queries.",
    "scope": "All folds: trained separately; queries are pooled.",
    "model": "The linear model has its own C (More settings).",
    "vary": "The cost on the axis.",
    "lambda": "Cost of a misordered pair of these grades (he2009: 1, 2, 1.3).",
    "mu": "More weight for queries with few pairs: μ = ln(1 + most pairs/pairs of this query) (he2009 §4.2).",
    "query": "A query of this part.",
}
"""Helps, by the key of their control."""
CAPTIONS = {
    "influence-of-c": (
        "{about}. Dashed: the current C{of}. Ring: the best C; hollow: significantly worse (paired "
        "interval). {effort}Mean over queries; {definition}."
    ),
    "influence-of-cost": "{about}. At the dashed line: {costs}. Mean over queries; {definition}.",
    "influence-list": "Query {query}, {documents} documents, first {k} of each. Costs: {costs}. {about}.",
    "optimistic": "C is chosen on these queries, so the best mean is optimistic.",
    "two grades": "With two grades, λ₁₀ multiplies every pair and acts like C.",
    "products": "Below: products with the features, {folds} together. ",
    "seconds": (
        "The {n} values took {seconds:.2f} s of training, {folds} together, {start}; one run on this "
        "machine, without features. "
    ),
    "other": "The current model, {model}, {why}. Shown: the {shown}.",
    "sidebar": "This tab uses its own costs, not the sidebar's ({costs}).",
}
"""Templates of captions, by the key of their figure or what they say."""
INFOS = {
    "nothing": "{model} has {lacking}. Choose the {linear} model above, or a method in the sidebar: {able}.",
    "grades": (
        "The sliders need grades 0 to 2; these data have grades up to {most}. Set costs in the sidebar "
        "(More settings, “λ as below”); compare on Train."
    ),
    "no pairs": (
        "The {loss} loss is no sum over preference pairs, so pairs have no costs. Choose a loss of "
        "pairs, such as the squared hinge."
    ),
    "waiting": "This run is not finished yet.",
}
"""Templates of messages in place of a figure."""


def reading_of_C(found: dict[float, Comparison], best: float, equal: int, metric: str) -> str:
    """Say which values of C are significantly worse than the best one; `equal` values share its mean."""
    if equal > len(found) > 0:
        return f"{metric} is the same at all {equal} values of C"
    worse = [C for C, one in found.items() if one.distinguishable]
    alike = sorted([best, *(C for C, one in found.items() if not one.distinguishable)])
    also = f" and {counted(equal - 1, 'other value')}" if equal > 1 else ""
    top = "highest" if direction(metric) > 0 else "lowest (best)"
    start = f"{metric} is {top} at C = {power_of_two(best)}{also}"
    few = next(iter(found.values()), None)
    if few is not None and few.n_queries < few.n_needed:
        are = "is" if few.n_queries == 1 else "are"
        return f"{start}, but {queries_in_words(few.n_queries)} {are} too few to compare"
    if not worse:
        return f"{start}; no other C differs significantly"
    ends = span(power_of_two(alike[0]), power_of_two(alike[-1]))
    text = f"by paired intervals {len(worse)} of {len(found)} others are worse"
    return f"{start}; {text}, those from {ends} are not"
