"""What the pages share: settings, cached data and runs, and how figures are shown.

Two visitors who come first, at once, import these modules in two threads. Importing the library here, before
anything that is part of it, keeps them from waiting for each other's half of it: rankviz/__init__.py imports
what modules of it import.
"""

from importlib import import_module

import_module("rankviz")
