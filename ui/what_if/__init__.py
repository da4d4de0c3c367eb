"""The What if page: changes of data by hand, and the retrained model."""
