"""The spec that the tests of specs, runs and records begin with."""

from __future__ import annotations

from rankviz import RunSpec

SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, seed=3)
