"""nginx with the configuration of deploy/, its ports and certificate replaced, in front of running apps."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPSConnection
from pathlib import Path

from tools.browser import REPOSITORY, Server, free_port

HOST = "rank.example.org"
"""The name that the files in deploy/ have for a server."""
DEPLOY = REPOSITORY / "deploy"
PROGRAM = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
START_SECONDS = 20
AROUND = """{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    include /etc/nginx/mime.types;
    access_log {folder}/access.log;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/unused;
    uwsgi_temp_path {folder}/unused;
    scgi_temp_path {folder}/unused;
    include {folder}/rankviz.conf;
}}
"""


@dataclass(frozen=True)
class Answer:
    """The answer to one request."""

    status: int
    headers: HTTPMessage
    body: bytes


@dataclass(frozen=True)
class Proxy:
    """A running nginx, which answers for https://rank.example.org on a port of 127.0.0.1."""

    port: int
    plain_port: int
    folder: Path

    def ask(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answer:
        """Send one request with these headers and the host; return the answer."""
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        with closing(HTTPSConnection("127.0.0.1", self.port, context=trusting, timeout=30)) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Host": HOST} | headers).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            with connection.getresponse() as answer:
                return Answer(answer.status, answer.headers, b"" if answer.status == 101 else answer.read())

    def paths(self) -> list[str]:
        """The paths of all requests so far."""
        return re.findall(r'"[A-Z]+ (\S+) HTTP', (self.folder / "access.log").read_text())


def class_environment() -> dict[str, str]:
    """Read the settings of deploy/class.env."""
    lines = (DEPLOY / "class.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@contextmanager
def proxy(apps: Sequence[Server], folder: Path, tls: bool = True) -> Iterator[Proxy]:
    """Run nginx before processes of the app, without TLS if asked; end it afterwards."""
    assert PROGRAM is not None
    _certificate(folder)
    running = Proxy(free_port(), free_port(), folder)
    configuration = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for there, here in {
        "listen 443 ssl http2;": f"listen 127.0.0.1:{running.port}{' ssl http2' if tls else ''};",
        "listen 80;": f"listen 127.0.0.1:{running.plain_port};",
        "/etc/ssl/rankviz/": f"{folder}/",
        "/var/cache/nginx/rankviz": f"{folder}/files",
        "server 127.0.0.1:8501;": " ".join(f"server {app.url.removeprefix('http://')};" for app in apps),
    }.items():
        assert there in configuration
        configuration = configuration.replace(there, here)
    (folder / "rankviz.conf").write_text(configuration, encoding="utf-8")
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, user=user), encoding="utf-8")
    command = [PROGRAM, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    process = subprocess.Popen(command)
    try:
        _wait_for(running, process)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=10)


def _certificate(folder: Path) -> None:
    """Make a self-signed certificate."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={HOST}",
    ]
    command += ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run(command, check=True, capture_output=True)


def _wait_for(running: Proxy, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, (running.folder / "error.log").read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", running.port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError((running.folder / "error.log").read_text())
