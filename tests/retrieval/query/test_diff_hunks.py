"""Hunks of a pasted diff."""

from pathlib import Path

import pytest

from codecards.retrieval.query.diff_hunks import Hunk, find_hunks
from codecards.retrieval.query.query import read_query
from tests.support.indexed_text import IndexedText, indexed

DIFF = """\
diff --git a/shop/store.py b/shop/store.py
index 1111111..2222222 100644
--- a/shop/store.py
+++ b/shop/store.py
@@ -4,5 +4,6 @@ class Store:
     def purge(self, now):
-        return self.drop(now)
+        limit = now - self.age
+        return self.drop(limit)

     def read(self, key):
"""
STORE = """\
#- shop/store.py
class Store:
    age = 60

    def purge(self, now):
        return self.drop(now)

    def read(self, key):
        return self.values[key]

    def drop(self, limit):
        self.values = {}
#- shop/report.py
def purge_report(store, now):
    store.purge(now)
    store.drop(now)
    return store.age
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    """A repository in the state before the diff."""
    return indexed(tmp_path_factory.mktemp("shop"), STORE)


def places(text: str) -> list[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """Return path, lines and names of the hunks of a text."""
    return [(hunk.path, hunk.lines, hunk.names) for hunk in find_hunks(text)]


def test_a_hunk_has_its_changed_lines_and_names() -> None:
    assert places(DIFF) == [("shop/store.py", (5, 6), ("class", "Store"))]


def test_hunks_of_one_file_are_separate_and_a_deleted_file_has_its_old_name() -> None:
    text = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n@@ -9,2 +9 @@\n z\n-def gone(): ...\n--- a/b.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert places(text) == [("a.py", (1,), ()), ("a.py", (10,), ("gone",)), ("b.go", (1,), ())]


def test_a_removed_line_like_a_file_head_is_a_line() -> None:
    text = "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n--- old words\n+-- new words\n select 1\n@@ -9 +9 @@\n-x\n+y\n"
    assert [path for path, _, _ in places(text)] == ["a.sql", "a.sql"]


@pytest.mark.parametrize(
    "text", ["", "@@ -1 +1 @@\n-x\n", "a\n@@ no hunk @@\n", "+++ b/a.py\n+x\n", "we add -1 and +1\nin two lines"]
)
def test_a_text_without_a_diff_has_no_hunks(text: str) -> None:
    assert find_hunks(text) == ()
    assert read_query(text).hunks == ()


def test_the_changed_card_comes_first(shop: IndexedText) -> None:
    assert shop.names(DIFF)[0] == "Store.purge"
    answer = shop.ask(f"Please review this change of mine\n\n{DIFF}")
    assert (answer.hits[0].card.qualified_name, answer.verdict) == ("Store.purge", "found")


def test_in_a_file_that_has_changed_the_words_of_the_hunk_find_the_card(tmp_path: Path) -> None:
    above = "class Other:\n    def fill(self, key):\n        return key\n\n    def empty(self, key):\n        return key\n\n\n"
    moved = indexed(tmp_path, STORE.replace("class Store", above + "class Store"))
    assert moved.names(DIFF)[0] == "Store.purge"


def test_an_unknown_path_changes_nothing(shop: IndexedText) -> None:
    def frames(query: str) -> set[str]:
        return {hit.card.path for hit in shop.ask(query).hits for term in hit.terms if term.name == "frame"}

    assert frames(DIFF) == {"shop/store.py"}
    assert frames(DIFF.replace("shop/store.py", "elsewhere.rb")) == set()


def test_words_of_a_hunk_are_those_of_all_its_lines() -> None:
    hunk = find_hunks(DIFF)[0]
    assert isinstance(hunk, Hunk)
    assert {"purg", "limit", "drop", "read"} <= set(hunk.words)
