"""Number of features that are enough, in a sentence supported by paired intervals over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankviz.features import EXACT
from rankviz.plots.style import style_of
from rankviz.runs.record import RunRecord
from ui.controls.curves import listed
from ui.ndcg_vs_m.words import compared, of_look, verdict

Verdicts = Mapping[int, int]
"""m -> better (1), worse (−1) or not distinguishable (0)."""
Clause = tuple[str, str]
"""The start of a range of m, and the verdict there."""


def enough(found: Sequence[RunRecord], part: str, metric: str, maps: Sequence[str]) -> str:
    """Say from which m on maps do not differ significantly from the exact kernel, or from their largest m.

    "" if queries are too few, or no map has runs to compare.
    """
    exact = of_look(found, EXACT)
    clauses: dict[Clause, list[str]] = {}
    n_queries = 0
    for name in maps:
        ms = sorted({r.spec.n_components for r in of_look(found, name)}, reverse=True)
        largest = ms[0] if ms else 0
        level = exact or of_look(found, name, largest)
        verdicts = {}
        for m in ms if exact else ms[1:]:
            one = compared(of_look(found, name, m), level, part, metric)
            verdicts[m] = verdict(one)
            if verdicts[m]:  # smaller m add nothing
                break
        if not verdicts:
            continue
        if one.n_queries < one.n_needed:
            return ""
        n_queries = one.n_queries
        than = "the exact kernel" if exact else f"m = {largest}"
        clauses.setdefault(clause(verdicts, than), []).append(style_of(name).name)
    return f"{together(clauses)} ({metric}, {n_queries:,} queries)" if clauses else ""


def clause(verdicts: Verdicts, than: str) -> Clause:
    """Return the range of m with the verdict of the largest m, and this verdict; {} stands for the verb."""
    last = max(verdicts)
    if verdicts[last]:
        word = "better" if verdicts[last] > 0 else "still worse"
        return f"at m = {last}", f"{{}} {word} than {than}"
    other = [m for m, told in verdicts.items() if told]
    first = min(m for m in verdicts if m > max(other, default=0))
    start = f"from m = {first} on" if first < last else f"at m = {last}"
    return start, f"{{}} not significantly different from {than}"


def together(clauses: Mapping[Clause, Sequence[str]]) -> str:
    """Join clauses into a sentence; maps with the same verdict share a clause."""
    alike: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for (start, holds), names in clauses.items():
        alike.setdefault(holds, []).append((start, names))
    told, before = [], ""
    for holds, of in alike.items():
        if len(of) == 1 and of[0][0] == before:  # avoids repetition for adjacent clauses
            of = [("", of[0][1])]
        else:
            before = of[0][0] if len(of) == 1 else ""
        subject = " and ".join(f"{start} {listed(list(names))}".strip() for start, names in of)
        told.append(f"{subject} {holds.format('is' if sum(len(n) for _, n in of) == 1 else 'are')}")
    return "; ".join(told)
