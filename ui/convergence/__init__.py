"""The Convergence page."""
