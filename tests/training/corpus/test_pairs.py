"""Pairs of a documentation sentence and the code without it, and the queries made from them."""

import io
import random
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from training.corpus.examples import (
    NEIGHBOURS,
    batches,
    document,
    example,
    neighbour_batches,
    same_answers,
    split_roles,
)
from training.corpus.pairs import TextPair, mine_text, split_documentation
from training.corpus.query_styles import as_chinese_words, as_question, base_form, make_query
from training.corpus.registries import Source, read_files, read_sources

SOURCE = Source("pypi", "demo", "MIT", "train")
PAIR = TextPair(
    "demo",
    "train",
    "python",
    "store.py",
    "Store.purge",
    "def purge(self)",
    "Removes expired tokens from the store.",
    "Tokens without an end stay.",
    "def purge(self):\n    self.tokens = [t for t in self.tokens if t.end > now()]",
)


@pytest.mark.parametrize(
    ("path", "text", "name", "sentence"),
    [
        (
            "a.py",
            """class A:
    def f(self):
        r'''Return all the open files.

        Args:
            x: y.
        '''
        return [x for x in self.files if x.open]
""",
            "A.f",
            "Return all the open files.",
        ),
        (
            "a.js",
            """/**
 * Draws a line between two points.
 * @param {number} x
 */
export const draw = (x, y) => {
  ctx.moveTo(x); ctx.lineTo(y);
};
""",
            "draw",
            "Draws a line between two points.",
        ),
        (
            "a.go",
            """package a

// Purge removes all the old entries.
func (s *Store) Purge(now int) {
    s.clear(now)
    s.compact()
}
""",
            "Store.Purge",
            "removes all the old entries.",
        ),
        (
            "a.rs",
            """impl Grid {
    /// Returns the cell at a position.
    #[inline]
    pub fn at(&self) -> Cell {
        self.cells[0]
    }
}
""",
            "Grid.at",
            "Returns the cell at a position.",
        ),
        (
            "A.java",
            """class A {
  /**
   * Opens {@code the} file for reading. More.
   */
  void open(String p) {
    use(p);
  }
}
""",
            "A.open",
            "Opens the file for reading.",
        ),
        (
            "a.c",
            """/* Frees the buffer of a stream. */
static int *release(struct s *x)
{
  free(x->b);
  return 0;
}
""",
            "release",
            "Frees the buffer of a stream.",
        ),
        (
            "a.rb",
            """# Sends a mail to every user.
def notify
  users.each { |u| mail(u) }
  done
end
""",
            "notify",
            "Sends a mail to every user.",
        ),
        (
            "a.py",
            """def f(x):
    '''清理过期的缓存。'''
    cache.remove(x)
    return x
""",
            "f",
            "清理过期的缓存。",
        ),
    ],
)
def test_a_documented_definition_is_a_pair(path: str, text: str, name: str, sentence: str) -> None:
    pairs = [pair for pair in mine_text(SOURCE, path, text) if pair.name == name]
    assert [pair.sentence for pair in pairs] == [sentence]
    assert sentence not in pairs[0].body


@pytest.mark.parametrize(
    "doc",
    ["", "See the other one for it.", "Too short.", "TODO: write what this function does", "== --- ++ 1 2 3 4 5 6"],
)
def test_documentation_that_can_not_be_a_question_gives_no_pair(doc: str) -> None:
    assert split_documentation(doc) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Returns the size", (True, "Return the size")),
        ("Copies all files", (True, "Copy all files")),
        ("Pushes to the stack", (True, "Push to the stack")),
        ("Draw the line", (True, "Draw the line")),
        ("The open files", (False, "open files")),
    ],
)
def test_a_verb_is_changed_to_its_base_form(sentence: str, expected: tuple[bool, str]) -> None:
    assert base_form(sentence) == expected


