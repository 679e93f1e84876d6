"""Config: the settings of all rooms together, and the only reader of the environment.

A repository's own files are never read for settings: they belong to whoever wrote the repository.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codecards.indexer.build import BuildSettings
from codecards.indexer.index_folder import FOLDER_NAME, IndexFolder

DEFAULT_EMBEDDER = "static"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one engine."""

    index: Path | None = None
    """Folder of the index; None for `<root>/.codecards/index`."""
    embedder: str = DEFAULT_EMBEDDER
    """"static", "minilm", "none", or "sentence-transformers:" and a folder or name."""
    reranker: str | None = None
    """Folder of a cross-encoder in sentence-transformers' format that reads the first hits again; None for none."""
    build: BuildSettings = field(default_factory=BuildSettings)
    n_workers: int | None = None
    """Processes that read files; None for one a usable core."""
    worker_time_limit_s: float = 60.0

    def index_folder(self, root: Path) -> IndexFolder:
        """Return where the index of a project lies."""
        return IndexFolder(self.index or root / FOLDER_NAME / "index")


def settings_from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that `CODECARDS_INDEX`, `_EMBEDDER` and `_RERANKER` name, else the defaults."""
    values = os.environ if environment is None else environment
    index = values.get("CODECARDS_INDEX")
    return Settings(
        index=Path(index).expanduser().absolute() if index else None,
        embedder=values.get("CODECARDS_EMBEDDER") or DEFAULT_EMBEDDER,
        reranker=values.get("CODECARDS_RERANKER") or None,
    )
