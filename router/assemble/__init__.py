"""Working memory and budget → the context of a turn, with the outcome of each item."""
