"""Packages of the registries → pairs of text and code."""
