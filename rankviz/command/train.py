"""`rankviz train`: train one model on one fold or several, in this process; skip runs in the store."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import pandas as pd

from rankviz.analysis.contestants import with_measures
from rankviz.command.output import OWNER, Bar, note, print_json, print_table, print_text
from rankviz.command.values import base_spec, chosen_roots, with_digests
from rankviz.common.progress import Progress
from rankviz.datasets.types import Fold, RankingData
from rankviz.metrics.evaluation import column_name
from rankviz.runs.description import describe
from rankviz.runs.estimate import estimate
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute, open_named, plan_in_shards
from rankviz.runs.spec import RunSpec
from rankviz.shards.backend import HERE, Backend, Here, place_of
from rankviz.store import RunStore

METRICS = ("MAP", "MeanNDCG", "NDCG@1", "NDCG@5", "NDCG@10")


def run(chosen: Namespace) -> int:
    """Train, print the metrics of every part, and keep the runs in the store."""
    base, folds = base_spec(chosen)
    metrics = [*map(column_name, chosen.metric)] or list(METRICS)
    base.kind.check(base.values)
    specs = with_digests([base.but(fold=fold) for fold in folds], chosen)
    store = RunStore()
    made = store.records.find(specs)
    bar = Bar(len(specs))
    with _where(chosen) as where:
        for number, spec in enumerate(specs):
            if spec in made:
                note(f"{spec.fold}: this run was made before; nothing is trained.")
                continue
            made[spec] = _trained(spec, chosen, bar, number, where)
            store.records.keep([made[spec]], OWNER)
    bar.update(len(specs))
    bar.end()
    digests = [spec.hash for spec in specs]
    store.records.claim(digests, OWNER)
    store.marks.share(OWNER, digests)
    for verdict in store.imports.compare(OWNER):
        note(f"{verdict.digest}: {verdict.sentence}")
    roots = [str(root) for root in chosen_roots(chosen)]
    records = [made[spec] for spec in specs]
    print_metrics(records, metrics, lambda spec: open_named(spec, roots), as_json=chosen.json)
    store.close()
    return 0


def _where(chosen: Namespace) -> AbstractContextManager[Backend | None]:
    """Give the backend to train on, None for training without shards."""
    if chosen.where is None and chosen.shards is None:
        return nullcontext()
    return place_of(HERE if chosen.where is None else chosen.where, chosen.shards)


def _trained(spec: RunSpec, chosen: Namespace, bar: Bar, number: int, where: Backend | None) -> RunRecord:
    fold = open_named(spec, [str(root) for root in chosen_roots(chosen)])
    if where is not None:
        _print_plan(spec, fold, where)
    elif (predicted := estimate(spec, fold)).storage:
        note(f"{spec.fold}: {predicted}.")

    def report(progress: Progress) -> None:
        bar.update(number, f"{spec.fold}: {progress.stage}")

    return execute(spec, report, fold=fold, where=where)


def _print_plan(spec: RunSpec, fold: Fold, where: Backend) -> None:
    """Print how the model will be trained."""
    threads = " Threads of this process train them." if isinstance(where, Here) else ""
    note(f"{spec.fold}: {plan_in_shards(spec, fold, where).words}{threads}")


def _means(
    records: list[RunRecord], metrics: Sequence[str], opened: Callable[[RunSpec], Fold]
) -> pd.DataFrame:
    """Return the means over queries of each part's metrics, one row per run."""
    found = {}
    for record in records:
        parts: dict[str, float] = {}
        for part in record.metrics:
            data = partial(_part, opened, record.spec, part)
            more = with_measures(record, part, metrics, data)
            parts |= {f"{part}:{name}": more.metrics[part][name].mean() for name in metrics}
        found[_place(record)] = parts
    return pd.DataFrame(found).T.rename_axis("fold")


def _part(opened: Callable[[RunSpec], Fold], spec: RunSpec, part: str) -> RankingData:
    return opened(spec).parts[part]


def _place(record: RunRecord) -> str:
    """Name the fold, with the seed of a further run on it."""
    seed = record.spec.get("seed", 0)
    return f"{record.spec.fold}, seed {seed}" if seed else record.spec.fold


def print_metrics(
    records: list[RunRecord],
    metrics: Sequence[str],
    opened: Callable[[RunSpec], Fold],
    *,
    as_json: bool,
) -> None:
    """Print the means of metrics of runs of one model; those that runs lack need their folds, `opened`."""
    table = _means(records, metrics, opened)
    if as_json:
        print_json(
            [
                {
                    "run": record.spec.hash,
                    "spec": record.spec.to_dict(),
                    "status": record.status,
                    "seconds": record.seconds,
                    "metrics": table.loc[_place(record)].to_dict(),
                }
                for record in records
            ]
        )
        return
    print_text(
        str(describe(records[0].spec))
        if len(records) == 1
        else f"{describe(records[0].spec)} and other folds"
    )
    table.insert(0, "run", [record.spec.hash for record in records])
    if len(records) > 1:
        table.loc["mean"] = table.mean(numeric_only=True)
        table.loc["mean", "run"] = ""
    shown = ["run", *(name for name in table if str(name).startswith(("vali:", "test:")))]
    print_table(table[shown])
    for status in dict.fromkeys(record.status for record in records):
        folds = dict.fromkeys(record.spec.fold for record in records if record.status == status)
        note(f"{', '.join(folds)}: {status}")
