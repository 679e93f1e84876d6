"""An exact text or a regular expression → the contents that may hold it, by signatures of their trigrams."""
