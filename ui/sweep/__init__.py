"""The Sweep page: many runs of one model over its settings, which go on by themselves, and what they say."""
