"""The Runs page: all runs that a visitor may see, with search, filters, marks and export."""
