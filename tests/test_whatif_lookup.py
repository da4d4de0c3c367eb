"""Grades that turn a pair, pairs that turned, and documents that somebody typed."""

from __future__ import annotations

import pytest

from rankviz import DataError
from rankviz.whatif.lookup import typed_documents


def test_documents_are_read_as_letor_or_as_numbers() -> None:
    letor = "2 qid:9 1:0.5 3:1e-2 # docid = x\n\n# a comment\n0 qid:9 2:1\n"
    found = typed_documents(letor, 4)
    assert [one.grade for one in found] == [2, 0]
    assert [one.features for one in found] == [(0.5, 0.0, 0.01, 0.0), (0.0, 1.0, 0.0, 0.0)]
    for text in ("1 2 -3", "1,2,-3", "1; 2;\t-3", " 1\t2 , -3 "):
        assert typed_documents(text, 3)[0].features == (1.0, 2.0, -3.0)
        assert typed_documents(text, 3)[0].grade is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty text"),
        ("# only a comment", "empty text"),
        ("1 2", "2 numbers in document 1"),
        ("1 2 3\n1 2", "2 numbers in document 2"),
        ("1 2 x", "not a number"),
        ("1 2 inf", "not finite"),
        ("1 qid:1 5:2", "feature 5 in document 1"),
        ("1 qid:1 1:nan", "document 1"),
        ("0.5 qid:1 1:1", "document 1"),
    ],
)
def test_other_texts_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        typed_documents(text, 3)
