"""Digests of files and folders, and memos by purpose."""

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.router.compress.digests import OutlineDigester, digest_tree, fit_digest, memo_for
from codecards.router.compress.summaries import Summariser, SummariserConfig, Summary
from codecards.router.compress.token_count import estimate_tokens

SOURCE = '''import json
from shop.store import TokenStore

MAX_AGE_S = 60

class Session:
    """A session."""

    def purge(self, now: float) -> int:
        # NOTE: the lock is held by the caller
        return self.store.purge(now - MAX_AGE_S)

def export_csv(users):
    writer = stream_writer()
    return writer
'''


@pytest.mark.seed("S2-30")
def test_a_digest_has_dependencies_signatures_and_important_comments() -> None:
    digest = OutlineDigester().digest("a.py", SOURCE)
    for part in ("TokenStore", "MAX_AGE_S", "class Session", "9:     def purge", "NOTE: the lock", "def export_csv"):
        assert part in digest
    assert "stream_writer" not in digest


@pytest.mark.seed("S2-31")
def test_a_long_digest_loses_its_inner_lines_first() -> None:
    digest = OutlineDigester().digest("a.py", SOURCE)
    shorter = fit_digest(digest, estimate_tokens(digest) - 5)
    assert "class Session" in shorter
    assert "def purge" not in shorter
    assert "inner lines left out" in shorter


@pytest.mark.seed("S2-31")
def test_a_tree_of_digests_collapses_the_deepest_folder_first() -> None:
    digests = {f"src/deep/er/f{number}.py": "def f(): ...\n" * 9 for number in range(9)} | {"src/a.py": "def a(): ..."}
    text = digest_tree(digests, 120)
    assert "src/deep/er/: 9 files: f0.py" in text
    assert "def a(): ..." in text
    assert digest_tree({"src/a.py": "def a(): ..."}, 120) == "src/a.py\ndef a(): ..."


@for_all(st.dictionaries(st.text("ab/", min_size=1, max_size=8), st.text(max_size=60), max_size=8), st.integers(1, 60))
def test_a_tree_of_digests_fits_its_budget(digests: dict[str, str], budget: int) -> None:
    assert estimate_tokens(digest_tree(digests, budget)) <= budget


@pytest.mark.seed("S0-31", "S0-33")
def test_a_memo_is_chosen_by_the_purpose() -> None:
    csv, purge = (
        memo_for(SOURCE, purpose, 30).words for purpose in ("how users are exported as csv", "when sessions are purged")
    )
    assert "13: def export_csv(users):" in csv
    assert "def purge" not in csv
    assert "def purge" in purge


def test_a_summary_is_the_memo_unless_it_is_too_long() -> None:
    short, long = (SummariserConfig(constantly(words)) for words in ("short", "path_validator " * 70))
    assert memo_for(SOURCE * 9, "x", 30, summariser=short) == Summary("short")
    found = memo_for(SOURCE * 9, "x", 60, summariser=long)
    assert "# NOTE: the lock" in found.words
    assert "60 were allowed" in found.notice


def constantly(words: str) -> Summariser:
    return lambda _text, _tokens: words
