"""Postings of words in the candidate files."""

from collections.abc import Sequence

import numpy as np
import pytest

from codecards.retrieval.evidence.text import find_postings
from tests.support.indexed_text import IndexedText, indexed

REPOSITORY = """
#- a.py
def read_token(store):
    return store.token

def write_token(store, token):
    store.token = token
#- b.py
def expire(store):
    store.clear()
#- c.py
class Queue:
    def token(self):
        return self.first
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    return indexed(tmp_path_factory.mktemp("index"), REPOSITORY)


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("queue",), (0, 1, 2)),
        (("token",), (0, 2)),
        (("token", "store", "expir"), (1,)),
        (("token", "store", "def", "return", "self"), (0, 1)),
        (("token",), ()),
        ((), (0, 1)),
    ],
)
def test_rare_and_common_words_are_found_in_the_given_files(
    repository: IndexedText, words: Sequence[str], files: Sequence[int]
) -> None:
    index = repository.index
    columns = index.columns
    word_ids = np.array(sorted(index.vocabulary.find(word) for word in words), np.uint32)
    found = find_postings(index, np.array(files, np.int64), word_ids)
    expected = [
        (place, card, word, columns.entry_counts[entry].tolist())
        for place, file in enumerate(files)
        for card in range(columns.card_offset[file], columns.card_offset[file + 1])
        for entry in range(columns.entry_offset[card], columns.entry_offset[card + 1])
        if (word := int(columns.entry_word[entry])) in word_ids.tolist()
    ]
    rows = zip(found.file.tolist(), found.card.tolist(), found.word.tolist(), found.counts.tolist(), strict=True)
    assert list(rows) == expected
