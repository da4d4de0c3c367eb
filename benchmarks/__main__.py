"""Run all measurements, or those that are named: `python -m benchmarks [NAME …]`."""

from __future__ import annotations

import sys
from importlib import import_module

MEASUREMENTS = {
    **dict.fromkeys(("training", "linear", "large", "curves", "exact", "low_rank"), "fits"),
    **dict.fromkeys(("published", "starting_points"), "settings"),
    **dict.fromkeys(("memory", "queued"), "scaling"),
    "programs": "peers",
    **{
        name: name
        for name in (
            *("frames", "refits", "peers", "methods", "score_files", "trees", "rankers", "scaling"),
            *("shards", "grid", "he2009", "intervals", "xu2019"),
        )
    },
}
"""Measurement -> its module. The function has the name of the measurement, or is `main`."""


def main() -> int:
    """Run what the command line names; return the exit status."""
    names = sys.argv[1:] or list(MEASUREMENTS)
    if unknown := [name for name in names if name not in MEASUREMENTS]:
        print(f"no measurement called {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}")
        return 2
    for name in names:
        module = import_module(f"benchmarks.{MEASUREMENTS[name]}")
        getattr(module, name if hasattr(module, name) else "main")()
    return 0


if __name__ == "__main__":
    sys.exit(main())
