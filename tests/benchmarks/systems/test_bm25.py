"""The BM25 baseline over whole files."""

from pathlib import Path

import pytest

from benchmarks.sets.queries import LabelledQuery
from benchmarks.systems.bm25 import WordBaseline, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPUrl2", ["parse", "http", "url", "2"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("What is a Store?", ["what", "is", "a", "store"]),
    ],
)
def test_words_are_split_at_case_changes_and_signs(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_the_file_with_the_rare_word_comes_first_and_files_without_any_word_are_missing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def load_file(): read the file\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("def purgeSessions(): read\n", encoding="utf-8")
    (tmp_path / "c.py").write_text("nothing = 1\n", encoding="utf-8")
    query = LabelledQuery("1", "t", "read sessions", "python", "", ())
    (answer,) = WordBaseline().answers({tmp_path: [query]}, depth=10)
    assert [span.path for span in answer.results] == ["b.py", "a.py"]
