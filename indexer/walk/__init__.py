"""Folder → the source files to index, each file left out with its reason."""
