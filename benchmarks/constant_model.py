"""What a constant model gets by each measure: in the order of the file, and as the mean over all orders.

Run: python -m benchmarks.constant_model. It writes docs/constant-model.md; the folds' test parts are pooled.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from rankviz.datasets import load_fold
from rankviz.metrics import DEFINITIONS, evaluate

SETS = {"OHSUMED": "letor3", "MQ2008": "letor"}
MEASURES = (
    *(
        "NDCG@1",
        "NDCG@5",
        "NDCG@10",
        "P@1",
        "P@5",
        "P@10",
        "MAP",
        "ERR@10",
        "RBP(p=0.8)",
        "RR",
        "R@10",
        "Rprec",
    ),
    *("Bpref", "PairAccuracy", "MeanRank"),
)
DOCUMENT = Path("docs/constant-model.md")
TEXT = """# A constant model

A model that gives every document the same score knows nothing. By the rule "order" it still gets what
the order of the file is worth; by the rule "mean" it gets the mean over all orders. The gap is what ties
can earn. Means over the test queries of all five folds, by LETOR's definitions (LETOR 3.0 for OHSUMED,
4.0 for MQ2008). Mean rank counts only queries with a relevant document, and less is better. `python -m
benchmarks.constant_model` writes this page.

"""


def table(root: Path, name: str, definition: str) -> pd.DataFrame:
    """Return the mean of each measure by rule, one row per measure."""
    found = {}
    for rule in ("order", "mean", "worst", "best"):
        rule_of = replace(DEFINITIONS[definition], ties=rule)
        parts = [load_fold(root / name, fold).test for fold in range(1, 6)]
        values = [evaluate(np.zeros(p.n_documents), p, rule_of, measures=MEASURES).per_query for p in parts]
        found[f"{name}, {rule}"] = pd.concat(values).mean()
    return pd.DataFrame(found)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--letor", type=Path, default=Path(os.environ.get("RANKVIZ_LETOR", ".")))
    chosen = parser.parse_args()
    both = pd.concat([table(chosen.letor, name, rule) for name, rule in SETS.items()], axis=1)
    lines = [f"| measure | {' | '.join(both.columns)} |", "|---|" + "---|" * len(both.columns)]
    for measure, row in both.iterrows():
        lines.append(f"| {measure} | {' | '.join(f'{value:.3f}' for value in row)} |")
    DOCUMENT.write_text(TEXT + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
