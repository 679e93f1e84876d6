"""Definitions and references of all files → resolved call edges."""
