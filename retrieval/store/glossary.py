"""Chinese words and the English words that code uses for them, from a built-in list and mined from a repository."""

import importlib.resources
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

FIRST, LATER = 1.0, 0.8
"""Strength of a word's first English name, and of each further one."""
GLOSSARY_FILE = "glossary.json"

Names = tuple[tuple[str, float], ...]
"""(English word, strength from 0 to 1), strongest first; empty for a word without meaning in code."""
Glossary = Mapping[str, Names]


@lru_cache(maxsize=1)
def programming_terms() -> Glossary:
    """Return the built-in list of programming terms."""
    text = (
        importlib.resources.files("codecards.retrieval.store").joinpath("chinese_terms.txt").read_text(encoding="utf-8")
    )
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {
        chinese: tuple((word, LATER if place else FIRST) for place, word in enumerate(english))
        for chinese, *english in rows
    }


def read_glossary(folder: Path) -> Glossary:
    """Return the glossary that was mined from a repository; empty if the repository is not bilingual.

    Raises:
        OSError: The file can't be read.
        ValueError: The file is damaged.
    """
    path = folder / GLOSSARY_FILE
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {chinese: tuple((str(word), float(sure)) for word, sure in names) for chinese, names in found.items()}
