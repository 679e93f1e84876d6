"""Draws docs/session.svg: a terminal session in which the real command line answers questions about a real package.

`python -m benchmarks.report.terminal_svg` copies the installed sources of httpx to a temporary folder, runs `COMMANDS` there and
records what they print. Run it again after a change of the output; the time of the index run is that of the machine.
"""

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import files, version
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parents[2] / "docs" / "session.svg"
PACKAGE = "httpx"
COMMANDS = (
    "codecards index",
    'codecards recall "where is the proxy read from the environment" --limit 2',
    "codecards callers get_environment_proxies",
    "codecards similar httpx/_decoders.py:95 --limit 2",
)
"""The lines that are typed."""
WIDTH = 104
"""Columns of the terminal."""
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own frame without its web font: a page that shows the picture loads nothing from elsewhere."""


def copy_package(name: str, folder: Path) -> Path:
    """Copy the Python sources of an installed package into a folder; return the folder that holds them."""
    project = folder / f"{name}-{version(name)}"
    for file in files(name) or ():
        if file.suffix == ".py":
            target = project / str(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)
    return project


def run_command(line: str, project: Path) -> str:
    """Return what a command line prints, with the escapes of a terminal.

    Raises:
        subprocess.CalledProcessError: The command failed.
    """
    _, *arguments = shlex.split(line)
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "codecards", *arguments]
    run = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    return run.stdout


def draw_session(project: Path) -> str:
    """Return the session as an SVG document."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (line, "bold")))
        console.print(Text.from_ansi(run_command(line, project).rstrip()))
    return console.export_svg(title=f"{project.name} — codecards", theme=MONOKAI, code_format=SVG, unique_id="session")


def main() -> int:
    """Draw the picture and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="codecards-session-") as folder:
        project = copy_package(PACKAGE, Path(folder))
        (project / ".codecards").mkdir()
        PICTURE.write_text(draw_session(project), encoding="utf-8")
    sys.stdout.write(f"{PICTURE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
