"""Joins the settings of all packages, and parses them from the environment.

A repository's own files are never read for settings: they belong to whoever wrote the repository.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from codecards.environment import DEBUG_VARIABLE, OFF, ON, process_environment
from codecards.errors import UsageError
from codecards.indexer.build.refresh import BuildSettings
from codecards.indexer.index_folder import FOLDER_NAME, IndexFolder
from codecards.indexer.walk.files import DiscoverySettings, resolve_inside
from codecards.retrieval.embed.embedder import check_spec
from codecards.router.session_defaults import DEFAULT_PROFILE, check_profile

DEFAULT_EMBEDDER = "static"
MAX_WAIT_S = 3600.0
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
    "CODECARDS_FILE_TIME_LIMIT_S": "",
    "CODECARDS_FIRST_ANSWER_WAIT_S": "",
    "CODECARDS_INDEX_SECRETS": "",
    "CODECARDS_MAX_FILE_BYTES": "--max-file-bytes",
    "CODECARDS_MAX_KEPT_MB": "",
    "CODECARDS_MAX_OPEN_PROJECTS": "",
    "CODECARDS_MEMORY_MB": "",
    "CODECARDS_WORKERS": "",
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
    """Processes that parse files; None for one a usable core. `CODECARDS_WORKERS`."""
    worker_time_limit_s: float = 60.0
    """Time limit for parsing one file. `CODECARDS_FILE_TIME_LIMIT_S`."""
    memory_mb: int | None = None
    """Memory that an index run plans with, in MiB: it starts fewer processes for less; None for no limit.
    `CODECARDS_MEMORY_MB`."""
    first_answer_wait_s: float = 2.0
    """How long the first `recall` waits for an index that is being built. `CODECARDS_FIRST_ANSWER_WAIT_S`."""
    max_open_projects: int = 200
    """Projects that a process holds open at a time; those asked least recently are closed, and opened again when asked.
    `CODECARDS_MAX_OPEN_PROJECTS`."""
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
    default = Settings()
    return Settings(
        index=_path(values.get("CODECARDS_INDEX")),
        embedder=values.get("CODECARDS_EMBEDDER") or DEFAULT_EMBEDDER,
        reranker=values.get("CODECARDS_RERANKER") or None,
        log_file=_path(values.get("CODECARDS_LOG_FILE")),
        log_level=values.get("CODECARDS_LOG_LEVEL", ""),
        profile=values.get("CODECARDS_PROFILE") or values.get("CONTEXT_MODE_PROFILE") or DEFAULT_PROFILE,
        transformer=_switch(values, "CODECARDS_TRANSFORMER", default=True),
        is_tuned=_switch(values, "CODECARDS_TUNED", default=True),
        build=_build_settings(values),
        n_workers=_number(values, "CODECARDS_WORKERS", None, at_least=1),
        worker_time_limit_s=_number(values, "CODECARDS_FILE_TIME_LIMIT_S", 60, at_least=1),
        memory_mb=_number(values, "CODECARDS_MEMORY_MB", None, at_least=256),
        first_answer_wait_s=_seconds(values, "CODECARDS_FIRST_ANSWER_WAIT_S", default.first_answer_wait_s),
        max_open_projects=_number(values, "CODECARDS_MAX_OPEN_PROJECTS", default.max_open_projects, at_least=1),
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


def _build_settings(values: Mapping[str, str]) -> BuildSettings:
    files = DiscoverySettings()
    kept_mb = _number(values, "CODECARDS_MAX_KEPT_MB", None, at_least=0)
    return BuildSettings(
        discovery=DiscoverySettings(
            max_file_bytes=_number(values, "CODECARDS_MAX_FILE_BYTES", files.max_file_bytes, at_least=1),
            index_secrets=values.get("CODECARDS_INDEX_SECRETS", "").lower() in ("1", "true", "yes", "on"),
        ),
        max_kept_bytes=None if kept_mb is None else kept_mb << 20,
    )


Default = TypeVar("Default", int, None)


def _number(values: Mapping[str, str], name: str, default: Default, *, at_least: int) -> int | Default:
    """Return a whole number.

    Raises:
        UsageError: The value is none, or too small.
    """
    text = values.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < at_least:
        raise UsageError(f"{name}={text!r} is not a whole number from {at_least:,} up")
    return int(text)


def _seconds(values: Mapping[str, str], name: str, default: float) -> float:
    """Return a number of seconds.

    Raises:
        UsageError: The value is none, or negative.
    """
    text = values.get(name, "").strip()
    try:
        seconds = float(text) if text else default
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < MAX_WAIT_S:
        raise UsageError(f"{name}={text!r} is not a number of seconds from 0 to {MAX_WAIT_S:.0f}")
    return seconds


def _is_off(text: str) -> bool:
    return text.lower() in ("0", "false", "no", "off")


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
