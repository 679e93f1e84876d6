"""Card texts → vectors on disk; query vector → similarities of cards."""
