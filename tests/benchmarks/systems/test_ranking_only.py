"""Answers by the ranking alone, on kept indexes."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.sets.queries import LabelledQuery, QuerySource, Span
from benchmarks.systems.ranking_only import RankingOnly
from benchmarks.systems.rivals import RivalUnavailableError

ASKED = LabelledQuery(
    "1", "shop-1", "purge_sessions", "python", "symbol", (), source=QuerySource("owner/shop", "c0ffee")
)


def test_a_kept_index_answers_without_the_tree(tmp_path: Path) -> None:
    asked = {tmp_path / name: [replace(ASKED, tree=name)] for name in ("shop-1", "shop-2")}
    for tree, text in zip(asked, ("def purge_sessions(): ...\n", "\n\ndef purge_sessions(): ...\n"), strict=True):
        tree.mkdir()
        (tree / "store.py").write_text(text, encoding="utf-8")
    words = RankingOnly(has_vectors=False)
    words.prepare(tmp_path / "cache")
    first = list(words.answers(asked, tmp_path, depth=5, repeat=1))
    assert [answer.results[0] for answer in first] == [Span("store.py", 1, 1), Span("store.py", 3, 3)]
    for tree in asked:
        (tree / "store.py").unlink()
    again = list(words.answers(asked, tmp_path, depth=5, repeat=1))
    assert [answer.results for answer in again] == [answer.results for answer in first]


def test_the_ranking_alone_has_no_index_to_be_timed(tmp_path: Path) -> None:
    with pytest.raises(RivalUnavailableError, match="only answers"):
        RankingOnly().index(tmp_path, tmp_path)
