"""The size of MSLR-WEB10K's training folds: 720,000 synthetic documents, 6,000 queries, 136 features.

Five grades, about 30 million pairs. xu2019's Table 5 has N/A for RankSVM there.
"""

from __future__ import annotations

import time

import pandas as pd

from benchmarks import report
from rankviz import RankSVM
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data

SIZES = {"n_queries": 6000, "documents_per_query": (25, 340), "n_features": 136, "n_grades": 5}
MODELS = {
    "linear": ({"C": 2.0**-11}, 30.0),
    "nystroem": ({"C": 2.0**-11, "gamma": 2.0**-6, "n_components": 500}, 150.0),
}
"""Settings, and the seconds they may take."""
MOST_GB = 8.0


def main() -> None:
    data = make_data(**SIZES, seed=0)
    rows = [row(name, data, settings, target) for name, (settings, target) in MODELS.items()]
    notes = [
        f"{data.n_documents:,} documents in {data.n_queries:,} queries, {data.n_features} features of "
        f"{data.X.nbytes / 1e9:.2f} GB, generated. One fit each; peak memory of the process, the data among "
        f"them, at most {MOST_GB:g} GB. C = 2^-11, γ = 2^-6, m = 500."
    ]
    report.write("large", "The size of MSLR-WEB10K", pd.DataFrame(rows), notes)


def row(name: str, data: RankingData, settings: dict[str, float], target: float) -> dict[str, object]:
    """One fit."""
    reset_peak_memory()
    began = time.perf_counter()
    model = RankSVM(name, **settings).fit_data(data)
    seconds = time.perf_counter() - began
    last = model.trace_.iloc[-1]
    return {
        "map": name,
        "pairs": model.n_pairs_,
        "fit, s": seconds,
        "at most, s": target,
        **{f"{stage}, s": model.seconds_[stage] for stage in ("features", "pairs", "newton")},
        "peak GB": peak_memory() / 1e9,
        "Newton steps": model.n_iter_,
        "CG iterations": int(model.trace_["cg_iterations"].sum()),
        "decrement / objective": last["decrement"] / last["objective"],
        "status": model.status_.name.lower(),
    }
