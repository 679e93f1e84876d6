"""Config: the settings of all rooms together, and the only reader of the environment.

A repository's own files are never read for settings: they belong to whoever wrote the repository.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codecards.environment import process_environment
from codecards.indexer.build.refresh import BuildSettings
from codecards.indexer.index_folder import FOLDER_NAME, IndexFolder
from codecards.indexer.walk.files import resolve_inside
from codecards.router.session_defaults import DEFAULT_PROFILE

DEFAULT_EMBEDDER = "static"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one engine."""

    index: Path | None = None
    """Folder of the index; None for `<root>/.codecards/index`."""
    embedder: str = DEFAULT_EMBEDDER
    """"static", "minilm", "none", or "sentence-transformers:" and a folder or name."""
    transformer: bool = True
    """Whether a transformer's vectors give a second opinion on questions, beside the static embedder."""
    reranker: str | None = None
    """Folder of a cross-encoder in sentence-transformers' format that reads the first hits again; None for none."""
    build: BuildSettings = field(default_factory=BuildSettings)
    n_workers: int | None = None
    """Processes that read files; None for one a usable core."""
    worker_time_limit_s: float = 60.0
    is_tuned: bool = True
    """Whether the weights that `codecards tune --fit` found for a project are used there."""
    log_file: Path | None = None
    """Where the log goes; None for stderr."""
    log_level: str = ""
    """"debug", "info", "warning", "error"; "" logs "info" to the file, if one is named, and else nothing."""
    profile: str = DEFAULT_PROFILE
    """Policy of new sessions: see `codecards.router.profiles`; "article" also takes its numbers of candidates for recall."""
    traces_turns: bool = False
    """Whether each turn of a session is kept with all that made it, for replay; see `codecards.router.trace`."""

    def index_folder(self, root: Path) -> IndexFolder:
        """Return where the index of a project lies.

        Raises:
            OutsideProjectError: A link leads its place out of the project.
        """
        return IndexFolder(self.index or resolve_inside(root, f"{FOLDER_NAME}/index"))


def settings_from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that the variables `CODECARDS_…` give, else the defaults.

    They are `CODECARDS_INDEX`, `_EMBEDDER`, `_TRANSFORMER` ("0" for none), `_RERANKER`, `_PROFILE`, `_LOG_FILE`, `_LOG_LEVEL`, `_TRACE` ("1" traces
    turns) and `_TUNED` ("0" takes the default weights everywhere); the article's own `CONTEXT_MODE_PROFILE` stands for a
    missing `CODECARDS_PROFILE`.
    """
    values = process_environment() if environment is None else environment
    return Settings(
        index=_path(values.get("CODECARDS_INDEX")),
        embedder=values.get("CODECARDS_EMBEDDER") or DEFAULT_EMBEDDER,
        reranker=values.get("CODECARDS_RERANKER") or None,
        log_file=_path(values.get("CODECARDS_LOG_FILE")),
        log_level=values.get("CODECARDS_LOG_LEVEL", ""),
        profile=values.get("CODECARDS_PROFILE") or values.get("CONTEXT_MODE_PROFILE") or DEFAULT_PROFILE,
        transformer=not _is_off(values.get("CODECARDS_TRANSFORMER", "")),
        is_tuned=not _is_off(values.get("CODECARDS_TUNED", "")),
        traces_turns=values.get("CODECARDS_TRACE", "").lower() in ("1", "true", "yes", "on"),
    )


def _is_off(text: str) -> bool:
    return text.lower() in ("0", "false", "no", "off")


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
