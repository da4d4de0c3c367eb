"""A sweep over settings: runs in the background, with selection on the validation part."""

from ui.sweep.views import page

page()
