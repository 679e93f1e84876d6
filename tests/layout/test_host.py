"""codecards works inside a host that has its own `indexer`, `retrieval` and `router`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repo_text import split_files

ROOT = Path(__file__).parents[2]
HOST = """\
#- router.py
NAME = "the host's router"
#- retrieval/__init__.py
NAME = "the host's retrieval"
#- indexer/__init__.py
raise RuntimeError("nobody but the host may import the host's indexer")
#- errors.py
raise RuntimeError("nobody but the host may import the host's errors")
#- shop/login.py
def log_out(user):
    '''End the session of a user.'''
    return user.forget()
#- use_codecards.py
import codecards
import codecards.router.session
from codecards import Engine, Settings

def main():
    with Engine.open("shop", settings=Settings(n_workers=1), build=False) as engine:
        engine.refresh()
        return engine.recall("log_out").hits[0].card.qualified_name
#- host_first.py
import retrieval, router
from use_codecards import main

if __name__ == "__main__":
    print(main(), router.NAME, retrieval.NAME, sep="; ")
#- codecards_first.py
from use_codecards import main

if __name__ == "__main__":
    answer = main()
    import retrieval, router
    print(answer, router.NAME, retrieval.NAME, sep="; ")
"""


@pytest.mark.parametrize("script", ["host_first.py", "codecards_first.py"])
def test_a_host_with_folders_of_the_same_names_keeps_its_own(tmp_path: Path, script: str) -> None:
    for path, source in split_files(HOST).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(source, encoding="utf-8")
    # The script's folder, the host's, comes first on sys.path; this checkout, with its folders at the top, after it.
    ran = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stderr, ran.stdout) == ("", "log_out; the host's router; the host's retrieval\n")
