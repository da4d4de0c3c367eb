"""`rankviz compare`: models on the same queries, with intervals and tests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from rankviz.analysis.comparing.comparison import Comparison, compare
from rankviz.analysis.comparing.contestants import contestants
from rankviz.analysis.comparing.tables import as_latex, as_markdown, comparison_csv, sheet
from rankviz.command.chosen import one_run, runs_named
from rankviz.command.output import note, rows, say, say_json, say_table
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.store import RunStore

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
        first = digests[0] if chosen.baseline is None else one_run(table, chosen.baseline)
        specs = store.listing.specs(list(dict.fromkeys([*digests, first])))
        records = store.records.find(specs)
    finally:
        store.close()
    missing = [spec for spec in specs if spec not in records]
    if missing:
        note(f"{len(missing)} of {len(specs)} runs have no record and are left out.")
    found = contestants(records.values(), chosen.part)
    if len(found) < 2:
        raise SettingError("these runs are of one model: name runs of two at least")
    baseline = next((one for one in found if any(run.spec.hash == first for run in one.runs)), None)
    if baseline is None:
        raise SettingError(f"the run {first} has no record to compare with: name another --baseline")
    result = compare(found, chosen.metric or METRICS, baseline.label)
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
