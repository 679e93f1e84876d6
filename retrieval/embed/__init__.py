"""Text → vectors: the embedding models, their files, and the text of a card that they read."""
