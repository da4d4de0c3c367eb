"""The files of deploy/ and docs/deployment.md say what the program says; others use them for real."""

import http.server
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit import config

from rankviz.common.bounds import ENVIRONMENT, GB, SETS, Bounds, bounds
from tools.browser import free_port
from tools.proxy import PROGRAM, proxy

REPOSITORY = Path(__file__).resolve().parent.parent
DEPLOY = REPOSITORY / "deploy"
PAGE = (REPOSITORY / "docs" / "deployment.md").read_text(encoding="utf-8")
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def variables(text: str) -> dict[str, str]:
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
    wanted = {"rankviz", "requirements/server.txt", *re.findall(r'"(.*?)"', shipped[1])}
    assert copied == wanted


def test_the_container_names_no_image_that_may_change_and_installs_the_lock() -> None:
    assert re.findall(r"^(?:ARG|FROM) .*$", CONTAINER, re.MULTILINE) == ["ARG BASE", "FROM ${BASE}"]
    (install,) = re.findall(r"pip install .*$", CONTAINER, re.MULTILINE)
    assert {"--require-hashes", "requirements/server.txt"} <= set(install.split())
    assert "podman build --format docker --build-arg BASE=" in PAGE


def test_the_container_has_the_library_that_lightgbm_loads() -> None:
    assert re.search(r"apt-get install .*\blibgomp1\b", CONTAINER)
    tried = (REPOSITORY / "tools" / "container.py").read_text(encoding="utf-8")
    assert re.search(r'^PACKAGES = ".*\blibgomp1"', tried, re.MULTILINE)


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


@contextmanager
def answering() -> Iterator[http.server.ThreadingHTTPServer]:
    """A server that answers each request with its own port."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = str(self.server.server_port).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.skipif(PROGRAM is None, reason="no nginx: install Debian's package nginx-light")
def test_the_proxy_keeps_each_browser_at_one_of_two_processes(tmp_path: Path) -> None:
    """It spreads new browsers, and moves those of a process that has ended."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(answering()) for _ in range(2))
        apps = [SimpleNamespace(url=f"http://127.0.0.1:{one.server_port}") for one in (first, second)]
        running = stack.enter_context(proxy(apps, tmp_path))

        def ask(cookie: str) -> tuple[str, str]:
            answer = running.ask("GET", "/", {"Cookie": cookie} if cookie else {})
            assert answer.status == 200
            return answer.body.decode(), answer.headers.get("Set-Cookie", "")

        browsers = [ask("") for _ in range(21)]  # an odd number: turns would move them
        assert {port for port, _ in browsers} == {str(first.server_port), str(second.server_port)}
        assert all("; Secure; HttpOnly;" in cookie for _, cookie in browsers)
        for _ in range(2):
            assert [ask(cookie.split(";")[0]) for _, cookie in browsers] == [
                (port, "") for port, _ in browsers
            ]
        second.shutdown()
        second.server_close()
        assert {ask(cookie.split(";")[0])[0] for _, cookie in browsers} == {str(first.server_port)}


def test_no_port_is_given_twice() -> None:
    assert len({free_port() for _ in range(1000)}) == 1000


def test_the_unit_gives_up_what_a_server_does_not_need() -> None:
    lines = (DEPLOY / "rankviz@.service").read_text(encoding="utf-8").splitlines()
    assert "LimitNOFILE=65536" in lines, "four open files for each session"
    assert {"PrivateDevices=yes", "SystemCallFilter=@system-service", "NoNewPrivileges=yes"} <= set(lines)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "rankviz@.service").read_text(encoding="utf-8")
    (tmp_path / "rankviz@8501.service").write_text(
        unit.replace("/opt/rankviz/bin/rankviz", shutil.which("true") or "")
    )
    verify = ["systemd-analyze", "verify", str(tmp_path / "rankviz@8501.service")]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    exposed = ["systemd-analyze", "security", "--offline=yes", "--threshold=17", verify[-1]]  # of 100
    assert subprocess.run(exposed, capture_output=True, check=False).returncode == 0
