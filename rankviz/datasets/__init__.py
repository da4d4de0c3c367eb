"""Data sets: reading, checking, normalising and generating LETOR folds."""
