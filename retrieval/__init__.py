"""A question → ranked hits, from the words, names, paths, calls and vectors of an index."""
