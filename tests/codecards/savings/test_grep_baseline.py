"""The baseline greps for the words, reads the best files and stops at a right one."""

from pathlib import Path

import pytest

from codecards.savings.grep_baseline import MAX_READS, Corpus, read_corpus


def words(text: str) -> int:
    return len(text.split())


TEXTS = {
    "common.py": "token " * 10,
    "purge.py": "def purge ( token )\n" + "line\n" * 30 + "expired token purge here\n",
    "other.py": "expired " * 3,
    "far.py": "nothing",
}


def test_the_file_with_the_rarest_words_is_read_first_and_reading_stops_there() -> None:
    found = Corpus(TEXTS, words).grep_and_read(["purge", "token", "expired"], ["purge.py"], 2000)
    assert (found.paths, found.found) == (("purge.py",), True)
    assert found.read_tokens == words(TEXTS["purge.py"])
    assert found.grep_tokens == words("grep -rciE 'purge|expired|token' .") + 3


def test_files_read_before_the_right_one_count() -> None:
    found = Corpus(TEXTS, words).grep_and_read(["purge", "token", "expired"], ["common.py"], 2000)
    assert found.found
    assert found.paths[-1] == "common.py"
    assert found.read_tokens == sum(words(TEXTS[path]) for path in found.paths)


def test_if_grep_does_not_find_the_right_file_it_is_read_in_the_end() -> None:
    found = Corpus(TEXTS, words).grep_and_read(["purge"], ["far.py"], 2000)
    assert (found.paths, found.found) == (("purge.py",), False)
    assert found.read_tokens == words(TEXTS["purge.py"]) + words(TEXTS["far.py"])


def test_a_thrifty_reader_reads_around_the_best_line() -> None:
    corpus = Corpus(TEXTS, words)
    found = corpus.grep_and_read(["purge", "token", "expired"], ["purge.py"], 3)
    assert found.read_tokens == words("line\nexpired token purge here\n")
    assert corpus.read_tokens("purge.py", 1, 3) == words("def purge ( token )\nline\nline")


def test_no_more_than_a_few_files_are_read() -> None:
    corpus = Corpus({f"{n}.py": "word" for n in range(50)}, words)
    assert len(corpus.grep_and_read(["word"], ["none.py"], 2000).paths) == MAX_READS


@pytest.mark.parametrize("asked", [[], ["", " "], ["absent"]])
def test_words_that_no_file_holds_find_nothing(asked: list[str]) -> None:
    found = Corpus(TEXTS, words).grep_and_read(asked, ["gone.py"], 2000)
    assert (found.paths, found.read_tokens, found.found) == ((), 0, False)


def test_files_are_read_from_disk_and_missing_ones_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x\xff")
    assert read_corpus(tmp_path, ["a.py", "gone.py", "."]).texts == {"a.py": "x\ufffd"}
