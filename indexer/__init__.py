"""The rooms of `codecards.indexer`: a repository becomes cards, symbols, a call graph and a snapshot."""
