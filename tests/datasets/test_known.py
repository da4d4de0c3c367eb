"""Known sets are recognised by their counts, and only LETOR 4.0's features get names."""

from __future__ import annotations

import pytest

from rankviz.datasets import feature_names, load_fold, open_fold, recognise, recognise_fold
from rankviz.datasets.folders import dataset_at
from rankviz.datasets.known import KNOWN_SETS


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
    assert (fold.vali.feature_names is not None) == ("4.0" in title)


@pytest.mark.letor
def test_names_follow_the_features(letor_root):
    fold = load_fold(letor_root / "MQ2008", "fold2", normalisation="query_zscore")
    assert fold.test.feature_names == feature_names(46)
