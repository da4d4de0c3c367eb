"""Solvers: they see an objective, and neither kernels nor queries."""
