"""`rankviz score`: runs of a system that is given by its scores, evaluated and kept in the store."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from functools import cache, partial

from rankviz.command.output import OWNER, note
from rankviz.command.train import METRICS, print_metrics
from rankviz.command.values import chosen_roots
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.datasets.folds import PARTS, find_datasets, open_fold
from rankviz.datasets.score_files import files_at, read_given
from rankviz.metrics.evaluation import column_name
from rankviz.runs.given import records_of
from rankviz.store import RunStore


def run(chosen: Namespace) -> int:
    """Read the scores, print the metrics of every part, and keep the runs."""
    metrics = [*map(column_name, chosen.metric)] or list(METRICS)
    found = find_datasets(chosen_roots(chosen))
    one_of("dataset", chosen.data, found)
    for name, value, known in (("fold", chosen.fold, found[chosen.data].folds), ("part", chosen.part, PARTS)):
        if value is not None:
            one_of(name, value, known)
    folds = {fold: cache(partial(open_fold, found[chosen.data], fold)) for fold in found[chosen.data].folds}
    files = files_at(chosen.file)
    if not files:
        raise SettingError(f"there are no files in {', '.join(chosen.file)}: name files of scores")
    given = read_given(files, folds, name=chosen.name or "", fold=chosen.fold or "", part=chosen.part or "")
    records = records_of(given, chosen.data, folds)
    with closing(RunStore()) as store:
        store.records.keep(records, OWNER)
        store.marks.share(OWNER, [record.spec.hash for record in records])
    print_metrics(records, metrics, lambda spec: folds[spec.fold](), as_json=chosen.json)
    for text in given.notes:
        note(text)
    return 0
