"""Nothing but DataError escapes; what is accepted equals the naive reader's and survives a round trip."""

import gzip
import io
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive_letor import NaiveFile, RefusedError, naive_read

from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets import textfile
from rankviz.datasets.letor import parse_letor, write_letor
from rankviz.datasets.types import RankingData

ODD_PARTS = """
0 1 2 -1 2.0 9223372036854775807 9223372036854775808 qid:1 qid:2 qid:-3 qid: qid:x qid:1:2
1:0.5 2:-1e-3 3:.5 4:5. 1:1e999 1:1e308 2:1e308 1:1e-999 2:nan 2:1_0 2:0x1 1:NULL 1:+ 1:1e 1:--1 1:-0.0
0:1 -1:1 07:1 100000:1 100001:1 2:1:2 3: :4 12 2:٣ ١:1 # #docid=a #docid=é b + .
"""
LINE_PARTS = st.sampled_from([*ODD_PARTS.split(), "", "\ufeff", "\x0c", "\x85", "\r"])
ANY_LINE = st.lists(LINE_PARTS, max_size=8).map(" ".join)
GOOD_LINE = st.builds(
    lambda grade, query, features, document: (
        f"{grade} qid:{query} {' '.join(f'{i}:{v!r}' for i, v in features.items())}{document}"
    ),
    st.integers(0, 4),
    st.integers(-3, 3),
    st.dictionaries(st.integers(1, 12), st.floats(allow_nan=False, allow_infinity=False), max_size=6),
    st.sampled_from(["", " #docid = GX008-86-4444840 inc = 1 prob = 0.086622", "#docid = 7", " # é"]),
)
FILES = st.builds(
    lambda lines, end: end.join(lines).encode(),
    st.lists(st.one_of(GOOD_LINE, GOOD_LINE, GOOD_LINE, ANY_LINE), max_size=8),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid file with one or two small wounds."""
    lines = draw(st.lists(GOOD_LINE, min_size=1, max_size=6))
    content = bytearray("\n".join(lines).encode())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(content)))
        width = draw(st.integers(0, 2))
        content[at : at + width] = draw(st.one_of(st.binary(max_size=2), st.sampled_from(FRAGMENTS)))
    return bytes(content)


FRAGMENTS = [bytes([byte]) for byte in b" :#-.e_\t\r\n0\0\xff"] + [b"nan", b"qid:"]


def accepted(content: bytes) -> RankingData | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return parse_letor(content, name="fuzz")
        except DataError as caught:
            error = caught
    assert error.path == "fuzz"
    assert all((error.found, error.expected, error.remedy))
    assert "document id" not in error.found, "no fault was found in a refused line"
    return None


def check(content: bytes) -> None:
    data = accepted(content)
    try:
        naive = naive_read(content)
    except RefusedError:
        assert data is None, "the strict reader accepts what the naive one refuses"
        return
    assert data is not None, "the strict reader refuses what the naive one accepts"
    assert_equal(data, naive)
    assert_survives(data)


def assert_equal(data: RankingData, naive: NaiveFile) -> None:
    groups = naive.grouped()
    order = [position for positions in groups.values() for position in positions]
    documents = [naive.documents[position] for position in order]
    dense = [[d.features.get(i + 1, 0.0) for i in range(naive.width)] for d in documents]
    assert data.X.tobytes() == np.array(dense).reshape(len(order), naive.width).tobytes()
    assert data.y.tolist() == [d.grade for d in documents]
    assert data.qid.tolist() == [d.query for d in documents]
    assert data.query_ids.tolist() == list(groups)
    assert data.ptr.tolist() == np.cumsum([0, *map(len, groups.values())]).tolist()
    assert data.rows.tolist() == order
    ids = [d.document for d in documents]
    assert (data.document_ids is None) == (not any(ids))
    assert data.document_ids is None or data.document_ids.tolist() == ids


def assert_survives(data: RankingData) -> None:
    stream = io.BytesIO()
    write_letor(data, stream)
    again = accepted(stream.getvalue())
    assert again is not None
    assert again.digest == data.digest
    assert again.rows.tolist() == data.rows.tolist()
    assert (again.document_ids is None) == (data.document_ids is None)
    assert data.document_ids is None or again.document_ids.tolist() == data.document_ids.tolist()


@settings(max_examples=250, deadline=None)
@given(st.one_of(st.binary(max_size=80), st.text(max_size=60).map(str.encode)))
@example(b"\x1f\x8b")
@example(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
@example(b"\xef\xbb\xbf0 qid:1 1:1")
@example(b"0 qid:1 1:1\r")
def test_arbitrary_bytes(content: bytes) -> None:
    check(content)


@settings(max_examples=400, deadline=None)
@given(FILES)
@example(b"0 qid:1 1:1e308 2:1e308")
@example("0 qid:1 1:1 #docid = \u2003x\x85".encode())
def test_files_of_good_and_odd_lines(content: bytes) -> None:
    check(content)


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_wounded_files(content: bytes) -> None:
    check(content)


@settings(max_examples=60, deadline=None)
@given(st.lists(GOOD_LINE, min_size=1, max_size=5), st.data())
def test_wounded_gzip(lines: list[str], data: st.DataObject) -> None:
    content = bytearray(gzip.compress("\n".join(lines).encode(), mtime=0))
    at = data.draw(st.integers(2, len(content) - 1))
    content[at:] = data.draw(st.sampled_from([b"", content[at + 1 :], b"\xff" + content[at + 1 :]]))
    check(bytes(content))


@settings(max_examples=100, deadline=None)
@given(FILES, st.integers(1, 40))
@example(b":4\n\r 0\n", 1)  # the fault of another block than the first line's
def test_chunks_of_any_size_give_the_same(content: bytes, size: int) -> None:
    whole, error = outcome(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textfile, "CHUNK_BYTES", size)
        assert outcome(content) == (whole, error)


def outcome(content: bytes) -> tuple[str | None, str | None]:
    """Digest, or message, so that lines are compared too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return parse_letor(content, name="fuzz").digest, None
        except DataError as error:
            return None, str(error)
