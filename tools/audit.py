"""Look for known faults in the locked packages of a server: `make audit`, or with `ADVISORIES=path` offline.

pip-audit reads the lock and asks a service about each package: PyPI's over the network, or for advisories
on this disk the one here. They are records in the format of OSV: a JSON file, a folder or a ZIP archive.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.browser import REPOSITORY

LOCK = REPOSITORY / "requirements" / "server.txt"
AUDIT = ("pip_audit", "--require-hashes", "--disable-pip", "--strict", "--progress-spinner=off")
UNREACHED = (
    "pip-audit cannot check all packages ({}). Without network, give advisories on this disk: "
    "make audit ADVISORIES=path"
)
Record = Mapping[str, Any]


def advisories(path: Path) -> list[Record]:
    """Read the records about Python packages. Raises ValueError for none, or a file that is no record."""
    found = [record for name, text in _texts(path) for record in _records(name, text)]
    ours = [one for one in found if any(_ecosystem(part) == "PyPI" for part in one["affected"])]
    if not ours:
        raise ValueError(f"{path} has no advisory about a Python package")
    return ours


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and text of each JSON file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist() if name.endswith(".json"))
    else:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        yield from ((str(file), file.read_bytes()) for file in files)


def _records(name: str, text: bytes) -> list[Record]:
    """Return the records of a file: one, or a list. Raises ValueError for other contents."""
    try:
        read = json.loads(text)
        records = [{"affected": []} | one for one in (read if isinstance(read, list) else [read])]
        if not all(isinstance(one["id"], str) and isinstance(one["affected"], list) for one in records):
            raise TypeError("fields of the wrong kind")
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{name} is no record of OSV: {error}") from error
    return records


def _ecosystem(affected: Record) -> str:
    return str(affected.get("package", {}).get("ecosystem"))


def concerns(record: Record, name: str, version: str) -> bool:
    """Return whether a record says that this version of a package is affected."""
    parts = (
        part
        for part in record["affected"]
        if _ecosystem(part) == "PyPI"
        and canonicalize_name(part["package"]["name"]) == canonicalize_name(name)
    )
    return any(
        _normal(version) in map(_normal, part.get("versions", ()))
        or any(_within(span["events"], version) for span in part.get("ranges", ()) if span["type"] != "GIT")
        for part in parts
    )


def _normal(version: str) -> str:
    """Return the one spelling of a version: 2022.12.07 is 2022.12.7."""
    try:
        return str(Version(version))
    except InvalidVersion:
        return version


def _within(events: Sequence[Mapping[str, str]], version: str) -> bool:
    """Return whether a version lies in a range; one that cannot be read counts as affected."""
    try:
        at, inside = Version(version), False
        for bound, kind in sorted((Version(text), kind) for event in events for kind, text in event.items()):
            if bound <= at:
                inside = kind == "introduced" or (kind == "last_affected" and bound == at)
    except InvalidVersion:
        return True
    return inside


@contextmanager
def serving(records: Sequence[Record]) -> Iterator[str]:
    """Answer questions about packages on this machine as OSV's service does; yield the address."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, version = asked["package"]["name"], asked["version"]
            body = json.dumps({"vulns": [one for one in records if concerns(one, name, version)]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing about each question."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def audit(lock: Path, *service: str) -> int:
    """Run pip-audit on a lock; return its exit status. Ends the program where a package has no answer."""
    command = [sys.executable, "-m", *AUDIT, *service, "-r", str(lock)]
    direct = os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"} if service else None
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=direct)
    print(done.stdout, end="")
    lines = done.stderr.strip().splitlines() or [""]
    if "Traceback" in done.stderr or lines[-1].startswith("ERROR"):
        raise SystemExit(UNREACHED.format(lines[-1].removeprefix("ERROR:pip_audit._cli:").partition(": ")[0]))
    print(lines[-1])
    return done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit the lock."""
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__.splitlines()[0])
    parser.add_argument("advisories", type=Path, nargs="?")
    path = parser.parse_args(arguments).advisories
    if path is None:
        return audit(LOCK)
    try:
        records = advisories(path)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
    with serving(records) as address:
        return audit(LOCK, "-s", "osv", "--osv-url", address)


if __name__ == "__main__":
    sys.exit(main())
