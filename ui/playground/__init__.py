"""The playground in the plane: documents that are dragged, and what a model makes of them."""
