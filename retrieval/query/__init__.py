"""A question's text → a parsed query: terms, intent, stack frames, diff hunks."""
