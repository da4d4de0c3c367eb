"""`rankviz compare`: models on the same queries, with intervals and tests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence

from rankviz.analysis.comparison import Comparison, compare
from rankviz.analysis.contestants import Contestant, Run, contestants
from rankviz.analysis.tables import as_latex, as_markdown, comparison_csv, sheet
from rankviz.command.chosen import one_run, runs_named
from rankviz.command.output import note, rows, say, say_json, say_table
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.store import RunStore
from rankviz.store.study import IMPORTED

METRICS = ("NDCG@10", "MAP")
PRINTED: dict[str, Callable[[Comparison, str], str]] = {
    "markdown": lambda found, part: as_markdown(sheet(found, part)),
    "latex": lambda found, part: as_latex(sheet(found, part)),
    "csv": lambda found, _: comparison_csv(found),
}
"""Ways to print a comparison of a part, but as text."""


def run(chosen: Namespace) -> int:
    """Compare runs; those that differ in fold and seed only are one model."""
    one_of("format", chosen.format, ["text", *PRINTED])
    store = RunStore()
    try:
        digests = runs_named(store, chosen)
        table = store.listing.every()
        baseline = digests[0] if chosen.baseline is None else one_run(table, chosen.baseline)
        digests = list(dict.fromkeys([*digests, baseline]))
        given = [_run(store, digest, str(table.loc[digest, "state"]), chosen.part) for digest in digests]
    finally:
        store.close()
    there = [one for one in given if one is not None]
    if len(there) < len(given):
        note(f"{len(given) - len(there)} of {len(given)} runs have no record and are left out.")
    found = contestants(there, chosen.part)
    if len(found) < 2:
        raise SettingError("these runs are of one model: name runs of two at least")
    result = compare(found, chosen.metric or METRICS, _holding(found, baseline).label)
    if chosen.json:
        say_json(
            {
                "baseline": result.baseline,
                "part": chosen.part,
                "standings": rows(result.standings),
                "deltas": rows(result.deltas),
                "notes": list(result.notes),
            }
        )
        return 0
    if chosen.format in PRINTED:
        say(PRINTED[chosen.format](result, chosen.part))
        return 0
    say_table(result.standings)
    say()
    for _, row in result.deltas.iterrows():
        say(f"{result.sentence(row['label'], row['metric'])}.")
    for text in result.notes:
        note(text)
    return 0


def _holding(found: Sequence[Contestant], key: str) -> Contestant:
    """The model that has a run; `SettingError` where it has none, for that run has no record."""
    holding = next((one for one in found if any(run.key == key for run in one.runs)), None)
    if holding is None:
        raise SettingError(f"run {key} has no record, so it cannot be the baseline: name another one")
    return holding


def _run(store: RunStore, digest: str, state: str, part: str) -> Run | None:
    """What is compared of a run; None where it has no record. An imported one is told as such."""
    if state == IMPORTED:
        return Run.of(store.imports.opened(digest), part, digest)
    record = next(iter(store.records.find(store.listing.specs([digest])).values()), None)
    return None if record is None else Run.of(record, part)
