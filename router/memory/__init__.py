"""The state of a session: working memory, ledger and window, in memory and on disk."""
