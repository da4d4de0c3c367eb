"""Comparison of systems by their scores alone: `rankviz.compare`, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from rankviz.analysis.comparison import Comparison
from rankviz.analysis.comparison import compare as compare_contestants
from rankviz.analysis.contestants import Contestant, Run, with_measures
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.datasets.types import RankingData
from rankviz.metrics.evaluation import column_name, matched
from rankviz.runs.given import record_of, system_named
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

PART = "test"
"""The part that the scores stand for."""
Systems = Mapping[str, Any]
"""Scores (n,) by the label of a system; or by label, then by fold, if there are several folds."""


def compare(
    scores: Systems,
    data: RankingData | ArrayLike | Mapping[str, RankingData],
    metrics: Sequence[str] = ("NDCG@10", "MAP"),
    *,
    baseline: str = "",
    qid: ArrayLike | None = None,
    test: str = "randomisation",
) -> Comparison:
    """Compare systems by their scores, with the metrics, intervals and tests of the Compare page.

    `scores` has an array (n,) for each label, and `data` the documents: a `RankingData`, or grades (n,) with
    their query ids `qid`. For several folds `data` has a `RankingData` by fold, and `scores` arrays by label
    and fold. `metrics` may have own gains, as in "nDCG(gains={1: 1, 2: 9})@10". `baseline` is a label, by
    default the first. Raises `DataError` for scores that do not fit, and
    `SettingError` for fewer than two systems or an unknown label.

    Examples
    --------
    >>> import numpy as np
    >>> from rankviz import compare, load_demo
    >>> part = load_demo(1).test
    >>> mine, other = np.random.default_rng(0).normal(size=(2, part.n_documents)) + 0.1 * part.y
    >>> found = compare({"mine": mine, "other": other}, part, ["MAP"])
    >>> found.deltas[["label", "metric", "queries"]].values.tolist()
    [['other', 'MAP', 40]]
    """
    metrics = [column_name(metric) for metric in metrics]
    found = [
        Contestant(label, tuple(Run.of(record, PART) for record in records))
        for label, records in records_by_label(scores, data, qid, metrics).items()
    ]
    if baseline:
        one_of("baseline", baseline, scores)
    return compare_contestants(found, metrics, baseline or found[0].label, test=test)


def records_by_label(
    scores: Systems,
    data: RankingData | ArrayLike | Mapping[str, RankingData],
    qid: ArrayLike | None,
    metrics: Sequence[str] = (),
) -> dict[str, list[RunRecord]]:
    """Return a run for each system and fold; raises as `compare`."""
    if not isinstance(scores, Mapping) or not scores:
        raise SettingError("scores has no systems; give arrays by label, such as {'mine': scores}")
    found: dict[str, list[RunRecord]] = {}
    for label, given in scores.items():
        places: Mapping[str, Any] = data if isinstance(data, Mapping) else {"Fold1": data}
        by_fold = given if isinstance(given, Mapping) else {"Fold1": given}
        if set(by_fold) != set(places):
            named = [", ".join(map(str, names)) for names in (by_fold, places)]
            raise SettingError(f"{label} has scores of {named[0]}, but the data are of {named[1]}")
        own = {fold: matched(by_fold[fold], places[fold], qid) for fold in places}
        system = system_named(str(label), {fold: values for fold, (_, values) in own.items()})
        found[str(label)] = []
        for fold, (part, values) in own.items():
            spec = RunSpec("data", fold, method="given", system=system)
            record = record_of(spec, {PART: part}, {PART: values})
            found[str(label)].append(with_measures(record, PART, metrics, lambda part=part: part))  # type: ignore[misc]
    return found
