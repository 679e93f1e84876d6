"""The blocks of docs/library.md run as they are written, and print what stands under them."""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.indexed import write_repository

LIBRARY = Path(__file__).parents[2] / "docs" / "library.md"
PROJECT = """\
#- src/auth/token.py
'''Login tokens.'''

TIMEOUT_S = 900


class TokenStore:
    '''Keeps login tokens.'''

    def is_expired(self, token, now):
        '''Handle the login timeout: return whether a token is too old.'''
        return now - token.issued > TIMEOUT_S

    def add(self, token):
        '''Keep a token.'''
        self.tokens.append(token)
#- src/auth/login.py
from auth.token import TokenStore


def log_in(token, now):
    '''Let a user in who has a token.'''
    store = TokenStore()
    if store.is_expired(token, now):
        raise PermissionError('log in again')
    store.add(token)
#- tests/test_token.py
from auth.token import TokenStore


def test_expiry():
    assert TokenStore().is_expired is not None
"""


@dataclass(frozen=True)
class Block:
    """One block of Python, and what it should print."""

    line: int
    source: str
    printed: str | None


def blocks_of(text: str) -> list[Block]:
    """Return the Python blocks of a Markdown text, in order."""
    pattern = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
    return [Block(text.count("\n", 0, found.start()) + 2, found[1], found[2]) for found in pattern.finditer(text)]


@pytest.mark.seed("S1-3", "S1-17", "S1-18", "S4-1")
def test_the_blocks_run_and_print_what_stands_under_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is missing: pip install 'codecards[langchain]'")
    pytest.importorskip("llama_index.core", reason="llama-index-core is missing: pip install 'codecards[llama-index]'")
    write_repository(tmp_path / "path/to/repo", PROJECT)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "library"}
    blocks = blocks_of(LIBRARY.read_text(encoding="utf-8"))
    assert len(blocks) > 10
    for block in blocks:
        output = io.StringIO()
        # Padded with empty lines, so that a traceback names the line of the document.
        code = compile("\n" * (block.line - 1) + block.source, str(LIBRARY), "exec")
        with contextlib.redirect_stdout(output):
            exec(code, names)
        assert output.getvalue() == (block.printed or ""), f"docs/library.md:{block.line}"
