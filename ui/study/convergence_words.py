"""The texts of the Convergence page: helps, captions, and its sentences."""

from __future__ import annotations

import pandas as pd

from rankviz.common.numbers import small, with_minus
from rankviz.plots.convergence import REFERENCE_TOL

LEAST_GAP = small(REFERENCE_TOL).removeprefix("1.0 × ")  # 10⁻¹⁰
PRODUCTS = "A product multiplies by Φ and Φᵀ, or by the kernel"
HELP = {
    "plain": "Without it: plain conjugate gradients.",
    "cs": "Up to {most} more values. Gap: to the best objective for its C.",
    "show": (
        "Best objective: lowest of all runs (one has tolerance 10⁻¹⁰). Newton decrement: predicted "
        "drop. Duality gap: proven bound. Active pair: its loss is curved."
    ),
    "against": f"Counted from the start of the solver. {PRODUCTS}.",
    "others": "Up to {most}, in all combinations that can be trained.",
    "pq": "Or step with the slider.",
    "measure": "Median, least and most seconds of {repeats} trainings.",
}
"""Helps, by the key of their control."""
CAPTIONS = {
    "playback": (
        "{about}. Query {query}: {documents} documents, ranks 1 to {top}, NDCG@10. Margins of all {pairs:,} "
        "preference pairs; at the start all are 0 (bar cut off)."
    ),
    "pairs": "{about}, {pairs:,} preference pairs",
    "documents": "{about}; its loss is no sum over pairs: active are documents with curvature",
    "objectives": "Objectives of different losses or C are not comparable",
    "gap": (
        f"Gap: to the lowest value of the same objective in all runs (one has tolerance {LEAST_GAP}); "
        f"smaller gaps are drawn at {LEAST_GAP}"
    ),
    "seconds": "Seconds of one run on this machine, without features and pairs",
    "level": "Where a curve becomes flat, the solver proves that its last point is good enough",
    "missing": "Missing in traces: {missing}",
    "status": "How they ended: {statuses}.",
    "point": "A row is the point after its iteration.",
    "begin": (
        "A row is the point where its iteration begins; CG iterations, products and seconds include that "
        "iteration. smoothing: width of the smoothed hinge."
    ),
    "own objective": (
        "On the training part, by round; marker: the round that is kept. Pins are drawn if they have this "
        "objective too."
    ),
    "no objective": "These methods grow by rounds; steps of a solver, gaps and preconditioners do not apply.",
    "reweighted": (
        "No fixed objective: the weights of pairs follow the ranking, so each round takes one Newton step on "
        "an objective of its own. Round 1 is RankNet. Gaps and preconditioners do not apply."
    ),
    "again": "Trains the run once more: {cost}.",
    "long": "Together about {seconds:.0f} s; the limit is {most:.0f} s.",
    "pins": "Pins not drawn: {reasons}",
    "left out": "Left out: {names}.",
}
"""Templates of captions, by the key of their figure or what they say."""
INFOS = {
    "newton": "Only Newton's iterations can be played. Choose {method}{solvers} as solver.",
    "no newton": "Newton cannot train {loss}, and only its iterations can be played. Choose another loss.",
    "documents": "At most {most:,} documents can be played.",
    "runs": "Only the first {most} of {n} runs are drawn.",
    "current": "{model}, the current model, is still training.",
    "no pairs": "No preference pairs: nothing to minimise.",
    "no curve": "Training ended where it began: {status}.",
    "no trace": "This trace has no {asked}. It has: {names}; against {axes}.",
}
"""Templates of messages in place of a figure."""


def ended(statuses: dict[str, list[str]]) -> str:
    """Say how runs ended: the labels of runs by their status."""
    if len(statuses) == 1:
        return CAPTIONS["status"].format(statuses=f"each {next(iter(statuses))}")
    parts = (f"**{'; '.join(labels)}** {status}" for status, labels in statuses.items())
    return CAPTIONS["status"].format(statuses=". ".join(parts))


def settled(rows: pd.DataFrame, ndcg: dict[int, float], top: int) -> str:
    """Say from which iteration on the first ranks of a query stay, and the change in NDCG@10."""
    tops = {
        k: tuple(frame[frame["rank"] <= top].sort_values("rank")["document"])
        for k, frame in rows.groupby("iteration")
    }
    shown = sorted(tops)
    last = next(k for k in shown if all(tops[j] == tops[shown[-1]] for j in shown if j >= k))
    first_step = shown[1] if len(shown) > 1 else shown[0]
    change = with_minus(ndcg[shown[-1]] - ndcg[first_step], "+.3f")
    start = f"The first {top} ranks of this query are settled"
    if last <= first_step:
        return f"{start} after the first step: later steps change only scores"
    return f"{start} from iteration {last} of {shown[-1]} on; later steps change NDCG@10 by {change}"


MINIMISES = "No objective by round is drawn. {model} minimises {what}."
OBJECTIVE = "{what}: {first} before round 1, {last} at the round that is kept"
