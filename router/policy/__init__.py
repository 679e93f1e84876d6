"""Signals of a turn → decisions: which file moves between full and digest, and when."""
