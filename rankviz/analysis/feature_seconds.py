"""Computing times of feature maps, measured on this machine, for comparison with their errors."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from rankviz.analysis.kernel_error import PAPERS, Variant, variants_of
from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, Stopwatch, silent
from rankviz.features import FeatureMap, Kernel
from rankviz.features.row_blocks import BLOCK_ENTRIES

ENOUGH_SECONDS, LEAST_REPEATS, MOST_REPEATS = 0.2, 3, 12  # short cases repeat more


def feature_seconds(
    X: FloatArray,
    kernel: Kernel,
    grid: Sequence[int],
    variants: Sequence[Variant] | None = None,
    seed: int = 0,
    report: Report = silent,
) -> pd.DataFrame:
    """Measure seconds to fit maps on documents X (n, d) and to compute their features.

    The default is the papers' maps, if they support the kernel. Columns map, choice, m, seconds, slowest. The
    time covers drawing landmarks or frequencies, factoring their kernel, and filling the base of Φ (n × m, in
    blocks that are discarded). All (variant, m) are timed in turn, each three to twelve times until 0.2 s
    have passed, which spreads out a busy spell. seconds is the minimum, because other work only adds time;
    slowest is the maximum.
    """
    variants = variants_of(kernel, PAPERS) if variants is None else variants
    cases = [(variant, m) for variant in variants for m in sorted(set(grid))]
    seconds: dict[tuple[Variant, int], list[float]] = {case: [] for case in cases}
    for turn in range(MOST_REPEATS):
        waiting = [case for case in cases if turn < LEAST_REPEATS or sum(seconds[case]) < ENOUGH_SECONDS]
        for done, (variant, m) in enumerate(waiting):

            def tell(_: object = None, share: float = (turn + done / len(waiting)) / MOST_REPEATS) -> None:
                report(Progress("timing", share))

            clock = Stopwatch()
            _make_features(variant.at(m, kernel, seed), X, m, tell)
            clock.lap("features")
            seconds[variant, m].append(clock.laps["features"])
    report(Progress("timing", 1.0))
    return pd.DataFrame(
        [
            {
                "map": variant.map,
                "choice": variant.choice,
                "m": m,
                "seconds": min(tries),
                "slowest": max(tries),
            }
            for (variant, m), tries in seconds.items()
        ]
    )


def _make_features(settings: FeatureMap, X: FloatArray, m: int, report: Report) -> None:
    fitted, step = settings.fit(X, report), max(1, 4 * BLOCK_ENTRIES // m)
    for start in range(0, len(X), step):
        fitted.operator(X[start : start + step], report)
