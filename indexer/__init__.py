"""Repository on disk → cards, symbols and a call graph, stored in a snapshot."""
