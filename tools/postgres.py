"""Tests of the run store on PostgreSQL: `make test-postgres`.

A server of Debian's package postgresql is started in a folder of its own, reached by a socket there and by no
network, and ended with all that was in it. Needs that package; as root it runs as the user postgres.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PROGRAMS = Path("/usr/lib/postgresql")
USER = "postgres"
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
"""Nothing is to outlive the tests."""


class Server:
    """A PostgreSQL server below a folder."""

    def __init__(self, folder: Path) -> None:
        self._programs, self._data, self._folder = _programs(), folder / "data", folder
        self._as = {} if os.geteuid() else {"user": USER, "group": USER, "extra_groups": []}
        if self._as:
            shutil.chown(folder, USER, USER)
        self._do("initdb", "--auth=trust", f"--username={USER}", "--no-sync", "--locale=C.UTF-8")

    @property
    def address(self) -> str:
        """The address of a database there, for SQLAlchemy."""
        return f"postgresql://{USER}@/{USER}?host={self._folder}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder} {FAST}"
        self._do("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """End it; "immediate" as if it had been killed."""
        self._do("pg_ctl", "-w", "-m", mode, "stop")

    def _do(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "cwd": self._folder}
        subprocess.run(command, check=True, **quiet, **self._as)  # type: ignore[call-overload]


def _programs() -> Path:
    """Return the folder of the newest server's programs; SystemExit without one."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise SystemExit("There is no PostgreSQL here. On Debian install the package postgresql.")
    return found[-1].parent


@contextmanager
def server() -> Iterator[Server]:
    """A server that runs, and is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rankviz-postgres-") as folder:
        found = Server(Path(folder))
        found.start()
        try:
            yield found
        finally:
            found.stop("immediate")


def main(arguments: Sequence[str]) -> int:
    """Run pytest with what the command line says, on such a server; its exit status."""
    with server() as found:
        command = [sys.executable, "-m", "pytest", *(arguments or ["tests/store"])]
        environment = os.environ | {"RANKVIZ_TEST_POSTGRES": found.address}
        return subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
