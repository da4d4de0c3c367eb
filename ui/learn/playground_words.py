"""Texts of the playground, computed from counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.common.numbers import counted
from rankviz.features import FEATURE_MAPS
from rankviz.whatif.plane import PlaneFit, has_landmarks
from ui.learn.playground_scene import WAVES, Scene

PLANE_HELP = "A new set removes your changes."
EACH_HELP = "More show the surface better."
SEED_HELP = "Of documents, landmarks and frequencies."
UNREAD = "Not used by this map."
ABOUT = (
    "Each mark is a document: its position gives two features, its shape the query, colour and size the "
    "grade. Background and lines: the score. Drag marks; click twice to choose a landmark below a document. "
    "Keys: Tab, arrows, 0–4 grade, Q query, Delete, Esc, Ctrl+Z."
)
UNREADABLE = "The link's changes could not be read; the original set is shown."
TOO_LONG = ":material/link_off: Your changes are too long for a link; save the documents instead."
FULL = "At most {most} documents."
EMPTY = "No documents: add some"


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
        return "No pairs: add a document of another grade"
    return "No pairs: change a grade"


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
        return f"no linear model orders more than {direction:,}"
    return "no linear model orders more"


def _most(direction: int, n: int) -> str:
    if direction == n:
        return "a linear model can order all"
    return f"a linear model at most {direction:,}"


def own_marks(fit: PlaneFit) -> list[tuple[str, str]]:
    """Return descriptions of the drawn parts of the model, each with the kind of its mark."""
    kind = FEATURE_MAPS[fit.model.feature_map]
    if kind.is_identity:
        return [("arrowed", "w: direction of increasing score")]
    if not kind.approximates:
        return []
    if kind.expands:
        return [("diamond", "Landmark; filled: positive coefficient")]
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
    return ["K, the kernel", f"K̃, approximation: error {told} %"]


def note(fit: PlaneFit) -> str:
    """Explain the circle and the matrices."""
    if not FEATURE_MAPS[fit.model.feature_map].has_kernel:
        return "Lines of equal score are parallel."
    told = "Documents by query and grade; darker: more similar. Circle: similarity 0.5 to the chosen mark."
    if FEATURE_MAPS[fit.model.feature_map].approximates:
        told += " Error: ‖K − K̃‖ / ‖K‖ (Frobenius norm)."
    return told


def goal(*, dark: bool) -> str:
    """Explain the aim of a model, with the colours of the theme."""
    higher = "lighter" if dark else "darker"
    return f"Same shape: one query. In each, {higher} documents should score higher."


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
