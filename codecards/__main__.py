"""The entry point of `codecards` and `python -m codecards`.

Hooks take a shorter path than other commands, because an agent waits for them at each step.
"""

import gc
import os
import sys
import warnings

from codecards.environment import is_debug
from codecards.errors import INTERRUPTED


def main() -> None:
    """Run the command line."""
    if not is_debug():
        warnings.simplefilter("ignore")  # from libraries; PYTHONWARNINGS=error would turn each into an error
    _open_missing_streams()
    try:
        _run()
    except KeyboardInterrupt:  # before the command line can report it
        raise SystemExit(INTERRUPTED) from None


def _open_missing_streams() -> None:
    """Lead standard streams that are closed to the null device: a file opened later would take their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115 - stays open to the end


def _run() -> None:
    gc.disable()  # everything loaded at the start is kept, so collecting then only costs: a tenth of the start-up
    if sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv):
        from codecards.agents.hooks import main as run_hook

        raise SystemExit(run_hook(sys.argv[2:]))
    from codecards.cli.app import main as run

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
