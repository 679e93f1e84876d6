"""Where the command starts: `codecards`, `python -m codecards`.

A hook goes its own, short way: an agent waits for it at each step.
"""

import gc
import os
import sys
import warnings

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    if not os.environ.get("CODECARDS_DEBUG"):
        warnings.simplefilter("ignore")  # of our libraries; PYTHONWARNINGS=error would make each of them an error
    try:
        _run()
    except KeyboardInterrupt:  # before a command could say so
        raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    gc.disable()  # all that is loaded at the start stays: looking for what does not costs a tenth of the start
    if sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv):
        from codecards.agents.hooks import main as run_hook  # noqa: PLC0415

        raise SystemExit(run_hook(sys.argv[2:]))
    from codecards.cli.app import main as run  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
