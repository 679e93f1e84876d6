"""Scripts that run in the rivals' own environments."""
