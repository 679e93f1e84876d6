"""Command groups: errors become messages and exit codes, and a command's module is imported when the command is called."""

import gc
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar

import click
import typer
from typer.core import TyperGroup
from typer.main import get_group

from codecards.cli.messages import print_message
from codecards.environment import is_debug
from codecards.errors import INTERRUPTED, CodecardsError

logger = logging.getLogger(__name__)


def command_module(name: str | None = None, summary: str | None = None) -> typer.Typer:
    """Return the container of a module's commands.

    Args:
        name: The name of the group if the commands form one, such as "note".
        summary: The help of that group.
    """
    return typer.Typer(
        name=name, help=summary, cls=CommandGroup, no_args_is_help=name is not None, rich_markup_mode=None
    )


@contextmanager
def without_collection() -> Iterator[None]:
    """Import modules without garbage collection, which would cost a tenth of the start: modules stay loaded."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class CommandGroup(TyperGroup):
    """Turns errors into messages and exit codes; users never see a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command."""
        try:
            return super().invoke(ctx)
        except CodecardsError as error:
            logger.error("command failed", extra={"kind": type(error).__name__, "detail": str(error)})
            print_message(str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print_message("interrupted; the index is unharmed")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (typer.Exit, typer.Abort, click.ClickException):
            raise  # commands end this way on purpose
        except OSError as error:
            if is_debug():
                raise
            logger.exception("system error")
            place = f" ({error.filename})" if error.filename else ""
            print_message(f"system error: {error.strerror or error}{place}; the index is unharmed")
            raise typer.Exit(3) from None
        except Exception as error:
            if is_debug():
                raise
            logger.exception("internal error")
            print_message(
                f"internal error: {type(error).__name__}: {error}; set CODECARDS_DEBUG=1 to see the traceback"
            )
            raise typer.Exit(3) from None


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command whose module is imported when it is called."""

    module: str
    """The module; its `app` has the command, or is the group of that name."""
    summary: str
    """The first line of the command's help, so that the list of commands needs no import."""
    hidden: bool = False


class LazyCommandGroup(CommandGroup):
    """A group whose commands are imported one module at a time."""

    lazy_commands: ClassVar[Mapping[str, LazyCommand]]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        del ctx
        return list(self.lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command; None if there is no such command."""
        command = self.lazy_commands.get(cmd_name)
        if command is None:
            return None
        with without_collection():
            group = get_group(import_module(command.module).app)
        return group if group.name == cmd_name else group.get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; the error for an unknown one suggests similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.lazy_commands)
            if near:
                raise click.UsageError(f"{error.message} Did you mean {' or '.join(map(repr, near))}?", ctx) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        del ctx
        rows = [(name, command.summary) for name, command in self.lazy_commands.items() if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
