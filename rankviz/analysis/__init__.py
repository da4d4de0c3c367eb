"""Comparisons of models and of kernels: tables that figures are drawn from."""
