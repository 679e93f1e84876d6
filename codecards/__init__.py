"""Finds the right code in a repository, and keeps the right code in view."""

__version__ = "0.1.0"
