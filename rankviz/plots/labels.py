"""Legend entries that tell several runs apart by what differs among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankviz.experiments.spec import RunSpec
from rankviz.features import FREQUENCIES, LANDMARKS
from rankviz.plots.style import cost_words, method_label, power_of_two
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import SOLVERS


def distinct_labels(specs: Sequence[RunSpec]) -> list[str]:
    """One label a spec: method and m, and of the other settings what varies."""
    told = [method_label(spec) for spec in specs]
    for words in _WORDS:
        found = [words(spec) for spec in specs]
        if len({text for text in found if text}) > 1:
            told = [f"{label}, {text}" if text else label for label, text in zip(told, found, strict=True)]
    return told


def _of_kernels(words: Callable[[RunSpec], str]) -> Callable[[RunSpec], str]:
    return lambda spec: "" if spec.feature_map == "linear" else words(spec)


def _rank(spec: RunSpec) -> str:
    return "full rank" if spec.rank is None else f"rank {spec.rank}"


def _preconditioner(spec: RunSpec) -> str:
    return "without preconditioner" if spec.preconditioner == "none" else "preconditioned"


_WORDS: tuple[Callable[[RunSpec], str], ...] = (
    lambda spec: LOSSES[spec.loss].label,
    lambda spec: cost_words(spec.costs),
    lambda spec: SOLVERS[spec.solver].label,
    lambda spec: f"C = {power_of_two(spec.C)}",
    _of_kernels(lambda spec: f"γ = {power_of_two(spec.gamma)}"),
    lambda spec: _rank(spec) if spec.feature_map == "nystroem" else "",
    lambda spec: f"{LANDMARKS[spec.landmarks].label} landmarks" if spec.feature_map == "nystroem" else "",
    lambda spec: (
        f"{FREQUENCIES[spec.frequencies].label} frequencies" if spec.feature_map == "fourier" else ""
    ),
    _of_kernels(lambda spec: f"seed {spec.seed}"),
    lambda spec: f"tolerance {spec.tol:.0e}",
    lambda spec: _preconditioner(spec) if spec.solver == "newton" else "",
)
