"""Texts of the playground; the browser fills in counts."""

from __future__ import annotations

from typing import Any

from rankviz.common.numbers import counted
from rankviz.features.registry import MapKind
from ui.learn.playground_scene import Scene

PLANE_HELP = "A new set removes your changes."
EACH_HELP = "More show the surface better."
SEED_HELP = "Of documents, landmarks and frequencies."
UNREAD = "Not used by this map."
ABOUT = (
    "Each mark is a document: its position gives two features, its shape the query, colour and size the "
    "grade. Background and lines: the score. Drag marks; click twice to choose a landmark below a document. "
    "Keys: Tab, arrows, 0–4 grade, Q query, Delete, Esc, Ctrl+Z. The browser trains the model: only built-in "
    "losses and feature maps are offered here."
)
UNREADABLE = "The link's changes could not be read; the original set is shown."
TOO_LONG = ":material/link_off: Your changes are too long for a link; save the documents instead."
FULL = "At most {most} documents."
FEW_LANDMARKS = " · only {landmarks}: {n}"
FREQUENCIES = "Frequencies ω to drag, in units of √(2γ). Larger: larger weight."
MATRICES = {
    "K": "K, the kernel",
    "nystroem": "Nyström, m = {m}: {right} of {n} pairs",
    "fourier": "Random Fourier, m = {m}: {right} of {n} pairs",
    "near": "K̃, approximation",
    "error": "K̃ − K: {error} of ‖K‖",
}


def answers(kind: MapKind) -> dict[str, Any]:
    """Return the phrases of the answer, which the browser fills in, for a feature map."""
    return {
        "who": who(kind),
        "isLinear": kind.is_identity,
        "empty": "No documents: add some.",
        "oneDocument": "No pairs: add a document of another grade.",
        "oneGrade": "No pairs: change a grade.",
        "onlyPair": "the only pair",
        "allPairs": "all {n} pairs",
        "ofPair": "{right} of {n} pair ({share} %)",
        "ofPairs": "{right} of {n} pairs ({share} %)",
        "all": "all",
        "answer": "After training, {who} orders {found}{compared}; {limit}.",
        "asExact": ", as the exact kernel does",
        "exact": ", the exact kernel {exact}",
        "noLinear": "no linear model orders more",
        "noLinearAbove": "no linear model orders more than {direction}",
        "linearAll": "a linear model can order all",
        "linearMost": "a linear model at most {direction}",
    }


def who(kind: MapKind) -> list[str]:
    """Name the model within a sentence: with one feature, and with m."""
    if not kind.approximates:
        return [kind.in_a_sentence] * 2
    one, many = ("landmark", "landmarks") if kind.expands else ("frequency", "frequencies")
    return [f"{kind.label} with {{m}} {one}", f"{kind.label} with {{m}} {many}"]


def own_marks(kind: MapKind) -> list[tuple[str, str]]:
    """Return descriptions of the drawn parts of a model, each with the kind of its mark."""
    if kind.is_identity:
        return [("arrowed", "w: direction of increasing score")]
    if not kind.approximates:
        return []
    if kind.expands:
        return [("diamond", "Landmark to drag; filled: positive coefficient")]
    return [("wave", "Crests of the strongest waves")]


def note(kind: MapKind) -> str:
    """Explain the circle and the matrices."""
    if not kind.has_kernel:
        return "Lines of equal score are parallel."
    return (
        "Documents are sorted by query and grade. A stronger colour means more similar. ‖·‖: Frobenius norm. "
        "On the circle, the similarity to the chosen mark is 0.5."
    )


def goal(*, dark: bool) -> str:
    """Explain the aim of a model, with the colours of the theme."""
    higher = "lighter" if dark else "darker"
    return f"Same shape: one query. In each, {higher} documents should score higher."


def about(scene: Scene) -> str:
    """Count documents, queries, and changes by hand."""
    documents = scene.documents.values()
    queries = len({one.query for one in documents})
    of = f"{queries} {'query' if queries == 1 else 'queries'}"
    by_hand = f" · {counted(scene.by_hand, 'change')} by hand" if scene.by_hand else ""
    return f"{counted(len(documents), 'document')}, {of}{by_hand}"
