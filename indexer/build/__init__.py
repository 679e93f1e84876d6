"""Repository on disk → a committed generation: finds what changed, reads it in workers, links and writes it."""
