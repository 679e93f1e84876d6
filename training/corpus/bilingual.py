"""Reads pairs of Chinese and English texts from the translations that packages ship."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from codecards.indexer.cards.embedded_text import split_identifiers
from training.corpus.registries import Source, archives, read_files

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_TYPESCRIPT = "zh-cn/diagnosticMessages.generated.json"
_PLACEHOLDER = re.compile(r"\{\w*\}|%\(\w+\)s|%[sdf\d]|&|<[^>]{0,40}>")


def bilingual_texts(source: Source, folder: Path) -> list[tuple[str, str]]:
    """Return the distinct (Chinese, English) texts of one downloaded package."""
    found: dict[str, str] = {}
    for archive in archives(source, folder):
        for path, text in read_files(archive, frozenset({".json"})):
            if path.endswith(_TYPESCRIPT):
                messages = json.loads(text).items()
                # The keys are the English messages in snake case, with their number at the end.
                found.update((chinese, re.sub(r"_\d+$", "", key).replace("_", " ")) for key, chinese in messages)
            elif "zh_CN" in path and "LC_MESSAGES" in path:
                found.update(_jupyter_messages(text))
    return [
        (_PLACEHOLDER.sub(" ", chinese), split_identifiers(_PLACEHOLDER.sub(" ", english)))
        for chinese, english in found.items()
        if _CHINESE.search(chinese) and 2 <= len(english) <= 300
    ]


def _jupyter_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of one file of a JupyterLab language pack (Jed format: English → [Chinese])."""
    for english, chinese in json.loads(text).items():
        if english and isinstance(chinese, list) and chinese and isinstance(chinese[0], str):
            yield chinese[0], english.rpartition("\u0004")[2]
