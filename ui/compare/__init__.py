"""Pages that compare models: Side by side, Compare and Runs."""
