"""Command line → calls of the engine → text or JSON."""
