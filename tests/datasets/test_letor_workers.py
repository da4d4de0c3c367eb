"""Reading by several processes: the same data, warnings and errors as by one, and no process left behind."""

import ast
import gzip
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest_uploads import GOOD_ZIP, send
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankviz.common.errors import DataError
from rankviz.common.progress import StopRequested
from rankviz.datasets import letor_lines, letor_workers, read_letor, textfile
from rankviz.datasets.letor import load_binary

CHUNK_BYTES = 300
REPOSITORY = Path(__file__).resolve().parents[2]
LINES = [
    f"{i % 3} qid:{i // 7} 1:{i / 7!r} 2:{-i}e-3 3:.5{' # docid = d' + str(i) if i % 2 else ''}"
    for i in range(120)
]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Chunks of a few lines, files of any size worth two processes; grows by each that is started."""
    processes: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*args: object, **kwargs: object) -> subprocess.Popen[bytes]:
        processes.append(real(*args, **kwargs))
        return processes[-1]

    monkeypatch.setattr(letor_workers.subprocess, "Popen", start)
    monkeypatch.setattr(textfile, "CHUNK_BYTES", CHUNK_BYTES)
    monkeypatch.setattr(letor_workers, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(letor_workers, "cores", lambda: 2)
    return processes


def outcome(read: Callable[[], object]) -> tuple[object, ...]:
    """All that reading gives: bytes of arrays and texts of warnings, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = read()
        except DataError as error:
            return str(error), error.line, error.found, error.remedy
    arrays = (data.X, data.y, data.ptr, data.query_ids, data.rows)
    ids = None if data.document_ids is None else data.document_ids.tolist()
    values = [(array.dtype, array.shape, array.tobytes()) for array in arrays]
    return values, ids, data.name, data.digest, [(w.category, str(w.message)) for w in caught]


