"""Glossary: Chinese words and the English ones that code uses for them, from a list of our own and from a repository."""

import importlib.resources
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

FIRST, LATER = 1.0, 0.8
"""How surely the first English name of a word, and each further one, stands for it."""
GLOSSARY_FILE = "glossary.json"

Names = tuple[tuple[str, float], ...]
"""(English word, how surely it stands for the Chinese one, 0 to 1), the surest first; none for a word that says nothing."""
Glossary = Mapping[str, Names]


@lru_cache(maxsize=1)
def programming_terms() -> Glossary:
    """Return the list of programming terms that comes with the package."""
    text = (
        importlib.resources.files("codecards.retrieval.store").joinpath("chinese_terms.txt").read_text(encoding="utf-8")
    )
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {
        chinese: tuple((word, LATER if place else FIRST) for place, word in enumerate(english))
        for chinese, *english in rows
    }


def read_glossary(folder: Path) -> Glossary:
    """Return what was mined from a repository; nothing where it says nothing in both languages.

    Raises:
        OSError: It can't be read.
        ValueError: It is damaged.
    """
    path = folder / GLOSSARY_FILE
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {chinese: tuple((str(word), float(sure)) for word, sure in names) for chinese, names in found.items()}
