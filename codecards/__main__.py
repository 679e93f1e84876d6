"""Where the command starts: `codecards`, `python -m codecards`."""

import gc


def main() -> None:
    """Run the command line."""
    gc.disable()  # all that is loaded at the start stays: looking for what does not costs a tenth of the start
    from codecards.cli import main as run  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
