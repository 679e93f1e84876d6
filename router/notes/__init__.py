"""Conclusions → notes in Markdown that later sessions find again."""
