"""The command `python -m training` says which package is missing."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(["--smoke"], "sentence_transformers"), (["--smoke", "--only", "cards"], "markdown_it")],
)
def test_a_missing_package_is_named(arguments: list[str], missing: str) -> None:
    start = (
        f"import sys; sys.modules[{missing!r}] = None; from training.__main__ import main; sys.exit(main({arguments}))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", start], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert missing in done.stderr
    assert "requirements.txt" in done.stderr
