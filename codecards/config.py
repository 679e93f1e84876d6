"""Joins the settings of all packages, and parses them from the environment.

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
    """All settings of one engine; the variable that sets a field is named with it."""

    index: Path | None = None
    """Folder of the index; None for `<root>/.codecards/index`. `CODECARDS_INDEX`."""
    embedder: str = DEFAULT_EMBEDDER
    """"static", "minilm", "none", or "sentence-transformers:" and a folder or name. `CODECARDS_EMBEDDER`."""
    transformer: bool = True
    """Whether transformer vectors are used beside the static ones. `CODECARDS_TRANSFORMER`, "0" for no."""
    reranker: str | None = None
    """Folder of a cross-encoder in sentence-transformers format that reranks the first hits; None for no reranking.
    `CODECARDS_RERANKER`."""
    build: BuildSettings = field(default_factory=BuildSettings)
    n_workers: int | None = None
    """Processes that parse files; None for one a usable core."""
    worker_time_limit_s: float = 60.0
    """Time limit for parsing one file."""
    is_tuned: bool = True
    """Whether a project's tuned weights (`codecards tune --fit`) are used. `CODECARDS_TUNED`, "0" for no."""
    log_file: Path | None = None
    """File that the log is appended to; None for stderr. `CODECARDS_LOG_FILE`."""
    log_level: str = ""
    """"debug", "info", "warning" or "error"; "" means "info" if there is a log file, else no log. `CODECARDS_LOG_LEVEL`."""
    profile: str = DEFAULT_PROFILE
    """Policy of new sessions, see `codecards.router.profiles`; "article" also limits the candidates of a recall.
    `CODECARDS_PROFILE`, else `CONTEXT_MODE_PROFILE`."""
    traces_turns: bool = False
    """Whether each turn of a session is stored with all its inputs, for replay; see `codecards.router.trace`.
    `CODECARDS_TRACE`, "1" for yes."""

    def index_folder(self, root: Path) -> IndexFolder:
        """Return the index folder of a project.

        Raises:
            OutsideProjectError: A link leads out of the project.
        """
        return IndexFolder(self.index or resolve_inside(root, f"{FOLDER_NAME}/index"))


def settings_from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of the variables named in `Settings`; a variable that is missing or empty means the default.

    Args:
        environment: The variables to read; by default those of this process.
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
