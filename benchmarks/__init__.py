"""Measurements of speed and memory; never part of the tests. Run with `make bench`."""
