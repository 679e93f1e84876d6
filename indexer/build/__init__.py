"""Repository on disk → a committed generation: what changed is found, read in workers, linked and written."""
