"""A root folder → one open index: built, refreshed, read and closed."""
