"""`rankviz compare`: models on the same queries, with intervals and tests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import closing

from rankviz.analysis.comparison import Comparison, compare
from rankviz.analysis.contestants import Contestant, Run, contestants, model_of, with_measures
from rankviz.analysis.tables import as_latex, as_markdown, comparison_csv, table_of_tests
from rankviz.command.output import note, print_json, print_table, print_text, rows
from rankviz.command.runs import named_runs, one_run
from rankviz.command.values import chosen_roots
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.metrics.evaluation import column_name
from rankviz.runs.record import RunRecord
from rankviz.runs.run import open_named
from rankviz.store import RunStore
from rankviz.store.study import DONE, IMPORTED

METRICS = ("NDCG@10", "MAP")
PRINTED: dict[str, Callable[[Comparison, str], str]] = {
    "markdown": lambda found, part: as_markdown(table_of_tests(found, part)),
    "latex": lambda found, part: as_latex(table_of_tests(found, part)),
    "csv": lambda found, _: comparison_csv(found),
}
"""Formats of a comparison other than text."""


def run(chosen: Namespace) -> int:
    """Compare runs; those that differ in fold and seed only are one model."""
    one_of("format", chosen.format, ["text", *PRINTED])
    with closing(RunStore()) as store:
        digests = named_runs(store, chosen)
        table = store.listing.every()
        baseline = digests[0] if chosen.baseline is None else one_run(table, chosen.baseline)
        digests = list(dict.fromkeys([*digests, baseline]))
        if chosen.all_folds:
            digests = _on_all_folds(store, digests)
        metrics = [*map(column_name, chosen.metric)] or list(METRICS)
        given = [_run(store, one, str(table.loc[one, "state"]), metrics, chosen) for one in digests]
    there = [one for one in given if one is not None]
    if len(there) < len(given):
        note(f"{len(given) - len(there)} of {len(given)} runs have no record and are left out.")
    found = contestants(there, chosen.part)
    if len(found) < 2:
        raise SettingError("these runs are of one model: name runs of at least two models")
    result = compare(found, metrics, _contestant_with(found, baseline).label)
    if chosen.json:
        print_json(
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
        print_text(PRINTED[chosen.format](result, chosen.part))
        return 0
    print_table(result.standings)
    print_text()
    for _, row in result.deltas.iterrows():
        print_text(f"{result.sentence(row['label'], row['metric'])}.")
    for text in result.notes:
        note(text)
    return 0


def _on_all_folds(store: RunStore, digests: Sequence[str]) -> list[str]:
    """Return the runs, and the finished ones of the same models on other folds and with other seeds."""
    table = store.listing.every()
    wanted = {model_of(spec) for spec in store.listing.specs(digests)}
    made = list(table.index[table["state"] == DONE])
    pairs = zip(made, store.listing.specs(made), strict=True)
    return list(dict.fromkeys([*digests, *(one for one, spec in pairs if model_of(spec) in wanted)]))


def _contestant_with(found: Sequence[Contestant], key: str) -> Contestant:
    """Return the model that a run belongs to. Raises `SettingError` if none does: the run has no record."""
    for one in found:
        if any(run.key == key for run in one.runs):
            return one
    raise SettingError(f"run {key} has no record, so it cannot be the baseline: name another one")


def _run(store: RunStore, digest: str, state: str, metrics: Sequence[str], chosen: Namespace) -> Run | None:
    """Return the data of a run to compare, None if it has no record."""
    if state == IMPORTED:
        record: RunRecord | None = store.imports.opened(digest)
    else:
        record = next(iter(store.records.find(store.listing.specs([digest])).values()), None)
    if record is None:
        return None
    spec, roots = record.spec, [str(root) for root in chosen_roots(chosen)]
    more = with_measures(record, chosen.part, metrics, lambda: open_named(spec, roots).parts[chosen.part])
    return Run.of(more, chosen.part, digest if state == IMPORTED else "")
