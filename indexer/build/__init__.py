"""Changed files → a new committed generation of the index."""
