"""The What if page: changes of data by hand, and what the model makes of them."""
