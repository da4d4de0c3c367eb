"""Rebuilds the bundled demonstration folds: `python -m rankviz.datasets.bundle [folder]`.

The result is always the same (seeded generator, rounded features, gzip without a time stamp); a test checks
it. Without a folder it overwrites the bundled one.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankviz.common.files import write_whole
from rankviz.datasets.folds import BUNDLED, DEMONSTRATION
from rankviz.datasets.letor import write_letor
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.synthetic import make_data
from rankviz.datasets.types import Fold, RankingData

FOLDS = 3
SEED = 2
DECIMALS = 4


def demonstration_data() -> RankingData:
    """Generate all queries of the demonstration data, features rounded to `DECIMALS` digits."""
    data = make_data(
        n_queries=200,
        documents_per_query=(8, 100),
        n_features=20,
        n_grades=3,
        nonlinearity=0.5,
        noise=0.6,
        seed=SEED,
    )
    return replace(data, X=np.round(data.X, DECIMALS))


def demonstration_fold(number: int) -> Fold:
    """Make fold `number` of the demonstration data: 60 % train, 20 % vali, 20 % test, cyclic as in LETOR."""
    return cyclic_fold(demonstration_data(), number, seed=SEED, name=f"{DEMONSTRATION} fold {number}")


def write_bundle(folder: Path) -> list[Path]:
    """Write `folder`/synthetic-demo/FoldK/{train,vali,test}.txt.gz and return the paths."""
    written = []
    for number in range(1, FOLDS + 1):
        fold = demonstration_fold(number)
        where = folder / DEMONSTRATION / f"Fold{number}"
        where.mkdir(parents=True, exist_ok=True)
        for part, data in fold.parts.items():
            written.append(where / f"{part}.txt.gz")
            _write(data, written[-1])
    return written


def _write(data: RankingData, path: Path) -> None:
    comment = (
        f"# synthetic demonstration data of rankviz, not from any real collection: {data.name}, "
        f"seed {SEED}, made by python -m rankviz.datasets.bundle\n"
    )
    text = io.BytesIO(comment.encode())
    text.seek(0, io.SEEK_END)
    write_letor(data, text)
    with write_whole(path) as stream:
        stream.write(gzip.compress(text.getvalue(), 9, mtime=0))


def main(arguments: Sequence[str]) -> None:
    """Write the bundle to the first folder in `arguments`, or over the bundled one."""
    write_bundle(Path(arguments[0]) if arguments else BUNDLED)


if __name__ == "__main__":
    main(sys.argv[1:])
