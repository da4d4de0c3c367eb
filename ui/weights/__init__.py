"""Weights of the linear model, set by hand."""
