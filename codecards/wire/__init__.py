"""Answers and sessions → JSON shapes."""
