"""The Sweep page: many runs of one model over its settings, in the background, and their results."""
