"""Build wheel and source archive and use them as a stranger would: `make wheel`, `make wheel-all`.

Their files are compared with those under version control. Then the wheel is installed into an environment
outside the checkout. There README's Python examples, the command `rankviz` and the app must work. The oldest
Python found (3.11 or later) gets the lowest versions that pyproject.toml declares, the newest Python gets the
newest versions. `--all` tests every Python with both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rankviz.common.files import INSIDE
from tools.browser import REPOSITORY, chromium, isolated, open_page, serving

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
TESTED = tuple(re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"])))
"""The Pythons that the lowest versions are made for: they may have no wheels for later ones."""

SHIPPED = ("app.py", "router.py", "pages/", "ui/", ".streamlit/", "static/", "data/")
DOCUMENTATION = "static/docs/"
"""Output of `make docs`: shipped although it is not under version control."""

COMMANDS = (
    "train synthetic-demo --set feature_map=linear",
    "sweep synthetic-demo --set feature_map=linear --axis C=0.5,1 --json",
    "runs --json",
)
"""Commands that need no app, with their own store."""
JOB = """
import time
from rankviz import RunSpec
from rankviz.datasets import load_demo
from rankviz.store import RunStore
from rankviz.store.execution import LocalWorkers
from rankviz.store.watched import WatchedStudies
store = RunStore()
jobs = WatchedStudies(LocalWorkers(store))
spec = RunSpec("synthetic-demo", digest=load_demo(1).digest, feature_map="linear")
job = jobs.submit([spec], owner="me", title="A job")
while jobs.status(job).live:
    time.sleep(0.2)
assert jobs.status(job).finished, jobs.status(job)
store.close()
print("trained", job)
"""
"""A job: its worker is a process of its own, which has to find the installed package and data."""

FIT = "train synthetic-demo --set feature_map=nystroem --set n_components=50 --where"
PLANNED = "shards, features in double precision"
"""Output of a fit on a cluster."""

PAGES = ("", "train")
OPEN_TO_ALL = '[server]\naddress = "0.0.0.0"\n'
"""Settings in the folder the command is given in, which must not count."""

WORKER_THERE = """
import sys
from distributed import Client
with Client(scheduler_file=sys.argv[1], timeout=300) as client:
    client.wait_for_workers(1, timeout=300)
"""
"""A busy machine takes its time to start one."""

TESTS = ("tests/test_ground.py", "tests/test_metrics.py", "tests/pages/test_navigation.py")


class PackageError(RuntimeError):
    """The built package is not what it should be."""


@dataclass(frozen=True)
class Built:
    """A wheel and a source archive."""

    wheel: Path
    sdist: Path


def build(folder: Path) -> Built:
    """Build the source archive, and of that the wheel, into `folder`."""
    for leftover in REPOSITORY.glob("*.egg-info"):  # it would list files that are no more
        shutil.rmtree(leftover)
    run([sys.executable, "-m", "build", "--outdir", str(folder), str(REPOSITORY)], REPOSITORY)
    return Built(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


def tracked() -> set[str]:
    """Files under version control, or about to be, and the documentation where it is made."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    made = (str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / DOCUMENTATION).rglob("*"))
    return {name for name in (*listed.split("\0"), *made) if name and (REPOSITORY / name).is_file()}


