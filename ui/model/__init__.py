"""Pages about one model: Data, Train, Why and What if."""
