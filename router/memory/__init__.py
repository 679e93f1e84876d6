"""The state of a session: working memory, window and ledgers, in memory and on disk."""
