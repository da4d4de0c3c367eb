"""Uploads that are broken, too large or made to do harm: refused in words, and no trace left of them."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from conftest_uploads import DATA, GOOD_ZIP, TEXTS, WHOLE, fold_at, send, zipped

from rankviz.datasets import DataError
from rankviz.datasets.archives import Limits
from rankviz.datasets.upload_folders import remove

SMALL = Limits(upload_bytes=1 << 20, text_bytes=40 << 20, ratio=20, entries=20)


def refused(root, *files: tuple[str, bytes], **keywords) -> str:
    with pytest.raises(DataError) as caught:
        send(root, *files, **keywords)
    assert not root.exists() or list(root.iterdir()) == []
    assert str(root) not in str(caught.value)
    return str(caught.value)


def patched(content: bytes, at: bytes, offset: int, value: bytes) -> bytes:
    """Bytes with those at `offset` behind the first occurrence of `at` replaced."""
    start = content.index(at) + offset
    return content[:start] + value + content[start + len(value) :]


def with_mode(mode: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("train.txt")
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


CENTRAL, END = b"PK\x01\x02", b"PK\x05\x06"


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (zipped({}), "up.zip: no files"),
        (zipped({"../train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"a/../../train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"a\\..\\..\\train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"/etc/train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"\\\\server\\share\\train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"C:\\train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"c:train.txt": WHOLE}), "leads out of the archive"),
        (zipped({"tr\nain.txt": WHOLE}), "control characters"),
        (zipped({"\u202etxt.niart": WHOLE}), "control characters"),
        (zipped({"a" * 5000 + ".txt": WHOLE}), "too long"),
        (with_mode(0o120777), "a link or a special file"),
        (with_mode(0o010644), "a link or a special file"),
        (with_mode(0o020644), "a link or a special file"),
        (zipped(fold_at("", **{"TRAIN.TXT": WHOLE})), "twice"),
        (zipped(fold_at("", **{"x/../train.txt": WHOLE})), "leads out"),
        (zipped(fold_at("", **{"./train.txt": WHOLE})), "twice"),
        (zipped(fold_at("", **{"train.dat": WHOLE})), "a second file for train"),
        (zipped(fold_at("", **{"more.zip": GOOD_ZIP})), "an archive inside the archive"),
        (zipped(fold_at("", **{"more.tar.gz": b""})), "an archive inside the archive"),
        (zipped({"data.txt": GOOD_ZIP}), "an archive inside the archive"),
        (zipped({"data.txt.gz": gzip.compress(gzip.compress(WHOLE))}), "an archive inside the archive"),
        (zipped({"data.txt.gz": gzip.compress(b"x" * 257 + b"ustar\0")}), "an archive inside the archive"),
        (zipped(fold_at(""), zipfile.ZIP_BZIP2), "compression other than deflate"),
        (zipped(fold_at(""), zipfile.ZIP_LZMA), "compression other than deflate"),
        (patched(GOOD_ZIP, CENTRAL, 8, b"\x01\x00"), "an encrypted file"),
        (patched(GOOD_ZIP, CENTRAL, 16, b"\xff\xff\xff\xff"), "damaged file (Bad CRC-32"),
        (patched(GOOD_ZIP, b"PK\x03\x04", 26, b"\x02\x00"), "damaged"),
        (patched(GOOD_ZIP, END, 16, b"\xff\xff\xff\x7f"), "damaged"),
        (patched(GOOD_ZIP, END, 10, b"\xff\x00"), "255 files"),
        (patched(GOOD_ZIP, END, 12, b"\xff\xff\xff\x0f"), "files"),
        (GOOD_ZIP[: len(GOOD_ZIP) // 2], "its directory is missing"),
        (GOOD_ZIP[:-30], "its directory is missing"),
        (b"PK\x03\x04" + b"\0" * 100, "its directory is missing"),
        (b"PK\x03\x04" + END + b"\0" * 18, "no files"),
        (GOOD_ZIP[:-22] + b"PK\x06\x07" + b"\0" * 16 + GOOD_ZIP[-22:], "zip64"),
        (zipped({f"{k}.txt": b"" for k in range(30)}), "30 files"),
        (zipped({"a.txt": WHOLE, "b.txt": WHOLE}), "a.txt, b.txt"),
        (zipped(fold_at("A/") | fold_at("B/")), "2 data sets: A and B"),
        (zipped({"train.txt": TEXTS["train.txt"], "test.txt": TEXTS["test.txt"]}), "no vali.txt in Fold1"),
        (zipped(fold_at("Fold1/") | {"Fold2/train.txt": WHOLE}), "no vali.txt and no test.txt in Fold2"),
        (zipped(fold_at("") | {"vali.txt": TEXTS["train.txt"]}), "also in up.zip: train.txt"),
        (
            zipped(fold_at("Fold1/") | {"Fold1/vali.txt": b"0 qid:1 1:x\n"}),
            "up.zip: Fold1/vali.txt, line 1: ",
        ),
        (zipped(fold_at("") | {"test.txt": b""}), "up.zip: test.txt: no documents"),
        (zipped({"x.txt": b"0 qid:1 1:1\n"}), "1 quer"),
        (zipped({"x.npy": b"\x93NUMPY\x01\x00"}), "up.zip: x.npy"),
        (zipped({"x.pkl": b"\x80\x04cos\nsystem\n"}), "up.zip: x.pkl"),
    ],
)
def test_broken_archives(tmp_path, archive, words):
    assert words in refused(tmp_path / "root", ("up.zip", archive), limits=SMALL)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "no file"),
        ([("a.txt", b"")], "a.txt: no documents"),
        ([("a.txt", b"hello\n")], "a.txt, line 1: "),
        ([("a.txt", b"1 qid:1 1:1 1:2\n")], "a.txt, line 1: feature 1 twice"),
        ([("a.txt", WHOLE + b"-1 qid:99 1:1\n")], f"a.txt, line {DATA.n_documents + 1}: grade '-1'"),
        ([("a.gz", gzip.compress(WHOLE)[:-30])], "a.gz: a damaged file (it ends too early)"),
        ([("a.gz", gzip.compress(WHOLE)[:-8] + b"\0" * 8)], "a.gz: a damaged file (CRC check failed"),
        ([("a.gz", gzip.compress(WHOLE) + b"rubbish")], "a.gz: a damaged file (Not a gzipped file"),
        ([("a.gz", gzip.compress(gzip.compress(WHOLE)))], "an archive inside the archive"),
        ([("a.gz", gzip.compress(GOOD_ZIP))], "an archive inside the archive"),
        ([("a.tar.gz", b"")], "an archive of another kind"),
        ([("a.7z", b"7z\xbc\xaf\x27\x1c")], "an archive of another kind"),
        ([("a.txt", b"Rar!\x1a\x07")], "a.txt: a rar archive"),
        ([("a.txt", WHOLE.decode().encode("utf-16"))], "UTF-16"),
        ([("a.txt", b"x" * ((1 << 20) + 1))], "at most 1 MB at once"),
        ([(f"{k}.txt", b"") for k in range(21)], "21 files"),
        ([("a.zip", GOOD_ZIP), ("train.txt", WHOLE)], "a.zip: a zip archive among 2 files"),
        ([("train.txt", WHOLE), ("vali.txt", WHOLE)], "no test.txt"),
        ([("train.txt", WHOLE), ("vali.txt", WHOLE), ("test.txt", WHOLE)], "also in train.txt"),
        ([("train.txt", WHOLE), ("training.txt", WHOLE)], "a second file for train"),
        ([("one.txt", WHOLE), ("two.txt", WHOLE)], "one.txt, two.txt"),
        ([("a\u202e\x1b.txt", b"")], "a??.txt: no documents"),
    ],
)
def test_broken_files(tmp_path, files, words):
    assert words in refused(tmp_path / "root", *files, limits=SMALL)


def test_bombs_are_refused_before_they_grow(tmp_path):
    bomb = b"# " + b"0" * (30 << 20)
    for name, content in (
        ("a.gz", gzip.compress(bomb)),
        ("a.zip", zipped({"a.txt": bomb})),
        ("a.zip", zipped({"a.txt.gz": gzip.compress(bomb, 1)})),
    ):
        assert "more than 20 times as much" in refused(tmp_path / "root", (name, content), limits=SMALL)


def test_small_bombs_of_one_upload_count_together(tmp_path):
    texts = {name: text + b"# " + b"0" * (8 << 20) for name, text in fold_at("").items()}
    assert "more than 20 times as much" in refused(tmp_path / "root", ("a.zip", zipped(texts)), limits=SMALL)


def test_all_files_together_are_limited(tmp_path):
    loose = Limits(text_bytes=1000, ratio=1000)
    assert "less text" in refused(tmp_path / "root", ("a.zip", zipped(fold_at(""))), limits=loose)


def test_overlapping_entries_are_bounded_by_what_they_unpack_to(tmp_path):
    """All entries of the directory point to one file: what one unpacks to counts as often as it is read."""
    content = zipped({"train.txt": WHOLE})
    directory = content[content.index(CENTRAL) : content.index(END)]
    names = (b"train.txt", b"valid.txt", b"testx.txt")
    overlapping = content[: content.index(CENTRAL)] + b"".join(
        directory.replace(b"train.txt", name) for name in names
    )
    end = END + struct.pack("<HHHHIIH", 0, 0, 3, 3, 3 * len(directory), content.index(CENTRAL), 0)
    refused(tmp_path / "root", ("a.zip", overlapping + end), limits=SMALL)


def test_archives_with_any_bytes_changed_are_accepted_or_refused(tmp_path):
    """Whatever is damaged, the answer is a data set or a DataError, and never half of one."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        content = bytearray(GOOD_ZIP)
        where = rng.integers(0, len(content), 3)
        if rng.random() < 0.7:
            where = len(content) - 1 - rng.integers(0, 250, 3)  # the directory
        for at in where:
            content[at] = rng.integers(256)
        root = tmp_path / "root"
        try:
            accepted = send(root, ("up.zip", bytes(content)), limits=SMALL)
        except DataError:
            assert not root.exists() or list(root.iterdir()) == []
        else:
            remove(accepted.folder, root)
