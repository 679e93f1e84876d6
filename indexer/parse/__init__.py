"""Text of one file → facts: definitions, references and imports, by tree-sitter."""
