"""Bytes → text with its encoding, and text → text without secrets."""
