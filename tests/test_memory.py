"""Free memory under limits of control groups, and memory that goes back to the system."""

import os
import platform
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankviz.common import memory
from rankviz.common.memory import return_freed_memory

MB = 1 << 20
V2 = {"limit": "memory.max", "used": "memory.current", "file": "inactive_file"}
V1 = {"limit": "memory.limit_in_bytes", "used": "memory.usage_in_bytes", "file": "total_inactive_file"}


@pytest.fixture
def fake_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that takes the place of the root directory, where nothing has a limit yet."""

    def read(path: Path, *args: object) -> str:
        with open(tmp_path / path.relative_to("/")) as file:
            return file.read()

    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemAvailable: 1000000 kB\n")
    monkeypatch.setattr(Path, "read_text", read)
    return tmp_path


def group(root: Path, path: str, names: dict[str, str], limit: object, used: int, file: int = 0) -> None:
    folder = root / "sys" / "fs" / "cgroup" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names["limit"]).write_bytes(f"{limit}\n".encode())
    (folder / names["used"]).write_bytes(f"{used}\n".encode())
    (folder / "memory.stat").write_bytes(f"anon 1\n{names['file']} {file}\n".encode())


def member(root: Path, *lines: str) -> None:
    (root / "proc" / "self" / "cgroup").write_bytes("\n".join(lines).encode())


def test_a_container_sees_its_own_group_as_the_top(fake_root: Path) -> None:
    member(fake_root, "0::/")
    group(fake_root, "", V2, 5000, 2000)
    assert memory.free_memory() == 3000


def test_a_unit_is_a_group_below_others(fake_root: Path) -> None:
    member(fake_root, "0::/system.slice/rankviz.service")
    group(fake_root, "system.slice/rankviz.service", V2, 5000, 2000)
    assert memory.free_memory() == 3000
    group(fake_root, "system.slice", V2, 9000, 8500)
    assert memory.free_memory() == 500


def test_files_read_once_are_given_up_first(fake_root: Path) -> None:
    member(fake_root, "0::/")
    group(fake_root, "", V2, 5000, 4900, file=4000)
    assert memory.free_memory() == 4100


def test_no_limit_is_what_the_system_has(fake_root: Path) -> None:
    assert memory.free_memory() == 1_024_000_000
    member(fake_root, "0::/user.slice")
    group(fake_root, "user.slice", V2, "max", 2000)
    assert memory.free_memory() == 1_024_000_000


def test_a_container_on_a_system_of_version_1(fake_root: Path) -> None:
    """It is fake_root its path outside, which is not there inside."""
    member(fake_root, "5:cpu:/pod/one", "4:memory:/pod/one", "0::/pod/one")
    group(fake_root, "memory", V1, 5000, 2000, file=500)
    assert memory.free_memory() == 3500


LIMIT = 400 * MB


@pytest.fixture
def enter() -> Iterator[str]:
    """The file whose writing puts a process into a group of its own with a limit, where we may make one."""
    version_1 = Path("/sys/fs/cgroup/memory").is_dir()
    folder = Path("/sys/fs/cgroup", "memory" if version_1 else "", f"rankviz-{secrets.token_hex(4)}")
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        try:
            (folder / (V1 if version_1 else V2)["limit"]).write_text(str(LIMIT))
        except OSError as error:
            pytest.skip(f"a control group has no limit of memory here: {error}")
        yield str(folder / "cgroup.procs")
    finally:
        folder.rmdir()


def in_group(enter: str, code: str) -> subprocess.CompletedProcess[str]:
    """A Python that enters the group, then runs the code."""
    code = f"import os; open({enter!r}, 'w').write(str(os.getpid()))\n{code}"
    environment = os.environ | {"MALLOC_ARENA_MAX": "1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )


def test_what_a_real_group_leaves(enter: str) -> None:
    ran = in_group(enter, "from rankviz.common.memory import free_memory; print(free_memory())")
    assert 0 < int(ran.stdout) < LIMIT, ran.stderr


REFUSED = """
from rankviz import RankSVM
from rankviz.datasets import make_data
data = make_data(n_queries=2000, documents_per_query=(10, 10), n_features=5, seed=0)
RankSVM(feature_map="nystroem", n_components=5000).fit(data.X, data.y, qid=data.qid)
"""


def test_a_fit_beyond_a_real_limit_is_refused_in_a_sentence(enter: str) -> None:
    """The system around the group has the memory: without its limit the fit would begin, and be killed."""
    ran = in_group(enter, REFUSED)
    assert "training on 20,000 documents with m = 5,000 needs about 1.3 GB of memory." in ran.stderr
    assert "features." in ran.stderr.splitlines()[-1]  # how many would do


AT_THE_LIMIT = """
import subprocess, sys
held = b"1" * (220 << 20)  # the server is the larger one
eats = '''
from rankviz.common.memory import prefer_oom_kill
prefer_oom_kill()
taken = []
while True:
    taken.append(b"1" * (10 << 20))
'''
print(subprocess.run([sys.executable, "-c", eats]).returncode, len(held) >> 20)
"""


def test_at_a_real_limit_the_worker_goes_and_the_server_stays(enter: str) -> None:
    ran = in_group(enter, AT_THE_LIMIT)
    assert ran.stdout.split() == ["-9", "220"], (ran.returncode, ran.stderr)


CODE = """
from rankviz.common.memory import return_freed_memory

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

blocks = [b"0" * 60_000 for _ in range(3000)]
above = b"0" * 60_000  # what lies below it cannot be cut off the heap's end
before = resident()
del blocks
return_freed_memory()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is known to keep what was freed")
def test_what_was_freed_goes_back() -> None:
    freed = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert int(freed) > 0.9 * 3000 * 60_000


@pytest.mark.parametrize(("system", "asked"), [("win32", []), ("darwin", []), ("linux", [None])])
def test_the_c_library_is_asked_on_linux_only(
    system: str, asked: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[None] = []
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("ctypes.CDLL", lambda name: opened.append(name))  # a library without the call
    return_freed_memory()
    assert opened == asked


REUSED = """
import resource, sys
import numpy as np
from rankviz.common.memory import reuse_freed_memory
if sys.argv[1] == "kept":
    reuse_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
x = np.ones(400_000)
(x + 1.0).sum()
before = faults()
for _ in range(20):
    (x + 1.0).sum()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_freed_arrays_serve_later_ones() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}

    def faults(how: str) -> int:
        command = [sys.executable, "-c", REUSED, how]
        return int(
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        )

    assert faults("kept") < 20 < faults("as usual")
