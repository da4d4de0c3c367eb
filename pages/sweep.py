"""A sweep over settings: it goes on by itself, and what is chosen is chosen on validation."""

from ui.sweep.views import page

page()
