"""Packages from registries → pairs of text and code."""