def test_queries_come_in_many_styles_and_repeat_with_the_seed() -> None:
    drawn = [make_query(PAIR, random.Random(seed)) for seed in range(200)]
    assert drawn == [make_query(PAIR, random.Random(seed)) for seed in range(200)]
    assert len(set(drawn)) > 30
    assert {"Removes expired tokens from the store", "store purge", "Tokens without an end stay."} <= set(drawn)
    assert any("令牌" in query for query in drawn)


def test_a_question_has_the_sentence_in_it() -> None:
    assert all("the size" in as_question("Returns the size", random.Random(seed)) for seed in range(20))


def test_one_known_word_is_not_enough_for_a_chinese_query() -> None:
    rng = random.Random(0)
    assert as_chinese_words("Frobnicates the cache", rng) == ""
    assert "缓存" in as_chinese_words("Removes the cache", rng)


def test_a_document_never_shows_the_sentence_that_asks_for_it() -> None:
    for seed in range(50):
        query, text = example(PAIR, random.Random(seed))
        assert PAIR.sentence not in text
        assert not ("Tokens without" in query and "Tokens without" in text)
    assert PAIR.rest in document(PAIR, with_rest=True)


def test_half_of_the_batches_are_of_one_package() -> None:
    pairs = [replace(PAIR, package=str(number % 3), body=str(number)) for number in range(120)]
    dealt = list(batches(pairs, 10, random.Random(0)))
    assert len({index for deal in dealt for index in deal}) == sum(map(len, dealt)) == 120
    assert sum(len({pairs[index].package for index in deal}) == 1 for deal in dealt) == 6


def test_neighbours_of_one_package_share_a_batch() -> None:
    pairs = [replace(PAIR, package=str(number % 2), body=str(number)) for number in range(128)]
    angles = np.array([number // 2 for number in range(128)]) * (np.pi / 200)
    rows = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    dealt = list(neighbour_batches(pairs, rows, NEIGHBOURS * 2, random.Random(0)))
    assert sorted(index for deal in dealt for index in deal) == list(range(128))
    for deal in dealt:
        for group in (deal[:NEIGHBOURS], deal[NEIGHBOURS:]):
            assert len({pairs[index].package for index in group}) == 1
            assert max(group) - min(group) == 2 * (NEIGHBOURS - 1)


def test_a_pair_with_the_same_sentence_or_code_is_not_a_wrong_answer() -> None:
    pairs = [
        PAIR,
        replace(PAIR, body="other code"),
        replace(PAIR, sentence="Another."),
        replace(PAIR, sentence="x", body="y"),
    ]
    assert np.argwhere(same_answers(pairs)).tolist() == [[0, 1], [0, 2], [1, 0], [2, 0]]


def test_nothing_that_is_measured_is_trained_on() -> None:
    same_code = replace(PAIR, role="valid", sentence="Another sentence of its own.", body=PAIR.body.replace("  ", "\t"))
    same_sentence = replace(PAIR, role="pilot", body="x")
    kept = replace(PAIR, body="y", sentence="Coverage one.")
    assert split_roles([PAIR, kept, same_code])["train"] == [kept]
    assert split_roles([PAIR, kept, same_sentence])["train"] == [kept]


def test_source_files_are_read_from_wheels_and_tarballs(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("a/b.py", "x = 1")
        wheel.writestr("a/b.so", "no")
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        member = tarfile.TarInfo("package/b.js")
        member.size = 5
        tar.addfile(member, io.BytesIO(b"x = 1"))
    suffixes = frozenset({".py", ".js"})
    assert list(read_files(tmp_path / "a.whl", suffixes)) == [("a/b.py", "x = 1")]
    assert list(read_files(tmp_path / "a.tgz", suffixes)) == [("package/b.js", "x = 1")]


def test_no_source_is_copyleft_or_listed_twice() -> None:
    sources = read_sources()
    assert len({(source.registry, source.name) for source in sources}) == len(sources) > 300
    assert not [source for source in sources if "GPL" in source.licence or "MPL" in source.licence]
