"""What every part of the core uses: errors, arrays, files, progress, seconds and threads."""
