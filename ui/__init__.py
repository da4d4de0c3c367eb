"""Shared by the pages: settings, cached data and runs, and display of figures.

The first visitors of a fresh server may import the pages' modules in several threads at once. Packages whose
modules import each other through the package cannot handle this. So they are imported here first: every `from
ui import …` waits for it.
"""

from importlib import import_module

from rankviz.common.memory import share_freed_memory

share_freed_memory()  # for `streamlit run`, whose threads have made few heaps by now
LIBRARIES = ("pandas", "plotly.graph_objects", "plotly.io", "sklearn.base")
# the core too: threads that met in rankviz.runs each waited for the other, and got half a module
for name in (*LIBRARIES, "rankviz.runs.families", "rankviz.store"):
    import_module(name)
