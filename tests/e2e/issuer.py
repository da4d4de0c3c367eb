"""A login provider: as much OpenID Connect as st.login asks for. It takes everybody at their word."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
CLIENT = "rankviz"


class _Answers(BaseHTTPRequestHandler):
    """/authorize asks who one is; /token signs what it was told."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        issuer = f"http://{self.headers['Host']}"
        if url.path == "/authorize":
            chosen = {who: urlencode(asked | {"who": who}) for who in ("Ada", "Emmy")}
            links = [f'<a href="/chosen?{query}">{who}</a>' for who, query in chosen.items()]
            self._answer("text/html", '<link rel="icon" href="data:,">' + "<p>".join(links))
        elif url.path == "/chosen":
            self.send_response(302)
            code = json.dumps([asked["who"], asked["nonce"]])
            query = urlencode({"code": code, "state": asked["state"]})
            self.send_header("Location", f"{asked['redirect_uri']}?{query}")
            self.end_headers()
        elif url.path == "/keys":
            self._answer("application/json", json.dumps({"keys": [KEY.as_dict(private=False)]}))
        elif url.path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            told = {name: f"{issuer}/{place}" for name, place in places.items()}
            told |= {"issuer": issuer, "id_token_signing_alg_values_supported": ["RS256"]}
            self._answer("application/json", json.dumps(told))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        who, nonce = json.loads(form["code"][0])
        now = int(time.time())
        claims = {"iss": f"http://{self.headers['Host']}", "sub": f"{who}-1", "name": who, "nonce": nonce}
        claims |= {"aud": CLIENT, "iat": now, "exp": now + 600}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, KEY)
        told = {"access_token": "none", "token_type": "Bearer", "expires_in": 600, "id_token": token}
        self._answer("application/json", json.dumps(told))

    def _answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def issuer() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
