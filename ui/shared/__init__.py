"""What the pages share: settings, cached data and runs, jobs, and how figures are shown."""
