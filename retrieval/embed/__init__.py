"""Text → unit vectors, by the embedding models that ship with the package or lie on disk."""
