"""Offers of fitted models besides scores, declared by each method and never guessed from its name.

See docs/decisions/0002-declare-do-not-guess.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Offers:
    """Offers of a fitted model besides scores; pages read them to see if they apply.

    Attributes
    ----------
    weights : bool
        Weights w of features φ(x), with f(x) = w·φ(x).
    input_weights : bool
        Weights of the input features themselves: f(x) = w·x.
    expansion : bool
        A kernel expansion f(x) = Σ αᵢ κ(x, zᵢ).
    form : bool
        Scores that are sums, or sums of products, of functions of single features.
    components : bool
        A number of features m to choose.
    objective : bool
        A function that training reduces from one row of its trace to the next.
    pair_objective : bool
        An objective over preference pairs; a gap measures the distance from its optimum.
    duals : bool
        Dual variables of preference pairs, one block per query.
    positive_duals : bool
        Dual variables ≥ 0; the weights then depend only on the pairs with positive ones.
    trace : bool
        A row for every iteration of its training.
    random : bool
        Random parts that depend on a seed.
    query_weights : bool
        Training with query weights (`fit_weighted`).
    refits : bool
        Retraining after a change from its current weights, in a fraction of the time.
    """

    weights: bool = False
    input_weights: bool = False
    expansion: bool = False
    form: bool = False
    components: bool = False
    objective: bool = False
    pair_objective: bool = False
    duals: bool = False
    positive_duals: bool = False
    trace: bool = False
    random: bool = False
    query_weights: bool = False
    refits: bool = False

    def lacks(self, *names: str) -> list[str]:
        """Return the named offers that it lacks."""
        return [name for name in names if not getattr(self, name)]


WORDS = {
    "weights": "weights of features",
    "input_weights": "weights of the input features",
    "expansion": "kernel expansion",
    "form": "form that is a sum, or a sum of products, of functions of single features",
    "components": "number of features m",
    "objective": "objective that training minimises",
    "pair_objective": "objective over preference pairs",
    "duals": "dual variables of preference pairs",
    "positive_duals": "dual variables α ≥ 0 (its loss rises at some margins, where α is negative)",
    "trace": "trace of its iterations",
    "random": "seed that decides anything",
    "query_weights": "weights of queries in training",
    "refits": "training that goes on from its weights",
}
"""Offers in words, after "it has no"."""

assert set(WORDS) == {field.name for field in fields(Offers)}
