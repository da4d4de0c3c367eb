"""What `make app` and `rankviz app` start: app.py, with the response headers of ui/shared/headers.py.

Importing `ui` imports the libraries: what is missing shows when the server starts, not to its first visitor.
"""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.shared.headers import Headers

app = App("app.py", middleware=[Middleware(Headers)])
