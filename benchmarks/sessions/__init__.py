"""Recorded sessions and context policies → what each policy keeps in view, and its cost."""
