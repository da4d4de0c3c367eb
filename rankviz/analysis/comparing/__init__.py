"""Models beside one another: matched on the same queries, tested, cut into slices, in tables."""
