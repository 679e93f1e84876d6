"""Bytes → text and its encoding; text → text without secrets."""
