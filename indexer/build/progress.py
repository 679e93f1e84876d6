"""The callback that reports the progress of a refresh."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
"""Called with (stage, number of items done, number of items in all)."""
