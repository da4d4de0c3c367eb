"""The Side by side page."""