def check_contents(built: Built) -> None:
    """Raise `PackageError` unless the archives hold all that they should, and nothing else."""
    files = tracked()
    with zipfile.ZipFile(built.wheel) as archive:
        found = {name for name in archive.namelist() if not name.endswith("/")}
    shipped = {f"rankviz/{INSIDE}/{name}" for name in files if name.startswith(SHIPPED)}
    package = {name for name in files if name.startswith("rankviz/")}
    _same(package | shipped, {name for name in found if ".dist-info/" not in name}, built.wheel)
    with tarfile.open(built.sdist) as archive:
        inner = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    made = {name for name in inner if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    _same(files, inner - made, built.sdist)


def _same(expected: set[str], found: set[str], where: Path) -> None:
    if expected != found:
        raise PackageError(
            f"{where.name}: missing {sorted(expected - found)[:10]}, too many {sorted(found - expected)[:10]}"
        )


def check_description(built: Built) -> None:
    """Raise `PackageError` where the long description names files that lie in the repository only."""
    with zipfile.ZipFile(built.wheel) as archive:
        metadata = archive.read(f"rankviz-{VERSION}.dist-info/METADATA").decode()
    text = metadata.partition("\n\n")[2]
    if "# rankviz" not in text or (links := re.findall(r"\]\((?!https?://)[^)]*\)", text)):
        raise PackageError(f"the long description lacks its title or has links that lead nowhere: {links}")


def lowest() -> list[str]:
    """The lowest versions that pyproject.toml declares, as pins."""
    declared = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]
    return [requirement.replace(">=", "==") for requirement in declared]


def try_wheel(built: Built, python: str, pins: Sequence[str], folder: Path) -> None:
    """Install the wheel into an environment of its own below `folder` and use it there."""
    home = folder / "elsewhere"
    home.mkdir(parents=True)
    own = isolated(folder)
    ours = folder / "environment" / "bin"
    run([python, "-m", "venv", str(ours.parent)], home, own)
    constraints = folder / "pins.txt"
    constraints.write_text("\n".join(pins), encoding="utf-8")

    def install(*what: str) -> None:
        command = [str(ours / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        # No extension is built: that a version has no wheel for this Python is worth knowing. Nor are modules
        # compiled that nobody imports here.
        run([*command, "--only-binary=:all:", "--no-compile", "-c", str(constraints), *what], home)

    install(str(built.wheel))
    _try_core(ours, home, own)
    install(f"{built.wheel}[{'app' if pins else 'app,dask'}]")  # at once: pip takes long to resolve
    if not pins:
        _try_cluster(ours, home, own)
    _try_app(ours, home, folder)


def _try_core(ours: Path, home: Path, own: dict[str, str]) -> None:
    """Without Streamlit: README's examples, a job, and a sentence that says what the app needs."""
    for example in (*examples(), JOB):
        run([str(ours / "python"), "-W", "error", "-c", example], home, own)
    said = run([str(ours / "rankviz"), "--version"], home, own)
    if said.stdout.strip() != f"rankviz {VERSION}":
        raise PackageError(f"rankviz --version says {said.stdout!r}")
    for command in COMMANDS:
        run([str(ours / "rankviz"), *command.split()], home, own)
    refused = run([str(ours / "rankviz"), "app"], home, own, status=1)
    if 'pip install "rankviz[app]"' not in refused.stderr or "Traceback" in refused.stderr:
        raise PackageError(f"rankviz app without Streamlit says {refused.stderr!r}")


def _try_cluster(ours: Path, home: Path, own: dict[str, str]) -> None:
    """Use workers of this machine, then a scheduler and a worker, by the commands of docs/cluster.md."""
    file = home / "scheduler.json"
    shared = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file)]
    with ExitStack() as stack:
        for part in (["scheduler", "--port", "0"], ["worker", "--no-nanny"]):
            command = [str(ours / "dask"), *part, *shared]
            process = subprocess.Popen(command, cwd=home, env=own, stderr=subprocess.DEVNULL)
            stack.enter_context(process)
            stack.callback(process.kill)
        run([str(ours / "python"), "-c", WORKER_THERE, str(file)], home, own)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        for where, C in (("local:2", 0.5), (address, 0.25)):
            said = run([str(ours / "rankviz"), *FIT.split(), where, "--set", f"C={C}"], home, own)
            if PLANNED not in said.stderr:
                raise PackageError(f"rankviz train --where {where} says {said.stderr!r}")


