"""The page with the component, under the headers that every answer of the app has."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.shell.server import Headers

app = App(Path(__file__).with_name("page.py"), middleware=[Middleware(Headers)])
