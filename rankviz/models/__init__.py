"""Rankers with scikit-learn's conventions, and their files."""
