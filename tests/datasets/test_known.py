"""Known sets are recognised by what is in them, and the features of some have names."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from rankviz.datasets import (
    RankingData,
    feature_names,
    load_fold,
    make_data,
    open_fold,
    read_letor,
    recognise,
    recognise_fold,
    write_letor,
)
from rankviz.datasets import cache as cache_module
from rankviz.datasets.folds import dataset_at
from rankviz.datasets.known import KNOWN_SETS, UNCHECKED, contents_of, features_of_set
from rankviz.datasets.normalise import normalise
from rankviz.runs.starting_points import starting_point


@pytest.mark.parametrize("known", KNOWN_SETS, ids=lambda known: known.title)
def test_counts_alone_make_no_known_set(known):
    got = recognise("renamed", known.queries, known.documents, known.features)
    assert (got.known, got.complete, got.columns) == (known, False, UNCHECKED)


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
    fold = load_fold(letor_root / "OHSUMED-min")
    data = fold.train
    names = features_of_set(recognise_fold("OHSUMED", fold), 45).names
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


# --- contents: only what is equal to the set is called the set --------------------------------------------


def changed(fold, part="train", *, X=None, y=None, ids=None):
    """A fold with other features, grades or query ids in one part."""
    data = getattr(fold, part)
    y = data.y if y is None else y
    ids = data.query_ids if ids is None else ids
    other = RankingData.from_arrays(data.X if X is None else X, y, np.repeat(ids, np.diff(data.ptr)))
    return replace(fold, **{part: other})


@pytest.fixture(scope="module")
def mq2008(letor_root):
    return load_fold(letor_root / "MQ2008", 2)


def forged_grades(fold):
    """MQ2008 with 767 grades changed."""
    y = fold.train.y.copy()
    places = np.random.default_rng(0).choice(len(y), 767, replace=False)
    y[places] = (y[places] + 1) % 3
    return changed(fold, y=y)


@pytest.mark.letor
def test_a_set_with_other_grades_is_not_called_complete_and_gets_no_tuned_settings(mq2008):
    forged = forged_grades(mq2008)
    got = recognise_fold("MQ2008", forged)
    assert not got.complete
    assert "has the counts of MQ2008 (LETOR 4.0), but its grades differ" in got.sentence
    assert "median" in starting_point(forged).source
    assert features_of_set(got, 46) is not None, "features were compared, and are the set's"


@pytest.mark.letor
def test_one_grade_or_one_bit_of_one_feature_is_enough(mq2008):
    y, X = mq2008.vali.y.copy(), mq2008.vali.X.copy()
    y[7] = 2 - y[7] if y[7] != 1 else 0
    X[-1, 3] = np.nextafter(X[-1, 3], 2.0)
    assert "its grades differ" in recognise_fold("x", changed(mq2008, "vali", y=y)).sentence
    got = recognise_fold("x", changed(mq2008, "vali", X=X))
    assert "its features differ" in got.sentence
    assert features_of_set(got, 46) is None, "nothing says that these columns are the set's"
    assert "grades and features differ" in recognise_fold("x", changed(mq2008, "vali", X=X, y=y)).sentence


@pytest.mark.letor
def test_grades_that_change_places_within_a_query_differ(mq2008):
    y, own = mq2008.train.y.copy(), mq2008.train.query_slice(int(np.argmax(np.diff(mq2008.train.ptr))))
    y[own] = y[own][::-1]
    got = recognise_fold("x", changed(mq2008, y=y))
    assert not got.complete
    assert "its grades differ: they belong to other documents" in got.sentence


@pytest.mark.letor
def test_other_queries_differ(mq2008):
    ids = mq2008.test.query_ids.copy()
    ids[0] = 10**6
    assert "its queries differ" in recognise_fold("x", changed(mq2008, "test", ids=ids)).sentence


@pytest.mark.letor
def test_normalised_features_are_not_the_set_as_read(mq2008):
    """Compare with the data as read, before normalisation."""
    got = recognise_fold("MQ2008", normalise(mq2008, "global_zscore"))
    assert not got.complete
    assert "its features differ" in got.sentence


@pytest.mark.letor
def test_the_other_copy_of_a_set_is_told_apart(letor_root):
    fold = load_fold(letor_root / "OHSUMED-min", 1)
    got = recognise_fold("x", fold)
    assert got.complete
    assert "OHSUMED (LETOR 3.0), before normalisation, complete" in got.sentence
    assert "median" in starting_point(fold).source


@pytest.mark.letor
def test_gzip_crlf_and_order_of_lines_change_nothing(letor_root, tmp_path):
    for part in ("train", "vali", "test"):
        content = (letor_root / "MQ2008" / "Fold1" / f"{part}.txt").read_bytes()
        lines = content.replace(b"\r\n", b"\n").splitlines()[::-1]
        (tmp_path / "Fold1").mkdir(exist_ok=True)
        (tmp_path / "Fold1" / f"{part}.txt.gz").write_bytes(gzip.compress(b"\r\n".join(lines), 1))
    for _ in range(2):  # parsed, and from the cache
        fold = load_fold(tmp_path, 1)
        assert recognise_fold("any", fold).complete


def test_digests_of_queries_say_what_differs():
    data = make_data(n_queries=6, documents_per_query=(3, 9), seed=0)

    def contents(X=data.X, y=data.y, qid=data.qid):
        return contents_of([RankingData.from_arrays(X, y, qid)])

    same, order = (
        contents(),
        np.concatenate([np.arange(len(data.y))[data.query_slice(q)][::-1] for q in (3, 5, 0, 1, 4, 2)]),
    )
    assert contents(data.X[order], data.y[order], data.qid[order]) == same
    assert contents(np.hstack([data.X, np.zeros((len(data.y), 2))])) == same, "padded, as narrow parts are"
    assert contents(np.where(data.X == 0, -0.0, data.X)) == same
    assert contents(np.hstack([np.zeros((len(data.y), 1)), data.X])).features != same.features
    more = contents(y=data.y + 1)
    assert (more.features, more.queries) == (same.features, same.queries)
    assert more.grades != same.grades
    assert more.documents != same.documents
    assert contents(qid=data.qid + 1).queries != same.queries


def test_digests_of_queries_are_kept_with_parsed_data_and_follow_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "may_be_known", lambda _: True)
    data = make_data(n_queries=10, documents_per_query=(3, 5), seed=0)
    path = tmp_path / "part.txt"
    for grades in (data.y, data.y[::-1]):
        write_letor(RankingData.from_arrays(data.X, grades, data.qid), path)
        for _ in range(2):
            got = cache_module.read_cached(path, cache_dir=tmp_path / "cache")
        assert "query_digests" in vars(got), "no document is read for it when the file is opened again"
        np.testing.assert_array_equal(got.query_digests, read_letor(path).query_digests)
    split = load_fold(path, 2)
    fresh = RankingData(split.train.X, split.train.y, split.train.ptr, split.train.query_ids)
    assert "query_digests" in vars(split.train)
    np.testing.assert_array_equal(split.train.query_digests, fresh.query_digests)
