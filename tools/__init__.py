"""Programs for those who work on rankviz: never imported by the core or by the app."""
