"""Long text → short text: digests, excerpts, tool output, summaries, token counts."""
