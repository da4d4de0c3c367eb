"""The Runs page: all runs that a visitor may see, searched, filtered, marked, taken along."""
