"""Texts of the Definitions page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

QUERY, PASTE = "query", "paste"
LISTS = {QUERY: "Query of the model", PASTE: "Paste a list"}
LIST_HELP = "Rank the documents of a query by the sidebar's model, or your own list."
CHOSEN_HELP = "Other definitions are compared with this one."
K_HELP = "Cut-off of NDCG@k and P@k."
QUERY_HELP = "Default: the one on which definitions differ most."
TOO_LARGE = "{definition} defines @k up to {largest}: @{largest} is shown instead of @{k}."
PASTED_LABEL = "Grade and score on each line"
PASTED_HELP = "Two columns of a sheet also work. The link of this page keeps your list."
EXAMPLE = "0 2.9\n2 2.4\n1 2.4\n0 1.8\n2 1.1\n0 0.7\n1 0.3\n0 0.1\n0 -0.4\n1 -1.2"
OWN_LIST = "your list"
TERMS = (
    "{name}, by falling score. A bar is gain × discount of the document at a rank, divided by the sum of the "
    "ideal order. The bars of one colour add up to NDCG@k. If the legend gives their sum, a rule for short "
    "lists, or for lists without a relevant document, gives NDCG@k. Definitions that agree share a colour. "
    "{about}"
)
RULES = (
    "≠ marks what differs from {chosen}. The ideal order has the list's own documents, highest gain first; "
    "trec_eval also puts judged documents there that the list lacks. A dash: @{k} is not defined. LETOR 3.0 "
    "and 4.0 are the names of scripts: each can judge any data."
)
PRODUCTS = "gain × discount = term; ≠ marks what differs from {chosen}. NDCG@{k} is sum divided by ideal sum."
EFFECTS = (
    "Mean NDCG@{k} of {about}, by {chosen} with one rule changed at a time. Changes do not add up: each "
    "starts from {chosen}."
)
MEANS = "Means over {queries}. A dash: not defined."


def answer(values: Mapping[str, float], chosen: str, name: str, k: int) -> str:
    """Give the chosen definition's value of a list, and the range of all others."""
    own = values[chosen]
    known = {label: number for label, number in values.items() if number == number and label != chosen}
    said = "is left out" if own != own else f"is {own:.3f}"
    start = f"By {chosen}, NDCG@{k} of {name} {said}"
    low, high = min(known.values(), default=own), max(known.values(), default=own)
    if not known or f"{low:.3f}" == f"{high:.3f}" == f"{own:.3f}":
        return f"{start}; by all other definitions too"
    ends = " to ".join(
        f"{number:.3f} ({next(label for label, found in known.items() if found == number)})"
        for number in dict.fromkeys((low, high))
    )
    return f"{start}; others give {ends}"


def because(rules: Sequence[tuple[str, str]], value: float) -> str:
    """Name the rules that give another definition its value of a list."""
    said = " and ".join(f"“{name}: {then}”" for name, then in rules)
    number = "left out" if value != value else f"{value:.3f}"
    return f"{number}, by the {'rule' if len(rules) == 1 else 'rules'} {said}"


def largest_effect(rule: str, then: str, difference: str, k: int) -> str:
    """Say which rule moves the mean most, if one does."""
    if not difference.strip("+−0."):
        return f"No single rule moves mean NDCG@{k}"
    return f"The rule “{rule}” moves mean NDCG@{k} most: {difference} with “{then}”"
