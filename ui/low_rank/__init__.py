"""The Low rank page."""
