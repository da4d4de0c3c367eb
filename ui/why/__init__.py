"""The Why page: exact shares of features in the order of two documents."""
