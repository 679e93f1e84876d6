"""The rooms of `codecards.router`: hits and turns become working memory, and this the context of a turn."""
