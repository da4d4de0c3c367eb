"""The Why page: the features that put one document above another, exactly."""
