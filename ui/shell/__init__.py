"""Parts of every page: head, figures, texts, errors and visitors; it knows neither settings nor runs."""
