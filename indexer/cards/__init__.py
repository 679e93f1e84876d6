"""Bytes of one file → its cards and their words, packed as the record of the content."""
