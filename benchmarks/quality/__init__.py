"""Rankings and labels → quality figures."""
