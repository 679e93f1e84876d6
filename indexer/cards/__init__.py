"""One file's bytes → its cards with their words, packed as the record of its content."""
