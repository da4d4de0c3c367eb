"""The command `rankviz`, what it starts and says; where the app and the demonstration folds lie."""

import os
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rankviz
from rankviz import __main__ as command
from rankviz.common.files import INSIDE, shipped
from rankviz.datasets import load_demo, load_fold, make_data, write_letor

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collect the commands that would start Streamlit."""
    commands: list[list[str]] = []
    monkeypatch.setattr(command, "_run_app", commands.append)
    return commands


@pytest.mark.parametrize("arguments", [[], ["app"]])
def test_it_starts_the_app(arguments: list[str], started: list[list[str]]) -> None:
    command.main(arguments)
    assert started == [["streamlit", "run", str(REPOSITORY / "app.py"), "--"]]


ONE_HEAP = """
import ctypes, runpy
from pathlib import Path
from threading import Barrier, Thread
from rankviz import __main__ as command

def work():
    made = [bytes(1000) for _ in range(1000)]
    together.wait()

def streamlit(*_, **__):
    threads = [Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

together, runpy.run_module = Barrier(4), streamlit
command.main(["app"])
C = ctypes.CDLL(None)
C.fopen.restype = ctypes.c_void_p
file = C.fopen(b"heaps.xml", b"w")
C.malloc_info(0, ctypes.c_void_p(file))
C.fclose(ctypes.c_void_p(file))
print(Path("heaps.xml").read_text().count("<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps a heap for each thread")
def test_threads_of_the_app_share_one_heap(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    ran = subprocess.run(
        [sys.executable, "-c", ONE_HEAP],
        env=plain | {"PYTHONPATH": str(REPOSITORY)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "1\n"


@pytest.mark.parametrize("file", ["Makefile", "deploy/class.env"])
def test_those_who_start_streamlit_itself_ask_for_one_heap(file: str) -> None:
    assert "MALLOC_ARENA_MAX=1" in (REPOSITORY / file).read_text(encoding="utf-8")


def test_port_and_folders_are_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).mkdir()
    command.main(["app", "--port", "8600", "--data-dir", "a", "--data-dir", "b"])
    assert started[0][3:] == ["--server.port=8600", "--", "--data-dir", "a", "--data-dir", "b"]


def test_a_folder_without_data_sets_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], started: list[list[str]]
) -> None:
    command.main(["app", "--data-dir", str(tmp_path)])
    assert f"no data sets in {tmp_path} yet" in capsys.readouterr().err
    write_letor(make_data(n_queries=10, documents_per_query=(2, 4), seed=0), tmp_path / "mine.txt")
    command.main(["app", "--data-dir", str(tmp_path)])
    assert capsys.readouterr().err == ""
    assert len(started) == 2


def test_the_folder_of_the_user_may_be_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "sets").mkdir()
    command.main(["app", "--data-dir=~/sets"])
    assert started[0][-1] == "~/sets"


@pytest.mark.parametrize(("name", "says"), [("nowhere", "there is no folder"), ("a.txt", "is a file")])
def test_a_folder_that_is_none_is_refused(
    name: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], started: list[list[str]]
) -> None:
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(SystemExit):
        command.main(["app", "--data-dir", str(tmp_path / name)])
    assert says in capsys.readouterr().err
    assert started == []


def test_without_streamlit_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r'pip install "rankviz\[app\]"'):
        command.main(["app"])
    assert started == []


def test_streamlit_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    monkeypatch.setattr(sys, "argv", ["rankviz"])
    monkeypatch.setattr(command.runpy, "run_module", lambda name, run_name: ran.append((name, run_name)))
    command.main(["app", "--port", "8600"])
    assert ran == [("streamlit", "__main__")]
    assert sys.argv == ["streamlit", "run", str(REPOSITORY / "app.py"), "--server.port=8600", "--"]


def test_a_wrong_port_is_refused(capsys: pytest.CaptureFixture[str], started: list[list[str]]) -> None:
    with pytest.raises(SystemExit):
        command.main(["app", "--port", "http"])
    assert "'http' is not a port" in capsys.readouterr().err
    assert started == []


def test_the_version_is_said_once_and_the_same() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "rankviz", "--version"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert said.stdout == f"rankviz {project['version']}\n"
    assert rankviz.__version__ == project["version"]


def test_what_is_shipped_lies_beside_the_package_or_in_it(tmp_path: Path) -> None:
    package = tmp_path / "rankviz"
    package.mkdir()
    assert shipped("app.py") == REPOSITORY / "app.py"
    assert shipped("data", package) == tmp_path / "data"
    (package / INSIDE).mkdir()
    assert shipped("data", package) == package / INSIDE / "data"


def test_the_demonstration_is_the_bundled_folds(own_cache: None) -> None:
    bundled = load_fold(REPOSITORY / "data" / "synthetic-demo", 2, normalisation="query_zscore")
    assert load_demo(2, normalisation="query_zscore").digest == bundled.digest
    assert load_demo().digest != bundled.digest
