"""The playground: documents dragged in the plane, and the model trained on them."""
