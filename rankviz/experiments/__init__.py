"""Runs as values: RunSpec in, RunRecord out."""
