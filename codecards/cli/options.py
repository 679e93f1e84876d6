"""The options that all commands share, and the options given before the command."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from codecards.config import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Refresh = Annotated[bool, typer.Option("--refresh/--no-refresh", help="Index changed files first.")]


@dataclass(frozen=True, slots=True)
class CliOptions:
    """The options given before the command; every command finds them in `typer.Context.obj`."""

    projects: tuple[Path, ...] = ()
    """Folders named with `-C`. Only `mcp` serves all of them; the other commands use the last."""
    settings: Settings = field(default_factory=Settings)

    @property
    def project(self) -> Path | None:
        """The folder named last; None without `-C`."""
        return self.projects[-1] if self.projects else None

    def with_settings(self, settings: Settings) -> "CliOptions":
        """Return the options with other settings."""
        return replace(self, settings=settings)
