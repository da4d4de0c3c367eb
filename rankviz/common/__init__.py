"""Shared by every part of the core: errors, arrays, files, progress, seconds and threads."""
