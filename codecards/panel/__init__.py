"""A session's files → read-only pages on loopback."""
