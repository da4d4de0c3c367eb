"""Run all measurements, or those that are named: `python -m benchmarks [NAME …]`."""

from __future__ import annotations

import sys

from benchmarks import (
    binary,
    curves,
    estimates,
    exact,
    grid,
    he2009,
    intervals,
    large,
    linear,
    low_rank,
    low_rank_limits,
    peers,
    published,
    reading,
    refits,
    run_store,
    scaling,
    shard_kills,
    shards,
    starting_points,
    store,
    threads,
    training,
    why,
    xu2019,
)

MEASUREMENTS = {
    "training": training.main,
    "linear": linear.main,
    "binary": binary.main,
    "large": large.main,
    "reading": reading.main,
    "curves": curves.main,
    "exact": exact.main,
    "peers": peers.main,
    "scaling": scaling.main,
    "shards": shards.main,
    "shard_kills": shard_kills.main,
    "published": published.main,
    "estimates": estimates.main,
    "grid": grid.main,
    "he2009": he2009.main,
    "intervals": intervals.main,
    "low_rank": low_rank.main,
    "low_rank_limits": low_rank_limits.main,
    "xu2019": xu2019.main,
    "refits": refits.main,
    "threads": threads.main,
    "starting_points": starting_points.main,
    "store": store.main,
    "run_store": run_store.main,
    "why": why.main,
}


def main() -> int:
    names = sys.argv[1:] or list(MEASUREMENTS)
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"no measurement called {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}")
        return 2
    for name in names:
        MEASUREMENTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
