"""The app as a server: Streamlit's, with bounds on what uploads hold in its memory. Start with `make app`."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from ui.data.serving import BoundedUploads, giving_back

app = App("router.py", middleware=[Middleware(BoundedUploads)], lifespan=giving_back)
