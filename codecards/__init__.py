"""Finds the right code in a repository, and keeps the right code in view.

Public names are imported on first use, so that `import codecards` costs next to nothing.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codecards.answers import FoundCard, Recall
    from codecards.async_engine import AsyncEngine, AsyncSession
    from codecards.config import Settings
    from codecards.edit.editor import Editor
    from codecards.engine import Engine
    from codecards.errors import CodecardsError
    from codecards.indexer.build.refresh import IndexReport
    from codecards.indexer.cards.card import Card
    from codecards.router.assemble.context import Context
    from codecards.router.compress.summaries import SummariserConfig
    from codecards.router.memory.operations import ToolCall
    from codecards.router.notes.note import Note
    from codecards.router.session import Session

__version__ = "0.1.0"
__all__ = [
    "AsyncEngine",
    "AsyncSession",
    "Card",
    "CodecardsError",
    "Context",
    "Editor",
    "Engine",
    "FoundCard",
    "IndexReport",
    "Note",
    "Recall",
    "Session",
    "Settings",
    "SummariserConfig",
    "ToolCall",
]

# Without a handler, the warnings of this library would go to the stderr of its host.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_modules = {
    "AsyncEngine": "codecards.async_engine",
    "AsyncSession": "codecards.async_engine",
    "Card": "codecards.indexer.cards.card",
    "CodecardsError": "codecards.errors",
    "Context": "codecards.router.assemble.context",
    "Editor": "codecards.edit.editor",
    "Engine": "codecards.engine",
    "FoundCard": "codecards.answers",
    "IndexReport": "codecards.indexer.build.refresh",
    "Note": "codecards.router.notes.note",
    "Recall": "codecards.answers",
    "Session": "codecards.router.session",
    "Settings": "codecards.config",
    "SummariserConfig": "codecards.router.compress.summaries",
    "ToolCall": "codecards.router.memory.operations",
}


def __getattr__(name: str) -> object:
    """Import a public name."""
    if name not in _modules:
        raise AttributeError(f"module 'codecards' has no attribute {name!r}")
    return getattr(import_module(_modules[name]), name)
