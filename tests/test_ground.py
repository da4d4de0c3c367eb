"""The ground under the project: pins, settings, licence, no machine's paths, links that lead somewhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parent.parent
DATA_LIMIT = 3_000_000
README = REPOSITORY / "README.md"


def tracked() -> list[Path]:
    """Files under version control, or all but hidden ones where there is no git (an unpacked archive)."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [p for p in REPOSITORY.rglob("*") if not any(part.startswith(".") for part in p.parts)]
    return [path for path in paths if path.is_file()]


def texts() -> dict[str, str]:
    found = {}
    for path in tracked():
        content = path.read_bytes()
        if b"\0" not in content:
            found[str(path.relative_to(REPOSITORY))] = content.decode("utf-8")
    return found


@pytest.mark.parametrize("name", ["requirements.txt", "requirements/server.in", "requirements/dev.txt"])
def test_every_requirement_is_pinned(name: str) -> None:
    lines = [re.split("[#;]", line)[0].strip() for line in (REPOSITORY / name).read_text().splitlines()]
    requirements = [line for line in lines if line and not line.startswith("-r ")]
    assert requirements
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line) for line in requirements)


def test_pins_satisfy_what_the_package_declares() -> None:
    pins = dict(
        re.findall(r"^([\w.-]+)==([\w.]+)", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    )
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    declared = [Requirement(r) for r in (*project["dependencies"], *project["optional-dependencies"]["app"])]
    assert {r.name for r in declared} == set(pins)
    assert all(r.specifier.contains(pins[r.name]) for r in declared)


def test_the_app_answers_on_this_machine_only_and_reports_nothing() -> None:
    settings = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["server"]["headless"] is True
    assert settings["browser"]["gatherUsageStats"] is False
    assert "://" not in str(settings)  # no theme and no font from another host


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_themes_name_ten_colours(mode: str) -> None:
    """Streamlit fills a shorter list with "undefined", and Plotly then drops the whole of it."""
    theme = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text())["theme"][mode]
    assert len(set(theme["chartCategoricalColors"])) == 10


def test_no_paths_of_a_machine_and_no_registry_hosts() -> None:
    machine = r"(?<![\w./-])/(?:work|root|home)/"
    registry = r"pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian|crates\.io"
    here = str(Path(__file__).relative_to(REPOSITORY))
    found = [
        f"{name}: {match[0]}"
        for name, text in texts().items()
        if name != here
        for match in re.finditer(f"{machine}|{registry}", text)
    ]
    assert found == []


def test_licence() -> None:
    assert (REPOSITORY / "LICENSE").read_text().startswith("BSD 3-Clause License")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["license"] == "BSD-3-Clause"


def test_bundled_data_is_small() -> None:
    sizes = [path.stat().st_size for path in tracked() if path.is_relative_to(REPOSITORY / "data")]
    assert 0 < sum(sizes) < DATA_LIMIT


def test_the_readmes_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", README.read_text())
    assert [t for t in targets if not (REPOSITORY / t).exists()] == []
