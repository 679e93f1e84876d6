"""Default set."""

from pathlib import Path

DEFAULT_SET = "default-set"


def build_default_set(cache: Path) -> Path:
    raise NotImplementedError
