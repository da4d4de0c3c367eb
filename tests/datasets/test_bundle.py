"""The bundled folds: made by the script, labelled, small, and with the curve they are there to show."""

import gzip

import numpy as np
import pytest

from rankviz.datasets import find_datasets, load_fold, open_fold
from rankviz.datasets.bundle import FOLDS, demonstration_fold, main
from rankviz.datasets.folds import BUNDLED, DEMONSTRATION
from rankviz.datasets.statistics import describe
from rankviz.metrics import evaluate
from rankviz.models.ranksvm import RankSVM

NUMBERS = range(1, FOLDS + 1)


def test_the_script_makes_what_is_bundled(tmp_path):
    main([str(tmp_path)])
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.gz"))
    assert made == sorted(path.relative_to(BUNDLED) for path in BUNDLED.rglob("*.gz"))
    assert len(made) == 3 * FOLDS
    for path in made:
        ours, bundled = (gzip.decompress((root / path).read_bytes()) for root in (tmp_path, BUNDLED))
        assert ours == bundled
        assert (tmp_path / path).read_bytes()[4:8] == bytes(4)  # gzip's time stamp


def test_every_file_says_that_it_is_synthetic():
    for path in BUNDLED.rglob("*.gz"):
        with gzip.open(path, "rt") as stream:
            assert stream.readline().startswith("# synthetic demonstration data")
    assert "**synthetic**" in (BUNDLED / "README.md").read_text()


def test_the_bundle_is_small():
    assert sum(path.stat().st_size for path in BUNDLED.rglob("*") if path.is_file()) < 3_000_000


def test_it_is_found_among_the_default_roots(monkeypatch, tmp_path):
    monkeypatch.setenv("RANKVIZ_DATA", str(tmp_path))
    dataset = find_datasets()[DEMONSTRATION]
    assert list(dataset.folds) == [f"Fold{number}" for number in NUMBERS]


@pytest.mark.parametrize("number", NUMBERS)
def test_folds_are_what_the_readme_says(number):
    fold = open_fold(find_datasets([BUNDLED])[DEMONSTRATION], number)
    assert fold.digest == demonstration_fold(number).digest
    parts = [describe(part) for part in fold.parts.values()]
    assert sum(part.queries for part in parts) == 200
    assert sum(part.documents for part in parts) == 7_327
    assert parts[0].documents <= 5_000
    assert all(list(part.grades) == [0, 1, 2] and part.features == 20 for part in parts)
    assert sum(part.queries_without_relevant for part in parts) == 6
    assert min(part.documents_per_query[0] for part in parts) == 8
    assert max(part.documents_per_query[2] for part in parts) > 90


def test_the_curve_starts_below_the_linear_line_and_crosses_it():
    """As in chen2017's Figure 2, at the settings data/README.md recommends."""
    fold = load_fold(BUNDLED / DEMONSTRATION, 1)

    def ndcg(**settings):
        model = RankSVM(C=2**-4, **settings).fit(fold.train.X, fold.train.y, qid=fold.train.qid)
        parts = (fold.vali, fold.test)
        return np.array([evaluate(model.predict(part.X), part).mean["NDCG@10"] for part in parts])

    linear = ndcg(feature_map="linear")
    assert (linear > 0.5).all()
    for feature_map in ("nystroem", "fourier"):
        few, many = (
            ndcg(feature_map=feature_map, n_components=m, gamma=2**-2, random_state=0) for m in (10, 500)
        )
        assert (few < linear - 0.02).all()
        assert (many > linear + 0.05).all()
