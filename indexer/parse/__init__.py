"""One file's text → facts: definitions, references and imports, from tree-sitter."""