def examples() -> list[str]:
    """README's Python examples."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not found:
        raise PackageError("README.md has no Python example")
    return found


def _try_app(ours: Path, home: Path, folder: Path) -> None:
    """The command, from a folder with nothing of ours, with a data root of one's own; pages in Chromium."""
    shutil.copytree(REPOSITORY / "data" / "synthetic-demo", home / "own" / "mine")
    (home / ".streamlit").mkdir()
    (home / ".streamlit" / "config.toml").write_text(OPEN_TO_ALL, encoding="utf-8")
    command = [str(ours / "rankviz"), "app", "--data-dir", "own", "--port"]
    with serving(command, folder, home) as server, chromium() as browser:
        for name in PAGES:
            page = browser.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            open_page(page, f"{server.url}/{name}?data=mine")
            text = page.inner_text("body")
            if "fault of the program" in text or "mine fold 1" not in text:
                raise PackageError(f"page {name or 'home'} is not as it should be:\n{text}")
            if strangers := [url for url in asked if url.startswith("http") and "//127.0.0.1:" not in url]:
                raise PackageError(f"page {name or 'home'} asks {strangers}")
            page.close()
        if (REPOSITORY / DOCUMENTATION).is_dir():
            with urllib.request.urlopen(f"{server.url}/app/static/docs/index.html", timeout=60) as answer:
                if answer.headers.get_content_type() != "text/html":
                    raise PackageError(f"the documentation is served as {answer.headers.get_content_type()}")
        if "Traceback" in server.log() or "http://127.0.0.1:" not in server.log():
            raise PackageError(server.log())


def try_sdist(built: Built, folder: Path) -> None:
    """Run a few tests of the unpacked source archive with the Python at hand."""
    with tarfile.open(built.sdist) as archive:
        archive.extractall(folder, filter="data")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    run(command, folder / f"rankviz-{VERSION}", isolated(folder))


def run(
    command: Sequence[str], cwd: Path, environment: dict[str, str] | None = None, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command and return its output. Raises `PackageError` for another exit status."""
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise PackageError(
            f"{' '.join(command)[:200]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        )
    return done


def pythons() -> Iterator[tuple[str, str]]:
    """Yield each Python from 3.11 on that is found, the one at hand first: (version, program)."""
    seen = set()
    named = (shutil.which(f"python3.{minor}") for minor in range(11, 20))
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for program in [sys.executable, *filter(None, named), *map(str, sorted(folder.glob("3.*/bin/python")))]:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        with suppress(PackageError, OSError):
            version = run([program, "-c", code], Path("/")).stdout.strip()
            if int(version.partition(".")[2]) >= 11 and version not in seen:
                seen.add(version)
                yield version, program


AT_ONCE = 2
"""Trials beside one another."""


def trials(everything: bool) -> Iterator[tuple[str, str, list[str]]]:
    """List (name, Python, pins): the first Python gets the lowest versions, the last the newest."""
    found = list(pythons())
    old = [one for one in found if one[0] in TESTED]
    for version, program in old if everything else old[:1]:
        yield f"Python {version}, lowest versions", program, lowest()
    for version, program in found if everything or len(found) == 1 else found[-1:]:
        yield f"Python {version}, newest versions", program, []


@contextmanager
def timed(words: str) -> Iterator[None]:
    """Say how long it took."""
    started = time.monotonic()
    yield
    print(f"{words}: {time.monotonic() - started:.0f} s", flush=True)


def main() -> None:
    """Build, compare, install, use."""
    parser = argparse.ArgumentParser(prog="python -m tools.wheel", description=__doc__)
    parser.add_argument("--all", action="store_true", help="lowest and newest versions on every Python")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="where to leave them")
    chosen = parser.parse_args()
    shutil.rmtree(chosen.out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        with timed("built"):
            built = build(chosen.out)
        check_contents(built)
        check_description(built)
        with timed("tests of the source archive"):
            try_sdist(built, Path(scratch) / "sdist")

        def tried(number: int, words: str, program: str, pins: list[str]) -> None:
            with timed(words):
                try_wheel(built, program, pins, Path(scratch) / str(number))

        with ThreadPoolExecutor(AT_ONCE) as pool:  # most of each is waiting for pip
            waited = [pool.submit(tried, number, *trial) for number, trial in enumerate(trials(chosen.all))]
            for one in waited:
                one.result()


if __name__ == "__main__":
    main()
