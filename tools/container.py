"""Build the container of deploy/Containerfile and use it as a server's owner would: `make container`.

It needs root and Debian's packages podman, runc and mmdebstrap. The image that the file starts from comes
from no registry: Debian's own Python stands in for it, by its digest. What is tried: the app answers
/_stcore/health, as an ordinary user without capabilities, a network and a file system to write on; a job is
trained, and kept on the volume by the next container; a fit beyond the container's memory is refused in a
sentence; and where memory runs out, a worker is ended while the server goes on.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.browser import REPOSITORY
from tools.wheel import JOB, PackageError, run, timed

CONTAINERFILE = REPOSITORY / "deploy" / "Containerfile"
BASE = """FROM scratch
ADD base.tar /
RUN ["/bin/ln", "-s", "python3", "/usr/bin/python"]
"""
PACKAGES = "dash,coreutils,python3-venv,libstdc++6,libgomp1"
"""Debian packages of the base image; wheels of NumPy need libstdc++6, and LightGBM's libgomp1."""
AS_HERE = ("/etc/ssl/certs", "/etc/pip.conf")
"""Settings that reach a package index, if there are any."""
SUITE = "bookworm"
"""Debian's release with Python 3.11."""
START_SECONDS = 180
MEMORY = "1g"
KILLED = 137

LEFT = """
from rankviz.store import RunStore
from rankviz.store.execution import LocalWorkers
from rankviz.store.watched import WatchedStudies
store = RunStore()
(job,) = WatchedStudies(LocalWorkers(store)).of("me")
assert job.finished
assert store.records.find(job.specs)
print("kept", job.id)
"""
TOO_LARGE = """
from rankviz import DataError, RankSVM
from rankviz.datasets import make_data
data = make_data(n_queries=4000, documents_per_query=(10, 10), n_features=5, seed=0)
try:
    RankSVM(feature_map="nystroem", n_components=5000).fit(data.X, data.y, qid=data.qid)
except DataError as error:
    print("refused:", error)
"""
ENDED = """
from rankviz.common.memory import prefer_oom_kill
prefer_oom_kill()
taken = []
while True:
    taken.append(b"1" * (10 << 20))
"""


class Podman:
    """Podman with images and containers below one folder, so that it leaves nothing and finds nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = ["--root", str(folder / "root"), "--runroot", str(folder / "run")]
        self._command = ["podman", *kept, "--cgroup-manager=cgroupfs", "--runtime=runc", "--log-level=fatal"]

    def __call__(self, *arguments: str, status: int = 0) -> str:
        """Return what it prints. Raises `PackageError` for another exit status."""
        done = run([*self._command, *arguments], self._folder, status=status)
        return done.stdout + done.stderr


def build(podman: Podman, folder: Path) -> None:
    """Build the image `rankviz` on an image of Debian's Python, which it names by its digest."""
    folder.mkdir()
    options = ["--quiet", "--variant=extract", f"--include={PACKAGES}"]
    run(["mmdebstrap", *options, SUITE, str(folder / "base.tar")], folder)
    (folder / "Containerfile").write_text(BASE, encoding="utf-8")
    podman("build", "--isolation=chroot", "-q", "-t", "localhost/base", str(folder))
    base = podman("image", "inspect", "--format", "{{index .RepoDigests 0}}", "localhost/base").strip()
    if not re.fullmatch(r"localhost/base@sha256:[0-9a-f]{64}", base):
        raise PackageError(f"the base has no digest: {base}")
    shared = [word for path in AS_HERE if Path(path).exists() for word in ("-v", f"{path}:{path}:ro")]
    where = ["--build-arg", f"BASE={base}", "-t", "rankviz", "-f", str(CONTAINERFILE), str(REPOSITORY)]
    how = ["--isolation=chroot", "-q", "--pull=never", "--format=docker", "--layers=false"]
    podman("build", *how, *shared, *where)


@contextmanager
def running(podman: Podman, volume: Path) -> Iterator[str]:
    """A container of the image, by its own command; ended and removed afterwards."""
    kept = ["--read-only", "--tmpfs=/tmp", "-v", f"{volume}:/var/lib/rankviz"]
    locked = ["--network=none", "--cap-drop=all", "--security-opt=no-new-privileges", f"--memory={MEMORY}"]
    limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]
    name = podman("run", "-d", *kept, *locked, *limits, "rankviz").split()[0]
    try:
        yield name
    finally:
        podman("rm", "-f", "-t", "10", name)


def wait_for_health(podman: Podman, name: str) -> None:
    """Wait until the file's own HEALTHCHECK is content."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            podman("healthcheck", "run", name)
            return
        except PackageError as error:
            if time.monotonic() > deadline:
                raise PackageError(f"{error}\n{podman('logs', name)}") from error
            time.sleep(0.5)


def use(podman: Podman, volume: Path) -> None:
    """Do what a server's owner and a class would; raises `PackageError` where something is amiss."""

    def python(name: str, code: str, says: str, status: int = 0) -> str:
        said = podman("exec", name, "python", "-c", code, status=status)
        if says not in said:
            raise PackageError(f"{says!r} is not in {said!r}")
        return said

    with running(podman, volume) as name:
        wait_for_health(podman, name)
        python(name, "import os; print('user', os.getuid())", "user 10001")
        python(name, "open('/opt/rankviz/new', 'w')", "", status=1)
        job = python(name, JOB, "trained ").split()[-1]
        python(name, TOO_LARGE, "refused: training on 40,000 documents")
        python(name, ENDED, "", status=KILLED)
        wait_for_health(podman, name)
    with running(podman, volume) as name:
        wait_for_health(podman, name)
        python(name, LEFT, f"kept {job}")


def main() -> None:
    """Build, use, say how long it took."""
    missing = [name for name in ("podman", "runc", "mmdebstrap") if shutil.which(name) is None]
    if missing or os.getuid() != 0:
        raise SystemExit(f"make container needs root and Debian's packages {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as scratch:
        podman, volume = Podman(Path(scratch)), Path(scratch) / "volume"
        volume.mkdir()
        os.chown(volume, 10001, 10001)
        with timed("built"):
            build(podman, Path(scratch) / "base")
        with timed("used"):
            use(podman, volume)
        podman("rmi", "-a", "-f")


if __name__ == "__main__":
    main()
