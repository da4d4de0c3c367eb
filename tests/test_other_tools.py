"""Measures against ir_measures (with trec_eval and gdeval.pl) and scikit-learn, on random lists."""

from dataclasses import replace

import ir_measures
import numpy as np
import pandas as pd
import pytest

from rankviz.datasets.types import RankingData
from rankviz.metrics import DEFINITIONS, evaluate, measure

TREC = replace(DEFINITIONS["textbook"], gain="y", short_precision="filled", leaves_out_empty=False)
"""trec_eval's rules: NDCG has the gain y, P@k divides by k, and an empty query counts as 0."""
N = 1000
ROUNDED = {"gdeval": 5.1e-6}
"""gdeval.pl prints five digits."""


@pytest.fixture(scope="module")
def lists() -> tuple[np.ndarray, RankingData]:
    """Make lists of 1 to 60 documents: most with ties, some shorter than k, empty or binary."""
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 1 + rng.choice([3, 12, 60], N))
    qid = np.repeat(np.arange(N), sizes)
    highest = np.repeat(rng.choice([0, 1, 2, 4], N), sizes)
    y = np.minimum(rng.integers(0, 9, len(qid)), highest)
    y = np.where(rng.random(len(qid)) < np.repeat(rng.choice([0.1, 0.5, 1], N), sizes), y, 0)
    steps = np.repeat(rng.choice([1, 3, 20, 10_000], N), sizes)
    scores = rng.integers(0, steps) / 4.0
    data = RankingData.from_arrays(np.zeros((len(qid), 0)), y, qid)
    tied, empty = evaluate(scores, data).n_tied, evaluate(scores, data).n_empty
    assert tied > 250
    assert empty > 250
    assert (sizes < 10).sum() > 300
    return scores, data


@pytest.mark.parametrize(
    "name",
    [
        *(
            "nDCG@1",
            "nDCG@10",
            "P@5",
            "P(rel=2)@5",
            "AP",
            "AP(rel=2)",
            "RR",
            "R@10",
            "R(rel=2)@3",
            "Rprec",
            "Bpref",
        ),
        *("nDCG(gains={0: 0, 1: 1, 2: 5, 3: 5, 4: 9})@10", "nDCG(dcg='exp-log2')@10", "ERR@10", "ERR@20"),
    ],
)
def test_ir_measures_gives_the_same(name: str, lists: tuple[np.ndarray, RankingData]) -> None:
    """trec_eval orders equal scores by falling names: those here fall in the order of the file."""
    scores, data = lists
    names = [f"d{len(scores) - i:06d}" for i in range(len(scores))]
    queries = np.repeat(data.query_labels, np.diff(data.ptr)).astype(str)
    qrels = pd.DataFrame({"query_id": queries, "doc_id": names, "relevance": data.y})
    run = pd.DataFrame({"query_id": queries, "doc_id": names, "score": scores})
    theirs = ir_measures.parse_measure(name)
    provider = "gdeval" if "ERR" in name or "exp" in name else "pytrec_eval"
    found = ir_measures.providers.registry[provider].iter_calc([theirs], qrels, run)
    expected = pd.Series({int(one.query_id): one.value for one in found}).reindex(range(N), fill_value=0.0)
    own = measure(name)
    definition = replace(
        own.definition, **{one: getattr(TREC, one) for one in ("leaves_out_empty", "short_precision")}
    )
    if name.startswith("nDCG@"):
        definition = replace(definition, gain="y")  # the name is the same, the gain is not
    got = evaluate(scores, data, definition, ties="order", measures=[own.name]).per_query[own.name]
    difference = np.abs(got - expected).max()
    print(f"\n{name}: {difference:.1e}")  # noqa: T201
    assert difference < ROUNDED.get(provider, 1e-12)
    assert repr(theirs) == repr(own) or "gains" in name or "dcg" in name
