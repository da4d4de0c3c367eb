"""Folds, runs and jobs for pages; it knows no widget of the sidebar."""
