"""Sentences of the Compare page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankviz.analysis.comparing.comparison import LEVEL, TESTS, Comparison
from rankviz.analysis.comparing.contestants import Contestant
from rankviz.common.numbers import counted, interval_in_words, small, with_minus
from rankviz.experiments.description import PART_NAMES
from rankviz.metrics.significance import queries_in_words, tied
from ui.shared.foreign import escaped
from ui.shared.show import sentence

ON_VALIDATION = (
    "Settings are chosen on the validation part, and what was chosen there looks better there than it is: "
    "reveal the test part, once, to judge."
)


def about(models: Sequence[Contestant], part: str) -> str:
    """Data set, folds, models and part, for the line beside the title and captions."""
    folds = sorted({fold for one in models for fold in one.folds})
    runs = sum(len(one.runs) for one in models)
    names = list(dict.fromkeys(one.spec.dataset for one in models))
    parts = (
        " and ".join(map(escaped, names[:2])),
        escaped(", ".join(folds)) if len(folds) <= 2 else f"{len(folds)} folds",
        f"{counted(len(models), 'model')} ({counted(runs, 'run')})",
        PART_NAMES[part],
    )
    return " · ".join(parts)


def best(comparison: Comparison, metric: str) -> str:
    """The label of the best model but the baseline."""
    rows = comparison.standings[comparison.standings["metric"] == metric].set_index("label")["mean"]
    others = rows.drop(comparison.baseline)
    return str(others.index[int(tied(others.to_numpy()).argmax())])


def headline(comparison: Comparison, metric: str) -> str:
    """Say how the best model stands to the baseline, and whether that holds."""
    label, baseline = best(comparison, metric), comparison.baseline
    row = comparison.delta(label, metric)
    if math.isnan(row[comparison.test]):
        return sentence(escaped(comparison.sentence(label, metric)))
    ends = interval_in_words(row["low"], row["high"])
    size, family = f"{abs(row['difference']):.3f} {metric}", comparison.family
    n = queries_in_words(int(row["queries"]))
    correction = f" after Holm's correction over {family} comparisons" if family > 1 else ""
    if row["holm"] <= LEVEL:
        than = "better" if row["difference"] > 0 else "worse"
        told = f"{label} is {than} than {baseline} by {size} on {n} ({ends}); this holds{correction}"
    else:
        told = (
            f"{label} is not shown to differ from {baseline}: {with_minus(row['difference'], '+.3f')} "
            f"{metric} on {n} ({ends}), p = {small(row['holm'])}{correction}"
        )
    return sentence(escaped(told))


def tally(comparison: Comparison, metric: str) -> str:
    """How many models are better and worse than the baseline, after correction."""
    rows = comparison.deltas[comparison.deltas["metric"] == metric]
    holds = rows[rows["holm"] <= LEVEL]
    better, worse = int((holds["difference"] > 0).sum()), int((holds["difference"] < 0).sum())
    found = f"{better} {'is' if better == 1 else 'are'} better and {worse} worse"
    return (
        f"Of {counted(len(rows), 'model')} beside {escaped(comparison.baseline)}, "
        f"{found if better + worse else 'none is shown to be better or worse'} by {metric} "
        f"({TESTS[comparison.test]}, Holm's correction over {counted(comparison.family, 'comparison')})."
    )


def not_trained(described: Sequence[str]) -> str:
    """That models which were sent have no run yet."""
    return (
        f"Not trained yet on the fold that is set: {'; '.join(described)}. Train it on the page Train, then "
        "send it here again."
    )
