"""What the pages share: settings, cached data and runs, and how figures are shown."""
