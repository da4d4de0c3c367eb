"""Weights of the linear model that are set by hand."""
