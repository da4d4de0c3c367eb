"""The commands of `rankviz` but `app`, each a module with `run`."""
