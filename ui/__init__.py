"""Shared by the pages: settings, cached data and runs, and how figures are shown.

The first visitors to a fresh server, coming at once, import the pages' modules in several threads. Packages
whose modules import each other by way of the package cannot bear that, so those are imported here, whole and
first: whoever says `from ui import …` waits until that is done.
"""

from importlib import import_module

for name in ("pandas", "plotly.graph_objects", "plotly.io", "rankviz"):
    import_module(name)