def assert_same(path: Path, read: Callable[[Path], object] = read_letor) -> tuple[object, ...]:
    """Reading by two processes and by none beside this one; returns what it gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor_workers, "cores", lambda: 1)
        expected = outcome(lambda: read(path))
    assert outcome(lambda: read(path)) == expected
    return expected


def changed(*changes: tuple[int, str]) -> list[str]:
    """The lines, some of them exchanged."""
    lines = list(LINES)
    for number, line in changes:
        lines[number - 1] = line
    return lines


TEXTS = {
    "plain": "\n".join(LINES),
    "line end at the end": "\n".join(LINES) + "\n",
    "CRLF": "\r\n".join(LINES) + "\r\n",
    "byte-order mark": "\ufeff" + "\n".join(LINES),
    "blank lines": "\n\n \n# nothing\n".join(LINES) + "\n\n",
    "comments first": "# nothing\n" * 100 + "\n".join(LINES),
    "queries apart": "\n".join(LINES + LINES[:30]),
    "features left out": "\n".join(changed((5, "1 qid:0 2:1"), (60, "1 qid:8 3:1 1:2"), (61, "0 qid:8"))),
    "wider later": "\n".join(changed((110, "1 qid:15 9:1"), (111, "1 qid:15 12:1"))),
    "bad line in the first chunk": "\n".join(changed((2, "1 qid:0 1:x"))),
    "bad line in the middle": "\n".join(changed((61, "1 1:1"))),
    "bad line in the last chunk": "\n".join(changed((120, "1 qid:17 1:1e999"))),
    "bad lines far apart": "\n".join(changed((30, "1 qid:4 0:1"), (100, "1 qid:14 1:x"))),
    "bad lines close together": "\n".join(changed((30, "1 qid:4 1:1 1:1"), (31, "x"), (36, "y"))),
    "bad line, then no text": "\n".join(changed((50, "1 qid:7 1:nan"), (54, "\0"))),
    "no text": "\n".join(changed((54, "\0"))),
    "not UTF-8 in CRLF": "\r\n".join(changed((54, "\udcff"))),
    "too wide": "\n".join(changed((77, "1 qid:10 100000:1"))) + "\n0 qid:99 1:1" * 30,
    "no features": "1 qid:1\n" * 99,
    "nothing": "\n" * 999,
}


@pytest.mark.parametrize(
    ("name", "packed"),
    [*((name, False) for name in TEXTS), ("queries apart", True), ("bad lines far apart", True)],
)
def test_the_same_as_one_after_another(
    name: str, packed: bool, started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    content = TEXTS[name].encode(errors="surrogateescape")
    path = tmp_path / "train.txt"
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    assert_same(path)
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_the_same_of_a_truncated_archive_with_a_bad_line_before(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / "train.txt.gz"
    for lines, expected in ((LINES, "truncated"), (changed((9, "1 qid:1 1:x")), "line 9")):
        path.write_bytes(gzip.compress("\n".join(lines).encode())[:-6])
        assert expected in str(assert_same(path)[0])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_same_whatever_is_wrong_wherever(
    started: list[subprocess.Popen[bytes]], tmp_path: Path, data: st.DataObject
) -> None:
    odd = st.sampled_from(["", "# c", "1", "1 qid:3", "2 qid:3 7:1", "1 qid:3 1:x", "1 qid:-3 2:1 1:1"])
    places = st.integers(1, len(LINES))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    lines = changed(*data.draw(st.lists(st.tuples(places, odd), max_size=4)))
    (tmp_path / "any.txt").write_bytes(end.join(lines).encode())
    assert_same(tmp_path / "any.txt")


def test_workers_parse_all_that_is_sound(
    started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("parsed here")

    (tmp_path / "train.txt").write_text("\n".join(LINES))
    monkeypatch.setattr(letor_workers, "parse_chunk", refuse)
    assert read_letor(tmp_path / "train.txt").n_documents == 120


def test_rows_beside_a_group_file_and_labels_of_a_binary_set(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    rows = [line.partition(" qid:")[0] + " 1:1 2:2" for line in LINES]
    (tmp_path / "train.txt").write_text("\n".join(rows))
    for counts in ("50\n70\n", "50\n60\n", "50\n80\n"):
        (tmp_path / "train.txt.query").write_text(counts)
        assert_same(tmp_path / "train.txt")
    (tmp_path / "set.txt").write_text("\n".join(["+1 1:1", "-1 2:1"] * 60))
    assert_same(tmp_path / "set.txt", load_binary)
    assert len(started) == 8


@pytest.mark.parametrize("when", ["small", "one core"])
def test_none_are_started_where_they_do_not_pay(
    when: str, started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    size = (tmp_path / "train.txt").stat().st_size
    monkeypatch.setattr(letor_workers, "PARALLEL_BYTES", size + (when == "small"))
    monkeypatch.setattr(letor_workers, "cores", lambda: 1 if when == "one core" else 2)
    read_letor(tmp_path / "train.txt")
    assert started == []


def test_packed_text_is_taken_for_a_multiple_of_its_size(
    started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    size = (tmp_path / "train.gz").stat().st_size
    monkeypatch.setattr(letor_workers, "PARALLEL_BYTES", textfile.GZIP_RATIO * size)
    read_letor(tmp_path / "train.gz")
    assert len(started) == 2


def test_uploads_are_read_by_one_process(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    send(tmp_path, ("letor.zip", GOOD_ZIP))
    assert started == []


@pytest.mark.parametrize("trouble", ["none start", "all end at once", "all end after a chunk"])
def test_without_workers_the_rest_is_parsed_here(
    trouble: str, started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    path, program = tmp_path / "train.txt", tmp_path / "program.py"
    once = Path(letor_lines.__file__).read_text().replace("    while True:", "    for _ in range(1):")
    program.write_text(once if "chunk" in trouble else "")
    if trouble == "none start":
        monkeypatch.setattr(letor_workers.subprocess, "Popen", refuse)
    monkeypatch.setattr(letor_lines, "__file__", str(program))
    for lines in (LINES, changed((100, "1 qid:1 1:x"))):
        path.write_text("\n".join(lines))
        assert_same(path)


def test_a_stop_ends_workers_in_the_midst_of_a_chunk(
    started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").write_text("import time\ntime.sleep(90)\n")
    monkeypatch.setattr(letor_lines, "__file__", str(tmp_path / "program.py"))
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    told = []

    def stop(fraction: float) -> None:
        told.append(fraction)
        if len(told) == 3:
            raise StopRequested("enough")

    began = time.monotonic()
    with pytest.raises(StopRequested, match="enough"):
        read_letor(tmp_path / "train.txt", progress=stop)
    assert time.monotonic() - began < 60
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    assert len(told) == 3


def test_progress_is_told_as_by_one(
    started: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    told: list[list[float]] = [[], []]
    read_letor(tmp_path / "train.txt", progress=told[0].append)
    monkeypatch.setattr(letor_workers, "cores", lambda: 1)
    read_letor(tmp_path / "train.txt", progress=told[1].append)
    assert told[0] == told[1]
    assert told[0][-1] == 1.0


def test_no_more_chunks_are_ahead_than_the_window_has(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    (tmp_path / "train.txt").write_text("\n".join(changed((1, "x"))))
    told: list[float] = []
    with pytest.raises(DataError, match="line 1"):
        read_letor(tmp_path / "train.txt", progress=told.append)
    assert len(told) <= 2 * letor_workers.WINDOW
    assert told[-1] < 0.5


def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    script = """
from rankviz.datasets import letor_workers, read_letor
letor_workers.PARALLEL_BYTES, letor_workers.cores = 0, lambda: 2
print(read_letor("train.txt").n_documents)
"""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    environment = {"PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("120\n", "")


def test_the_parser_imports_nothing_of_rankviz() -> None:
    """So that workers are small, and start fast."""
    tree = ast.parse(Path(letor_lines.__file__).read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in names if name.startswith("rankviz")]
