"""Joins the settings of all packages, and parses them from the environment.

A repository's own files are never read for settings: they belong to whoever wrote the repository.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from codecards.environment import DEBUG_VARIABLE, OFF, ON, process_environment
from codecards.errors import UsageError
from codecards.indexer.build.refresh import BuildSettings
from codecards.indexer.index_folder import FOLDER_NAME, IndexFolder
from codecards.indexer.walk.files import resolve_inside
from codecards.retrieval.embed.embedder import check_spec
from codecards.router.session_defaults import DEFAULT_PROFILE, check_profile

DEFAULT_EMBEDDER = "static"
VARIABLES: Mapping[str, str] = {
    "CODECARDS_INDEX": "--index",
    "CODECARDS_EMBEDDER": "index --embedder",
    "CODECARDS_TRANSFORMER": "",
    "CODECARDS_RERANKER": "recall --reranker",
    "CODECARDS_PROFILE": "--profile",
    "CODECARDS_TUNED": "",
    "CODECARDS_LOG_LEVEL": "--log-level",
    "CODECARDS_LOG_FILE": "--log-file",
    "CODECARDS_TRACE": "",
    DEBUG_VARIABLE: "",
    "CODECARDS_TARGET_TOKENS": "",
}
"""Each variable with the option that takes precedence over it, "" if there is none. The last one is set for summarisers."""


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

    def __post_init__(self) -> None:
        """Check the values that are names.

        Raises:
            UsageError: There is no such embedder, reranker or profile.
        """
        check_spec(self.embedder)
        check_profile(self.profile)
        if self.reranker is not None and not Path(self.reranker).is_dir():
            raise UsageError(
                f"There is no reranker {self.reranker!r}; give a folder with a cross-encoder in the format of"
                " sentence-transformers."
            )

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

    Raises:
        UsageError: A variable has a value that it can't have.
    """
    values = process_environment() if environment is None else environment
    return Settings(
        index=_path(values.get("CODECARDS_INDEX")),
        embedder=values.get("CODECARDS_EMBEDDER") or DEFAULT_EMBEDDER,
        reranker=values.get("CODECARDS_RERANKER") or None,
        log_file=_path(values.get("CODECARDS_LOG_FILE")),
        log_level=values.get("CODECARDS_LOG_LEVEL", ""),
        profile=values.get("CODECARDS_PROFILE") or values.get("CONTEXT_MODE_PROFILE") or DEFAULT_PROFILE,
        transformer=_switch(values, "CODECARDS_TRANSFORMER", default=True),
        is_tuned=_switch(values, "CODECARDS_TUNED", default=True),
        traces_turns=_switch(values, "CODECARDS_TRACE", default=False),
    )


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence for each variable that looks like ours and does nothing, such as a misspelt one.

    Args:
        environment: The variables to read; by default those of this process.
    """
    values = process_environment() if environment is None else environment
    unknown = sorted(name for name in values if name.startswith("CODECARDS_") and name not in VARIABLES)
    near = {name: get_close_matches(name, VARIABLES, 1) for name in unknown}
    return [
        f"the variable {name} does nothing" + (f"; did you mean {near[name][0]}?" if near[name] else "")
        for name in unknown
    ]


def _switch(values: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = values.get(name, "").strip().lower()
    if not text:
        return default
    if text not in ON and text not in OFF:
        raise UsageError(f"{name}={values[name]} is neither on nor off; use 1 or 0")
    return text in ON


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
