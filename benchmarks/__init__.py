"""Measurements of speed and memory; never part of the tests. Run with `make bench`."""

import rankviz as rankviz  # before NumPy: it says how long threads wait
