"""Runs made of numbers, for tests of comparisons: nothing is trained."""

from collections.abc import Mapping, Sequence

import pandas as pd

from rankviz import RunSpec
from rankviz.analysis.contestants import Contestant, Run

LINEAR = RunSpec("demo", feature_map="linear", C=0.25)
NYSTROEM = RunSpec("demo", n_components=25, C=0.25)


def run(
    spec: RunSpec,
    values: Sequence[float],
    queries: Sequence[object] = (),
    seconds: float = 1.0,
    **more: object,
) -> Run:
    """A run whose queries (1, 2, … unless said) have these values of MAP, and `more` metrics."""
    index = pd.Index(queries or range(1, len(values) + 1), name="query")
    return Run(spec, pd.DataFrame({"MAP": list(values)} | more, index=index), seconds)


def single(label: str, values: Sequence[float], spec: RunSpec = LINEAR, **more: object) -> Contestant:
    """A contestant of one run."""
    return Contestant(label, (run(spec, values, **more),))


def over_folds(
    label: str, spec: RunSpec, by_fold: Mapping[str, Sequence[Sequence[float]]], seconds: float = 1.0
) -> Contestant:
    """A contestant with seeds 0, 1, … on each fold; queries of the n-th fold are n01, n02, …"""
    runs = []
    for number, (fold, seeds) in enumerate(by_fold.items(), start=1):
        for seed, values in enumerate(seeds):
            drawn = {"seed": seed} if "seed" in spec else {}
            queries = [100 * number + place for place in range(1, len(values) + 1)]
            runs.append(run(spec.but(fold=fold, **drawn), values, queries, seconds))
    return Contestant(label, tuple(runs))
