"""Known sets are recognised by their counts, and the features of some have names."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.datasets import feature_names, load_fold, open_fold, recognise, recognise_fold
from rankviz.datasets.folders import dataset_at
from rankviz.datasets.known import KNOWN_SETS, features_of_set


@pytest.mark.parametrize("known", KNOWN_SETS, ids=lambda known: known.title)
def test_every_known_set_is_recognised_whatever_it_is_called(known):
    got = recognise("renamed", known.queries, known.documents, known.features)
    assert got.known is known
    assert got.complete
    assert known.title in got.sentence
    assert "complete" in got.sentence


def test_deviation_is_said():
    got = recognise("MQ2008 (copy)", 784, 15_000, 46)
    assert got.known.title == "MQ2008 (LETOR 4.0)"
    assert not got.complete
    assert "15,000 documents instead of 15,211" in got.sentence
    assert "queries instead" not in got.sentence


def test_of_two_releases_the_closer_one_is_compared_with():
    assert recognise("OHSUMED", 63, 9_219, 25).known.release == "LETOR 2.0"
    assert recognise("ohsumed", 63, 9_219, 45).known.release == "LETOR 3.0"


def test_stranger():
    got = recognise("mine", 10, 100, 46)
    assert got.known is None
    assert "10 queries, 100 documents, 46 features" in got.sentence


def test_names_of_letor_4():
    names = feature_names(46)
    assert len(names) == len(set(names)) == 46
    assert names[0] == "TF of body"
    assert names[24] == "BM25 of whole document"
    assert names[38] == "LMIR.JM of URL"
    assert names[40:] == ("PageRank", "inlinks", "outlinks", "slashes in URL", "URL length", "child pages")
    assert feature_names(45) is None


@pytest.mark.letor
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("OHSUMED", "OHSUMED (LETOR 3.0)"),
        ("OHSUMED-LETOR2", "OHSUMED (LETOR 2.0)"),
        ("MQ2008", "MQ2008 (LETOR 4.0)"),
    ],
)
def test_real_sets_are_complete(letor_root, name, title):
    dataset = dataset_at(letor_root / name)
    fold = open_fold(dataset, 3)
    got = recognise_fold(dataset.name, fold)
    assert got.complete
    assert title in got.sentence
    found = features_of_set(got, fold.vali.n_features)
    assert found is not None
    assert fold.vali.feature_names == found.names
    assert len(set(found.names)) == fold.vali.n_features


@pytest.mark.letor
def test_the_names_of_ohsumed_fit_its_raw_numbers(letor_root):
    data = load_fold(letor_root / "OHSUMED-min").train
    names = features_of_set(recognise("OHSUMED", 106, 16_140, 45), 45).names
    column = {name: data.X[:, j] for j, name in enumerate(names)}
    for field in ("title", "abstract", "title + abstract"):
        bm25, log = column[f"BM25 of {field}"], column[f"log BM25 of {field}"]
        np.testing.assert_allclose(np.log(bm25[bm25 > 0]), log[bm25 > 0], atol=1e-5)
        one = column[f"TF of {field}"] == 1
        np.testing.assert_allclose(column[f"log TF of {field}"][one], np.log(2), atol=1e-5)
        share = column[f"TF/length of {field}"][one]
        np.testing.assert_allclose(
            column[f"log TF·IDF/length of {field}"][one],
            np.log1p(column[f"TF·IDF of {field}"][one] * share),
            atol=1e-5,
        )
    both = column["TF of title"] + column["TF of abstract"]
    np.testing.assert_array_equal(both, column["TF of title + abstract"])
    assert np.isclose(
        dirichlet_slopes(data, column), np.round(dirichlet_slopes(data, column)), atol=1e-3
    ).all()


def dirichlet_slopes(data, column):
    """Dirichlet's smoothing: with the same words found, minus a multiple of log(length + μ), per query."""
    tf, value = column["TF of abstract"], column["LMIR.DIR of abstract"]
    word, slopes = column["TF·IDF of abstract"], []
    for q in range(data.n_queries):
        rows = np.arange(data.n_documents)[data.query_slice(q)]
        rows = rows[tf[rows] == 1]
        for same in (rows[word[rows] == w] for w in set(word[rows])):
            length = 1 / column["TF/length of abstract"][same]
            if len(same) >= 6 and np.ptp(length) > 50:
                slopes.append(np.polyfit(np.log(length + 50), value[same], 1)[0])
    assert len(slopes) > 20
    return np.array(slopes)


@pytest.mark.letor
def test_names_follow_the_features(letor_root):
    fold = load_fold(letor_root / "MQ2008", "fold2", normalisation="query_zscore")
    assert fold.test.feature_names == feature_names(46)
