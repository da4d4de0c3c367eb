"""The Kernel approximation page."""
