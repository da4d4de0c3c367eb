"""Shared by the pages: settings, cached data and runs, and display of figures.

The first visitors of a fresh server may import the pages' modules in several threads at once. Packages whose
modules import each other through the package cannot handle this. So they are imported here first: every `from
ui import …` waits for it.
"""

from importlib import import_module

for name in ("pandas", "plotly.graph_objects", "plotly.io", "rankviz"):
    import_module(name)
