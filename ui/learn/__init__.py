"""Pages to learn with: Home, the Playground and weights set by hand."""
