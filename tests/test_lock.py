"""The lock of a server's packages agrees with their pins, and is compared with advisories."""

import json
import re
import zipfile
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import audit

REQUIREMENTS = audit.LOCK.parent
ENTRY = re.compile(r"(?m)^([\w.-]+)==(\S+)(?: ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$")


def pins(*names: str) -> dict[str, str]:
    text = "\n".join((REQUIREMENTS / name).read_text(encoding="utf-8") for name in names)
    return {canonicalize_name(name): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", text)}


def test_the_lock_has_every_pin_and_hashes_for_each_package() -> None:
    direct = pins("../requirements.txt", "server.in")
    locked = pins("server.txt")
    assert {name: locked.get(name) for name in direct} == direct
    assert len(locked) > len(direct)
    hashed = ENTRY.findall(audit.LOCK.read_text(encoding="utf-8"))
    assert [canonicalize_name(name) for name, *_ in hashed] == sorted(locked)
    rest = ENTRY.sub("", audit.LOCK.read_text(encoding="utf-8"))
    assert all(line.startswith("#") for line in rest.splitlines() if line)


def test_the_lock_has_what_the_packages_need() -> None:
    """Each package that an installed one needs here is in the lock."""
    locked = pins("server.txt")
    needed = (
        Requirement(text)
        for name in pins("../requirements.txt", "server.in")
        for text in requires(name) or ()
    )
    here = {
        canonicalize_name(one.name)
        for one in needed
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }
    assert here <= set(locked)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a proxy that nobody answers stand before the network."""
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.setenv(variable, "" if name == "no_proxy" else "http://127.0.0.1:9")


def record(name: str, *events: dict[str, str], **more: Any) -> dict[str, Any]:
    spans = [{"type": "ECOSYSTEM", "events": list(events)}] if events else []
    part = {"package": {"ecosystem": "PyPI", "name": name}, "ranges": spans, **more}
    return {"id": f"TEST-{name}", "affected": [part]}


@pytest.mark.parametrize(
    ("of", "version", "affected"),
    [
        (record("Some.Thing", {"introduced": "0"}, {"fixed": "2.10"}), "2.9", True),
        (record("some-thing", {"introduced": "0"}, {"fixed": "2.10"}), "2.10", False),
        (record("some-thing", {"fixed": "2.1"}, {"introduced": "2.0"}), "1.9", False),
        (record("some-thing", {"introduced": "1"}, {"last_affected": "2"}), "2", True),
        (record("some-thing", {"introduced": "1"}, {"last_affected": "2"}), "2.0.1", False),
        (record("some-thing", {"introduced": "3"}, {"introduced": "1"}, {"fixed": "2"}), "3.1", True),
        (record("some-thing", versions=["2022.12.07"]), "2022.12.7", True),
        (record("some-thing", versions=["2022.12.07"]), "2022.12.8", False),
        (record("some-thing", {"introduced": "no version"}), "1", True),
        (record("other", {"introduced": "0"}), "1", False),
    ],
)
def test_a_record_concerns_versions_in_its_ranges(of: dict[str, Any], version: str, affected: bool) -> None:
    assert audit.concerns(of, "some-thing", version) is affected


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_pip_audit_finds_what_is_in_local_advisories(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version = pins("server.txt")["jinja2"]
    known = [
        record("Jinja2", {"introduced": "0"}, {"last_affected": version}),
        record("numpy", {"introduced": "0"}, {"fixed": pins("server.txt")["numpy"]}),
    ]
    path = tmp_path / "known.json"
    path.write_text(json.dumps(known), encoding="utf-8")
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for one in known:
                archive.writestr(f"{one['id']}.json", json.dumps(one))
        path = tmp_path / "all.zip"
    assert audit.main([str(tmp_path if kind == "folder" else path)]) == 1
    said = capsys.readouterr().out
    assert re.search(rf"(?m)^jinja2\s+{re.escape(version)}\s+TEST-Jinja2", said)
    assert "TEST-numpy" not in said


@pytest.mark.usefixtures("offline")
def test_without_network_and_advisories_it_says_what_to_give() -> None:
    with pytest.raises(SystemExit, match="make audit ADVISORIES=path"):
        audit.main([])


@pytest.mark.parametrize(("text", "says"), [("[]", "no advisory"), ("{}", "no record"), ("[", "no record")])
def test_a_file_that_is_no_advisory_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=says):
        audit.main([str(tmp_path / "file.json")])
