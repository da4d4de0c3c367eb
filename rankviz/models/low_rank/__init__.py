"""Ranking SVMs that keep the dual variables of each query low-rank (xu2019 §5): problems and solvers."""
