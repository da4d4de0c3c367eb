"""Tools for every part of the core: errors, arrays, files, progress, timing and threads."""
