"""Sets with labels ±1 as one query with two grades: what is read, and what is refused with which words."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankviz import DataError, RankSVM, load_binary

TEXT = b"+1 1:0.5 3:-2e-1 # docid = a\n\n# a comment\n-1 2:1\n1 1:1 2:2 3:3\r\n-1\t\n"


def written(tmp_path, text, name="set.txt"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def test_labels_become_grades_of_one_query(tmp_path):
    data = load_binary(written(tmp_path, TEXT))
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.X.tolist() == [[0.5, 0, -0.2], [0, 1, 0], [1, 2, 3], [0, 0, 0]]
    assert (data.n_queries, data.name) == (1, "set.txt")
    assert data.document_ids.tolist() == ["a", "", "", ""]


def test_gzip_is_read_and_progress_told(tmp_path):
    told = []
    data = load_binary(written(tmp_path, gzip.compress(TEXT), "set.gz"), progress=told.append)
    np.testing.assert_array_equal(data.X, load_binary(written(tmp_path, TEXT)).X)
    assert told[-1] == 1.0


def test_reads_what_scikit_learn_writes(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 7)), rng.choice([-1, 1], 200)
    X[:, 6] = 1.0  # the last column is seen
    path = tmp_path / "set.txt"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    data, (other, labels) = load_binary(path), load_svmlight_file(str(path), zero_based=False)
    np.testing.assert_array_equal(data.X, other.toarray())
    np.testing.assert_array_equal(data.y, labels > 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"0 1:1", "label '0'. Expected: +1, 1 or −1"),
        (b"2 1:1", "label '2'"),
        (b"1.0 1:1", "Write +1 for positive examples and -1 for negative ones, without a point"),
        (b"yes 1:1", "label 'yes'"),
        (b"1:1 2:2", "label '1:1'"),
        (b"+1 qid:3 1:1", "a query id after the label"),
        (b"-1 1:1 1:2", "feature 1 twice"),
        (b"-1 0:1", "feature index 0"),
        (b"-1 1:nan", "missing value 'nan'"),
        (b"-1 1:1e999", "too large"),
        (b"-1 1", "without a colon"),
        (b"-1 1:1 qid:2", "qid"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = written(tmp_path, b"+1 1:1\n# comment\n" + line + b"\n")
    with pytest.raises(DataError) as caught:
        load_binary(path)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.path) == (3, str(path))


@pytest.mark.parametrize(("text", "words"), [(b"", "no documents"), (b"# nothing\n", "label index:value")])
def test_an_empty_file_is_refused(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        load_binary(written(tmp_path, text))


def test_a_missing_or_damaged_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load_binary(tmp_path / "none.txt")
    with pytest.raises(DataError, match="truncated"):
        load_binary(written(tmp_path, gzip.compress(TEXT)[:-9], "cut.gz"))


def test_it_can_be_trained_on(tmp_path):
    data = load_binary(written(tmp_path, b"+1 1:1\n-1 1:-1\n+1 1:2\n-1 1:0\n"))
    svm = RankSVM(C=1.0).fit_data(data)
    assert svm.n_pairs_ == 4
    assert (np.argsort(-svm.predict(data.X))[:2] == [2, 0]).all()
