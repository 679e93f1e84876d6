"""A tree and a question → hits, by codecards, its rivals and the simplest baselines."""
