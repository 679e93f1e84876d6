"""The derived index of a generation, from scratch and from the previous generation."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from codecards.errors import SnapshotDamagedError, SnapshotMissingError
from codecards.retrieval.derive import DerivedIndexBuilder
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Columns
from codecards.retrieval.store.folder import check_contents
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

CONTENTS = (
    "def alpha(x):\n    return beta(x)\n",
    "class Beta:\n    def gamma(self):\n        '''Count the things.'''\n        return 1\n",
    "# just a comment\n",
    "",
    "from a import alpha\nVALUE = alpha(3)\n",
)
PATHS = ("a.py", "pkg/b.py", "pkg/c.py", "pkg/sub/__init__.py", "tests/test_a.py", "docs/d.md")
CHANGES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from((None, *CONTENTS)), min_size=1)
IDS = ("file_id", "card_id")


def without_ids(columns: Columns) -> dict[str, list[object]]:
    return {column.name: getattr(columns, column.name).tolist() for column in fields(columns) if column.name not in IDS}


def links_of(texts: dict[str, str]) -> list[tuple[str, str, int]]:
    paths = sorted(texts)
    return [(source, target, 2) for source, target in pairwise(paths)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, min_size=2, max_size=4))
def test_an_updated_index_equals_a_fresh_one(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, str | None]]
) -> None:
    updated = IndexedText(tmp_path_factory.mktemp("updated"), WordEmbedder())
    texts: dict[str, str] = {}
    for change in changes:
        known = {path: text for path, text in change.items() if text is not None or path in texts}
        texts = {path: text for path, text in (texts | known).items() if text is not None}
        updated.update(known, links_of(texts))
    fresh = IndexedText(tmp_path_factory.mktemp("fresh"), WordEmbedder())
    fresh.update(texts, links_of(texts))
    assert without_ids(updated.index.columns) == without_ids(fresh.index.columns)
    assert updated.index.vocabulary.all_words() == fresh.index.vocabulary.all_words()
    first, second = updated.index.vectors, fresh.index.vectors
    assert first is not None
    assert second is not None
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(first.file_vectors, second.file_vectors)
    for query in ("alpha", "count the things", "beta gamma", "docs"):
        assert updated.paths(query) == fresh.paths(query)
        scores = [hit.score for hit in fresh.ask(query).hits]
        assert [hit.score for hit in updated.ask(query).hits] == pytest.approx(scores, abs=1e-5)


def test_words_of_a_removed_file_are_no_longer_found(tmp_path: Path) -> None:
    made = indexed(tmp_path, "#- a.py\ndef alpha():\n    pass\n#- b.py\ndef omega():\n    pass\n")
    made.update({"b.py": None})
    assert made.ask("omega").verdict == "none"
    assert made.paths("alpha") == ["a.py"]


def test_the_old_generation_stays_as_it_was(tmp_path: Path) -> None:
    made = indexed(tmp_path, "#- a.py\ndef alpha():\n    pass\n")
    check_contents(tmp_path / "1")
    old = made.index
    made.update({"a.py": "def omega():\n    pass\n"})
    check_contents(tmp_path / "1")
    assert old.vocabulary.find("alpha") >= 0
    assert DerivedIndex.open(tmp_path / "1").vocabulary.all_words() == old.vocabulary.all_words()


def test_a_text_that_was_embedded_before_is_not_embedded_again(tmp_path: Path) -> None:
    class Counting(WordEmbedder):
        n_texts = 0

        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.n_texts += len(texts)
            return super().embed_documents(texts)

    embedder = Counting()
    first = "def alpha():\n    pass\n\n\ndef beta():\n    pass\n"
    made = IndexedText(tmp_path, embedder)
    made.update({"a.py": first})
    before = embedder.n_texts
    made.update({"a.py": first.replace("alpha", "gamma")})
    n_probes = 2
    assert embedder.n_texts - before == 1 + n_probes


@pytest.mark.parametrize("name", ["columns/entry_word.npy", "words.bin", "meta.json", "vectors/vectors.npy"])
def test_a_damaged_file_is_noticed(tmp_path: Path, name: str) -> None:
    made = indexed(tmp_path, "#- a.py\ndef alpha():\n    pass\n", embedder=WordEmbedder())
    deriver = DerivedIndexBuilder(WordEmbedder())
    assert deriver.usable(tmp_path / "1")
    path = tmp_path / "1" / name
    path.write_bytes(path.read_bytes()[:-1])
    assert not deriver.usable(tmp_path / "1")
    with pytest.raises(SnapshotDamagedError, match=r"codecards index"):
        check_contents(tmp_path / "1")
    if name in ("words.bin", "meta.json"):
        with pytest.raises(SnapshotDamagedError):
            made.index.vocabulary.find("alpha")


def test_a_missing_index_is_reported_as_missing(tmp_path: Path) -> None:
    with pytest.raises(SnapshotMissingError):
        DerivedIndex.open(tmp_path / "nowhere")


def test_files_of_a_dead_writer_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "half").write_bytes(b"x")
    assert indexed(tmp_path, "#- a.py\ndef alpha():\n    pass\n").paths("alpha") == ["a.py"]
    assert not (tmp_path / "1" / "half").exists()
