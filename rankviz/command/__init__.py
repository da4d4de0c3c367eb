"""The commands of `rankviz` except `app`, each a module with `run`."""
