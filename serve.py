"""What `make app` and `rankviz app` start: app.py, behind the response headers of ui/shared/headers.py."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.shared.headers import Headers

app = App("app.py", middleware=[Middleware(Headers)])
