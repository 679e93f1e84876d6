"""Signals → ranked hits with their verdict, explanations and suggestions."""
