"""Starts the command line of the benchmarks; says which package is missing where one is.

The commands are in `benchmarks.commands`, which is loaded late: it already needs packages that codecards itself does not.
"""

import sys
from importlib import import_module

PACKAGES = {"typer": "codecards", "codecards": "codecards", "psutil": "psutil", "polib": "polib"}
"""Module -> the package that has it, for all that the benchmarks import and a checkout may lack."""


def main() -> None:
    """Run a command; exit with 3 if a package is missing."""
    try:
        import_module("benchmarks.commands").app()
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in PACKAGES:
            raise
        print(
            f"The package {PACKAGES[module]!r} is not installed, and this benchmark needs it. Run `make bench-setup`, which"
            " installs all that the benchmarks need into .venv, and start them with .venv/bin/python.",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
