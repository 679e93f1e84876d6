"""Every regular expression that sees text of a repository or a user takes linear time."""

import subprocess
import sys

import pytest

from tests.layout.hostile_patterns import FOLDERS, ROOT


@pytest.mark.parametrize("folder", FOLDERS)
def test_patterns_finish_on_hostile_strings(folder: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.layout.hostile_patterns", folder],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=1800,
    )
    assert (found.stdout, found.returncode) == ("", 0), found.stderr
