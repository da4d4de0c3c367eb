"""Dual variables α, one block per query, and what is made of them."""
