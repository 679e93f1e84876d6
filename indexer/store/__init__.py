"""Generations of facts, cards and edges ↔ SQLite."""
