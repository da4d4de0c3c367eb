"""Fits that share what they can, and whether they fit into memory."""
