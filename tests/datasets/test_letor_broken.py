"""Broken files, each with the path, the line and the words of its error."""

import gzip
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from rankviz.common.errors import DataError
from rankviz.datasets.letor import parse_letor, read_letor

GOOD = b"1 qid:1 1:0.5 2:1 #docid = a\n0 qid:1 1:0.25 2:0 #docid = b\n"


class Broken(NamedTuple):
    name: str
    content: bytes
    line: int | None
    found: str
    expected: str


def third(line: str) -> bytes:
    """A good file with this as its third line."""
    return GOOD + line.encode() + b"\n" + GOOD


WHOLE = "a whole number ≥ 0"
QID = "qid:query right after the grade"
INDEX = "a feature index from 1 to 100000"
NUMBER = "a finite decimal number"
LETOR = "lines of LETOR's format, such as 2 qid:1 1:0.5 2:0.3"
PLAIN = "plain text in UTF-8"

BROKEN = [
    Broken("no qid", third("1 1:0.5 2:1"), 3, "no qid, but '1:0.5'", QID),
    Broken("only a grade", third("1"), 3, "no qid", QID),
    Broken("qid after a gap", third("1 qid :1 1:0.5"), 3, "no qid, but 'qid'", QID),
    Broken("qid after features", third("1 1:0.5 qid:1 2:1"), 3, "'qid:1' after '1:0.5'", QID),
    Broken("second qid", third("1 qid:1 1:0.5 qid:2"), 3, "a second query id 'qid:2'", "one qid a line"),
    Broken("qid first", third("qid:1 1 1:0.5"), 3, "'qid:1' where the grade should be", WHOLE),
    Broken("empty qid", third("1 qid: 1:0.5"), 3, "an empty query id", "an integer after 'qid:'"),
    Broken("qid in words", third("1 qid:first 1:0.5"), 3, "query id 'first'", "an integer after 'qid:'"),
    Broken("fractional qid", third("1 qid:1.5 1:0.5"), 3, "query id '1.5'", "an integer"),
    Broken("qid with underscore", third("1 qid:1_000 1:0.5"), 3, "query id '1_000'", "an integer"),
    Broken("qid beyond int64", third(f"1 qid:{2**63} 1:0.5"), 3, f"query id '{2**63}'", "below 2^63"),
    Broken("qid spelt QID", third("1 QID:1 1:0.5"), 3, "no qid, but 'QID:1'", QID),
    Broken("negative grade", third("-1 qid:1 1:0.5"), 3, "grade '-1', which is negative", WHOLE),
    Broken("fractional grade", third("0.5 qid:1 1:0.5"), 3, "grade '0.5', which is not a plain", WHOLE),
    Broken("grade with a point", third("2.0 qid:1 1:0.5"), 3, "grade '2.0', which is not a plain", WHOLE),
    Broken("grade with a plus", third("+1 qid:1 1:0.5"), 3, "grade '+1', which is not a plain", WHOLE),
    Broken("grade in words", third("good qid:1 1:0.5"), 3, "grade 'good', which is not a number", WHOLE),
    Broken("endless digits", third(f"{'1' * 300_000}x qid:1 1:1"), 3, "which is not a number", WHOLE),
    Broken("endless value", third(f"1 qid:1 1:{'1' * 300_000}x"), 3, "value '11111", NUMBER),
    Broken("grade NaN", third("nan qid:1 1:0.5"), 3, "grade 'nan', which is not a number", WHOLE),
    Broken("grade in Arabic digits", third("١ qid:1 1:0.5"), 3, "grade '١'", WHOLE),
    Broken("grade in hex", third("0x1 qid:1 1:0.5"), 3, "grade '0x1'", WHOLE),
    Broken("grade beyond int64", third(f"{2**63} qid:1 1:0.5"), 3, "grade '9223", "below 2^63"),
    Broken("endless grade", third("9" * 5000 + " qid:1 1:0.5"), 3, "grade '9999", "below 2^63"),
    Broken("value in words", third("1 qid:1 1:high"), 3, "value 'high' in '1:high'", NUMBER),
    Broken("NULL", third("1 qid:1 1:0.5 2:NULL"), 3, "missing value 'NULL' in '2:NULL'", NUMBER),
    Broken("NaN", third("1 qid:1 1:NaN"), 3, "missing value 'NaN' in '1:NaN'", NUMBER),
    Broken("inf", third("1 qid:1 1:-inf"), 3, "infinite value in '1:-inf'", NUMBER),
    Broken("overflow", third("1 qid:1 1:1e999"), 3, "'1e999', too large for float64", NUMBER),
    Broken("value with underscore", third("1 qid:1 1:1_000"), 3, "value '1_000'", NUMBER),
    Broken("value in hex", third("1 qid:1 1:0x1p3"), 3, "value '0x1p3'", NUMBER),
    Broken("value in Arabic digits", third("1 qid:1 1:١"), 3, "value '١'", NUMBER),
    Broken("decimal comma", third("1 qid:1 1:0,5"), 3, "value '0,5'", NUMBER),
    Broken("two points", third("1 qid:1 1:0.5.1"), 3, "value '0.5.1'", NUMBER),
    Broken("bare exponent", third("1 qid:1 1:1e"), 3, "value '1e'", NUMBER),
    Broken("empty value", third("1 qid:1 1: 2:1"), 3, "no value in '1:'", NUMBER),
    Broken("two colons", third("1 qid:1 1:2:3"), 3, "value '2:3' in '1:2:3'", NUMBER),
    Broken("missing colon", third("1 qid:1 1:0.5 0.25"), 3, "'0.25' without a colon", "index:value"),
    Broken("missing index", third("1 qid:1 :0.5"), 3, "feature index '' in ':0.5'", INDEX),
    Broken("index 0", third("1 qid:1 0:0.5"), 3, "feature index 0", INDEX),
    Broken("negative index", third("1 qid:1 -2:0.5"), 3, "feature index '-2' in '-2:0.5'", INDEX),
    Broken("fractional index", third("1 qid:1 1.5:0.5"), 3, "feature index '1.5'", INDEX),
    Broken("index in words", third("1 qid:1 bm25:0.5"), 3, "feature index 'bm25'", INDEX),
    Broken("repeated index", third("1 qid:1 1:0.5 2:1 1:0.5"), 3, "feature 1 twice", "each feature once"),
    Broken("repeated as 01", third("1 qid:1 1:0.5 01:0.5"), 3, "feature 1 twice", "each feature once"),
    Broken("huge index", third("1 qid:1 2000000000:1"), 3, "feature index '2000000000'", INDEX),
    Broken("index just too large", third("1 qid:1 100001:1"), 3, "feature index '100001'", INDEX),
    Broken("index beyond int64", third(f"1 qid:1 {10**30}:1"), 3, "feature index '1000", INDEX),
    Broken("commas", third("1,qid:1,1:0.5"), 3, "'1,qid:1,1:0.5' where the grade should be", WHOLE),
    Broken("form feed", third("1 qid:1 1:0.5\f2:1"), 3, "value '0.5\\x0c2:1'", NUMBER),
    Broken("long document id", third("1 qid:1 1:1 #docid = " + "x" * 300), 3, "id of more than 256", "token"),
    Broken("files joined with mark", third("\ufeff1 qid:1 1:0.5"), 3, "a byte-order mark inside", WHOLE),
    Broken("empty", b"", None, "no documents", "lines 'grade qid:query index:value …'"),
    Broken("only comments", b"# LETOR\n\n  # data\r\n", None, "no documents", "lines 'grade qid"),
    Broken("only a byte-order mark", b"\xef\xbb\xbf", None, "no documents", "lines 'grade qid"),
    Broken("no features at all", b"1 qid:1\n0 qid:1 # 1:1\n", None, "no features on any line", "index:value"),
    Broken("binary", GOOD + b"\x00\x01\x02\x03", 3, "a NUL byte", PLAIN),
    Broken("NUL in a comment", GOOD + b"1 qid:1 1:1 # \0\n", 3, "a NUL byte", PLAIN),
    Broken("Latin-1", GOOD + "1 qid:1 1:1 # größer\n".encode("latin-1"), 3, "byte 0xf6", PLAIN),
    Broken("UTF-16", GOOD.decode().encode("utf-16"), None, "text in UTF-16", PLAIN),
    Broken("UTF-16 without mark", GOOD.decode().encode("utf-16-le"), 1, "text in UTF-16", PLAIN),
    Broken("UTF-32", GOOD.decode().encode("utf-32"), None, "text in UTF-32", PLAIN),
    Broken("old Mac line ends", GOOD.replace(b"\n", b"\r"), 1, "a carriage return inside a line", PLAIN),
    Broken("truncated gzip", gzip.compress(GOOD)[:-6], None, "(truncated)", "a whole file"),
    Broken("gzip header only", b"\x1f\x8b\x08", None, "(truncated)", "a whole file"),
    Broken("corrupt gzip", gzip.compress(GOOD)[:-8] + bytes(8), None, "a damaged gzip file", "a whole file"),
    Broken("not really gzip", b"\x1f\x8b" + GOOD, None, "a damaged gzip file", "a whole file"),
    Broken("garbage after gzip", gzip.compress(GOOD) + b"more", None, "a damaged gzip file", "a whole file"),
    Broken("bad line in gzip", gzip.compress(third("1 1:1")), 3, "no qid", QID),
    Broken("zip archive", b"PK\x03\x04" + GOOD, None, "a zip archive", PLAIN),
    Broken("bzip2 archive", b"BZh91AY", None, "a bzip2 archive", PLAIN),
    Broken("PDF", b"%PDF-1.7\n1 0 obj\n", None, "a PDF file, so no LETOR text", "lines 'grade qid:query"),
    Broken("picture", b"\x89PNG\r\n\x1a\n", None, "not UTF-8, so no LETOR text", "such as 2 qid:7 1:0.5"),
    Broken("HTML page", b"<!DOCTYPE html>\n<html>", 1, "grade '<!DOCTYPE', which is not a number", WHOLE),
    Broken("CSV", b"query,grade,bm25\n1,0,0.5\n", 1, "looks like the header of a CSV file", LETOR),
    Broken(
        "CSV without a header", b"1;0;0.5\n", 1, "'1;0;0.5', which looks like a line of a CSV file", LETOR
    ),
    Broken("CRLF counted once", third("1 qid:1 1:x").replace(b"\n", b"\r\n"), 3, "value 'x'", NUMBER),
    Broken("blank lines counted", b"\n# c\n\n1 qid:1 1:x", 4, "value 'x'", NUMBER),
    Broken("first of two faults", third("1 qid:1 1:x") + b"\0", 3, "value 'x'", NUMBER),
]


