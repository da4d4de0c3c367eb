"""The best of several contestants, chosen on the queries it is judged by: what the choice does to its p."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.comparison import LEVEL
from rankviz.analysis.matched import Matched
from rankviz.common.numbers import counted, small, with_minus
from rankviz.metrics.max_statistic import max_statistic
from rankviz.metrics.significance import differences_of, queries_in_words, tied


@dataclass(frozen=True, eq=False)
class Chosen:
    """The best candidate by a metric, and all candidates with the choice counted.

    Attributes
    ----------
    label : str
        Of the candidate with the highest mean; the first of them where several have it.
    baseline, metric : str
    queries : int
    table : DataFrame
        A row for each candidate: label, mean, difference (to the baseline), p (of the paired randomisation
        test alone) and p_chosen, adjusted for the choice among all of them (see `max_statistic`).
    """

    label: str
    baseline: str
    metric: str
    queries: int
    table: pd.DataFrame

    def sentence(self) -> str:
        """Say whether the best is better than the baseline, although it was chosen on these queries."""
        rows = self.table[self.table["label"] == self.label]
        difference, p, chosen = (float(rows[name].iloc[0]) for name in ("difference", "p", "p_chosen"))
        head = f"Of {counted(len(self.table), 'candidate')}, {self.label} has the best {self.metric}"
        if math.isnan(chosen):
            return f"{head}; {queries_in_words(self.queries)} cannot tell it from {self.baseline}"
        verdict = "is better" if chosen <= LEVEL and difference > 0 else "is not shown to be better"
        return (
            f"{head}; chosen on the same {queries_in_words(self.queries)}, it {verdict} than {self.baseline} "
            f"(difference {with_minus(difference, '+.3f')}, p = {small(chosen)} with the choice counted, "
            f"{small(p)} without)"
        )


def best_of(matched: Matched, metric: str, baseline: str) -> Chosen:
    """Test the best of all contestants but the baseline against it, by one metric.

    Raises `SettingError` where no contestant is called so, and as `Matched.by_query`.
    """
    others = [one.label for one in matched.others(baseline)]
    values = matched.by_query(metric)
    differences = np.column_stack([differences_of(values[one], values[baseline]) for one in others])
    table = pd.DataFrame(
        {
            "label": others,
            "mean": values[others].mean().to_numpy(),
            "difference": differences.mean(axis=0),
            "p": [float(max_statistic(column[:, None])[0]) for column in differences.T],
            "p_chosen": max_statistic(differences),
        }
    )
    best = others[int(np.argmax(tied(table["mean"].to_numpy())))]
    return Chosen(best, baseline, metric, len(values), table)
