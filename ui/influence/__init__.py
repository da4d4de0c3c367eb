"""The Influence page."""