@pytest.mark.parametrize("broken", BROKEN, ids=[broken.name for broken in BROKEN])
def test_broken_file(broken: Broken, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(broken.content)
    with pytest.raises(DataError) as caught:
        read_letor(path)
    error = caught.value
    assert error.path == str(path)
    assert error.line == broken.line
    assert broken.found in error.found
    assert broken.expected in error.expected
    assert error.remedy.endswith(".")
    where = f"{path}: " if broken.line is None else f"{path}, line {broken.line}: "
    assert str(error).startswith(where + error.found)
    assert len(str(error)) < 500 + len(str(path))


def test_upload_is_refused_under_its_name() -> None:
    with pytest.raises(DataError, match=r"^upload\.txt, line 1: value 'x'") as caught:
        parse_letor(b"1 qid:1 1:x", name="upload.txt")
    assert caught.value.path == "upload.txt"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file") as caught:
        read_letor(tmp_path / "none.txt")
    assert caught.value.path == str(tmp_path / "none.txt")


def test_folder_instead_of_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a folder"):
        read_letor(tmp_path)


def test_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.txt"
    path.write_bytes(GOOD)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match="no permission to read it"):
        read_letor(path)


def test_path_with_nul() -> None:
    with pytest.raises(DataError, match="cannot be opened"):
        read_letor("a\0b")


def test_name_too_long(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be opened"):
        read_letor(tmp_path / ("x" * 5000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe"):
        read_letor(tmp_path / "pipe")


def test_read_error(tmp_path: Path) -> None:
    class Failing:
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

        def seekable(self) -> bool:
            return True

        def tell(self) -> int:
            return 0

        def seek(self, at: int, whence: int = 0) -> int:
            return 100

    with pytest.raises(DataError, match="Input/output error"):
        parse_letor(Failing(), name="disk")


def test_matrix_far_larger_than_its_values() -> None:
    lines = b"".join(b"0 qid:1 1:1\n" for _ in range(2000)) + b"0 qid:1 99999:1\n"
    with pytest.raises(DataError, match="features up to index 99999") as caught:
        parse_letor(lines, name="sparse")
    assert caught.value.line == 2001


def test_endless_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.datasets.textfile.LINE_BYTES", 1 << 20)
    with pytest.raises(DataError, match="a line of more than 1 MiB") as caught:
        parse_letor(GOOD + b"0 qid:1 #" + b"x" * (3 << 20), name="endless")
    assert caught.value.line == 3
