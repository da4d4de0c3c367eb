"""A sweep over settings: runs in the background, with selection on the validation part."""

from ui.study.sweep import page

page()
