"""The files of deploy/ and docs/deployment.md say what the program says; others use them for real."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from streamlit import config

from rankviz.common.bounds import ENVIRONMENT, GB, SETS, Bounds, bounds

REPOSITORY = Path(__file__).resolve().parent.parent
DEPLOY = REPOSITORY / "deploy"
PAGE = (REPOSITORY / "docs" / "deployment.md").read_text(encoding="utf-8")
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def variables(text: str) -> dict[str, str]:
    """Environment variables that a text sets."""
    return dict(
        re.findall(r"^(?:ENV |Environment=| +)?((?:RANKVIZ|STREAMLIT)_\w+)=(\S+)", text, re.MULTILINE)
    )


def test_class_toml_is_the_set_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(DEPLOY / "class.toml"))
    assert bounds() == SETS["class"]


@pytest.mark.parametrize("name", ["class.env", "Containerfile"])
def test_every_variable_is_one_that_somebody_reads(name: str) -> None:
    set_here = variables((DEPLOY / name).read_text(encoding="utf-8"))
    known = {option.env_var for option in config._config_options_template.values()}
    sources = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "rankviz").rglob("*.py"))
    assert set_here[ENVIRONMENT] == "class"
    for variable in set_here:
        assert variable in known or f'"{variable}"' in sources, variable


def test_the_page_has_every_bound_with_its_numbers() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+)( GB)? \| (\S+)( GB)? \|", PAGE, re.MULTILINE)

    def bounds(column: int) -> Bounds:
        number = {row[0]: float(row[column].replace(",", "")) for row in rows}
        return replace(Bounds(), **{row[0]: number[row[0]] * (GB if row[column + 1] else 1) for row in rows})

    assert [row[0] for row in rows] == [field.name for field in fields(Bounds)]
    assert bounds(1) == SETS["own"]
    assert bounds(3) == SETS["class"]


def test_the_container_has_what_a_wheel_has() -> None:
    copied = {
        word for line in re.findall(r"^COPY (.*)$", CONTAINER, re.MULTILINE) for word in line.split()[:-1]
    }
    shipped = re.search(
        r"^SHIPPED = \((.*)\)$", (REPOSITORY / "tools" / "package_build.py").read_text(), re.MULTILINE
    )
    assert shipped is not None
    wanted = {"rankviz", "requirements.txt", "requirements/login.txt", *re.findall(r'"(.*?)"', shipped[1])}
    assert copied == wanted


def test_the_container_writes_on_its_volume_alone() -> None:
    volume = re.search(r"^VOLUME (\S+)$", CONTAINER, re.MULTILINE)
    assert volume is not None
    folders = {name: path for name, path in variables(CONTAINER).items() if path.startswith("/")}
    assert folders.pop("RANKVIZ_DATA") == "/data"
    assert set(folders) == {"RANKVIZ_RUNS", "RANKVIZ_UPLOADS", "RANKVIZ_CACHE"}
    assert all(path.startswith(f"{volume[1]}/") for path in folders.values())
    assert re.search(r"^USER [1-9]\d+:", CONTAINER, re.MULTILINE)


def test_the_proxy_takes_what_the_app_takes() -> None:
    body = re.search(r"client_max_body_size (\d+)m;", NGINX)
    assert body is not None
    assert int(body[1]) == SETTINGS["server"]["maxUploadSize"] + 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "rankviz.service").read_text(encoding="utf-8")
    (tmp_path / "rankviz.service").write_text(
        unit.replace("/opt/rankviz/bin/rankviz", shutil.which("true") or "")
    )
    verify = ["systemd-analyze", "verify", str(tmp_path / "rankviz.service")]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
