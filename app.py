"""The app as a server: Streamlit's, with our headers, and bounds on uploads in memory.

Start with `make app`. Importing `ui` imports the libraries: missing ones are found when the server starts,
before the first visitor.
"""

from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from ui.defaults import ready
from ui.model.data_serving import BoundedUploads
from ui.shell.assets import Assets
from ui.shell.figures import routes
from ui.shell.server import FewFiles, Headers, Paced, PageMessages, SameOrigin

# Else the first visit to a server, if by a link to a page, would run that page without router.py.
PagesManager.uses_pages_directory = False
middleware = [
    Middleware(one) for one in (Headers, SameOrigin, FewFiles, Paced, PageMessages, Assets, BoundedUploads)
]
app = App("router.py", routes=routes(), middleware=middleware, lifespan=ready)
