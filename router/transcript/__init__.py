"""The messages of one request to a model → shorter messages that say the same, with a stable beginning."""
