"""Shared by the pages: settings, cached data and runs, jobs, and how figures are shown."""
