"""Pairs of text and code → embedding models."""
