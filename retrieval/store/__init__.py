"""The derived index on disk: columns, postings, names and glossary, written and read."""
