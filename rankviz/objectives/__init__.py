"""Objectives for solvers: regulariser and risk together, in feature space or in the kernel's own space."""
