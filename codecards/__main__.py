"""The entry point of `codecards` and `python -m codecards`.

Hooks take a shorter path than other commands, because an agent waits for them at each step.
"""

import gc
import sys
import warnings

from codecards.environment import is_debug
from codecards.errors import INTERRUPTED


def main() -> None:
    """Run the command line."""
    if not is_debug():
        warnings.simplefilter("ignore")  # from libraries; PYTHONWARNINGS=error would turn each into an error
    try:
        _run()
    except KeyboardInterrupt:  # before the command line can report it
        raise SystemExit(INTERRUPTED) from None


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
