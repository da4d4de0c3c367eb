"""Texts of the playground, computed from counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.common.numbers import counted
from rankviz.features import FEATURE_MAPS
from rankviz.whatif.plane import PlaneFit, has_landmarks
from ui.playground.packing import WAVES
from ui.playground.scene import Scene

TERMS_HERE = (
    "Kernel",
    "Kernel approximation K̃",
    "Landmark",
    "Random Fourier feature",
    "Preference pair",
    "Margin",
    "Hinge",
    "Objective",
    "Newton step",
    "Weights w",
    "m",
    "γ",
    "C",
)
"""Glossary terms of the playground."""
EMPTY = "No documents: press Add and click into the plane, or reset it"


def answer(fit: PlaneFit, exact: int | None, direction: int) -> str:
    """Give the pairs ordered by a model, by the exact kernel if it differs, and by the best direction."""
    n = fit.model.n_pairs_
    if n == 0:
        return no_pairs(fit)
    kind, right = FEATURE_MAPS[fit.model.feature_map], fit.n_ordered
    found = f"After training, {who(fit)} orders {of_pairs(right, n)}"
    if kind.is_identity:
        return f"{found}; {_bound(right, direction)}"
    if exact is not None:
        found += ", as the exact kernel does" if exact == right else f", the exact kernel {_all(exact, n)}"
    return f"{found}; {_most(direction, n)}"


def no_pairs(fit: PlaneFit) -> str:
    """Explain why there is nothing to learn, and the remedy."""
    if fit.data.n_documents == 1:
        return "No pairs: one document alone. Add another one to its query, with another grade"
    return "No pairs: no query has two documents of different grades. Give some document another grade"


def who(fit: PlaneFit) -> str:
    """Name the model within a sentence."""
    kind, m = FEATURE_MAPS[fit.model.feature_map], fit.model.n_components_
    if kind.approximates:
        thing = counted(m, "landmark") if kind.expands else f"{m} frequenc{'y' if m == 1 else 'ies'}"
        return f"{kind.label} with {thing}"
    return kind.in_a_sentence


def of_pairs(right: int, n: int) -> str:
    """Give a number of all pairs."""
    if right == n:
        return "the only pair" if n == 1 else f"all {n:,} pairs"
    share = min(max(round(100 * right / n), 1 if right else 0), 99)
    return f"{right:,} of {counted(n, 'pair')} ({share} %)"


def _all(right: int, n: int) -> str:
    return "all" if right == n else f"{right:,}"


def _bound(right: int, direction: int) -> str:
    """Compare a linear model with the best direction."""
    if right < direction:
        return f"the best of all directions orders {direction:,}"
    return "no direction can do better"


def _most(direction: int, n: int) -> str:
    if direction == n:
        return "a single direction can do that too"
    return f"a single direction at most {direction:,}"


def own_marks(fit: PlaneFit) -> list[tuple[str, str]]:
    """Return descriptions of the drawn parts of the model, each with the kind of its mark."""
    kind = FEATURE_MAPS[fit.model.feature_map]
    if kind.is_identity:
        return [("arrowed", "w: scores grow along it")]
    if not kind.approximates:
        return []
    if kind.expands:
        return [("diamond", "Landmark; filled: its own coefficient is above 0, neighbours may outweigh it")]
    return [("wave", f"Crests of the {min(WAVES, fit.model.n_components_)} strongest waves")]


def of_kernels(fit: PlaneFit) -> list[str]:
    """Return the titles of the matrices next to the plane."""
    kind = FEATURE_MAPS[fit.model.feature_map]
    if not kind.has_kernel:
        return []
    if not kind.approximates:
        return ["K, the kernel"]
    error = 100 * fit.kernel_error
    told = "less than 0.1" if error < 0.1 else f"{error:.1f}" if error < 10 else f"{error:.0f}"
    return ["K, the kernel", f"K̃, what stands in for it: {told} % off"]


def note(fit: PlaneFit) -> str:
    """Explain the circle and the matrices."""
    if not FEATURE_MAPS[fit.model.feature_map].has_kernel:
        return "A linear score grows in one direction: its lines of equal score are straight and parallel."
    told = (
        "Rows and columns are documents by query and grade; the stronger, the more alike. The circle around "
        "what is chosen is where the kernel has fallen to a half."
    )
    if FEATURE_MAPS[fit.model.feature_map].approximates:
        told += " % off: the Frobenius norm of K − K̃ over that of K."
    return told


def goal(*, dark: bool) -> str:
    """Explain the aim of a model, with the colours of the theme."""
    higher = "lighter" if dark else "darker"
    return f"Same shape: one query. Within each, {higher} documents should score higher."


def landmarks_there_are(scene: Scene, settings: Mapping[str, Any]) -> str:
    """Say that there are fewer landmarks than requested, if so."""
    places = len({(one.x, one.y) for one in scene.documents.values()})
    if not 0 < places < settings.get("n_components", 0) or not has_landmarks(settings["feature_map"]):
        return ""
    return f" · only {counted(places, 'landmark')}: {counted(places, 'different document')}"


def about(scene: Scene) -> str:
    """Count documents, queries, and changes by hand."""
    documents = scene.documents.values()
    queries = len({one.query for one in documents})
    of = f"{queries} {'query' if queries == 1 else 'queries'}"
    by_hand = f" · {counted(scene.by_hand, 'change')} by hand" if scene.by_hand else ""
    return f"{counted(len(documents), 'document')}, {of}{by_hand}"
