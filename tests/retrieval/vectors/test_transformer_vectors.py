"""Transformer vectors are found by the hash of the embedded text."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.store.columns import Columns
from codecards.retrieval.vectors.transformer_fill import BATCH, EmbeddableCards, Filled, fill, wanted_rows
from codecards.retrieval.vectors.transformer_store import TransformerStore, make_store
from codecards.retrieval.vectors.transformer_vectors import TransformerIndex, card_keys
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

SHOP = """\
#- shop/cart.py
LIMIT = 5


class Cart:
    def total(self, items):
        return sum(items)


def empty_cart(cart):
    cart.clear()
#- shop/pay.py
def charge_card(number, amount):
    return gateway(number, amount)
#- tests/test_cart.py
def test_total():
    assert Cart().total([1]) == 1
"""


class Counting(WordEmbedder):
    """Counts what it embeds."""

    n_texts = 0

    def embed_documents(self, texts: Sequence[str]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        """Return (n, 64) unit rows."""
        self.n_texts += len(texts)
        return super().embed_documents(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TransformerStore]:
    made = make_store(tmp_path / "transformer_vectors.db", "fake-1", np.zeros((1, WordEmbedder.dimensions), np.float32))
    yield made
    made.close()


def columns_of(made: IndexedText) -> Columns:
    return made.index.columns


def lane_of(made: IndexedText, store: TransformerStore) -> TransformerIndex:
    keys = card_keys(made.folder / str(made.generation))
    assert keys is not None
    vectors = TransformerIndex(keys, store)
    vectors.load_new()
    return vectors


def filled(made: IndexedText, store: TransformerStore, embedder: Embedder, limit: int | None = None) -> Filled:
    keys = card_keys(made.folder / str(made.generation))
    assert keys is not None
    columns = columns_of(made)

    def texts(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        yield from ((row, made.embedded_texts[int(columns.card_id[row])]) for row in rows)

    cards = EmbeddableCards(columns, keys, texts)
    return fill(cards, store, lambda: embedder, lambda _done, _total: None, limit=limit)


def name_of(made: IndexedText, row: int) -> str:
    return made.cards_by_id[int(columns_of(made).card_id[row])].qualified_name


def test_functions_of_the_sources_come_first_and_tests_last(tmp_path: Path) -> None:
    made = indexed(tmp_path, SHOP, embedder=WordEmbedder())
    names = [name_of(made, row) for row in wanted_rows(columns_of(made)).tolist()]
    assert set(names[:3]) == {"Cart.total", "empty_cart", "charge_card"}
    assert names[3] == "Cart"
    assert names[-1] == "test_total"
    assert len(wanted_rows(columns_of(made), 2)) == 2


def test_an_index_filled_in_steps_finds_the_vectors_so_far(tmp_path: Path, store: TransformerStore) -> None:
    made = indexed(tmp_path / "i", SHOP, embedder=WordEmbedder())
    embedder = Counting()
    assert filled(made, store, embedder, limit=2).n_new == 2
    vectors = lane_of(made, store)
    assert vectors.n_ready == 2
    question = embedder.embed_queries(["charge card number"])[0]
    similarity = vectors.similarity(question)
    rows = np.arange(columns_of(made).n_cards)
    assert int(np.isnan(similarity.cards(rows)).sum()) == len(rows) - 2
    assert len(similarity.nearest(9)) == 2
    assert filled(made, store, embedder).n_left == 0
    assert len(similarity.nearest(9)) == 2  # a question sees one state
    vectors.load_new()
    assert vectors.n_ready == len(rows)
    assert name_of(made, int(vectors.similarity(question).nearest(1)[0])) == "charge_card"


def test_an_edit_costs_the_cards_it_touches_and_a_revert_or_a_far_rename_costs_nothing(
    tmp_path: Path, store: TransformerStore
) -> None:
    made = indexed(tmp_path / "i", SHOP, embedder=WordEmbedder())
    embedder = Counting()
    filled(made, store, embedder)
    before, pay = embedder.n_texts, made.texts["shop/pay.py"]
    made.update({"shop/pay.py": pay.replace("gateway", "portal")})
    assert filled(made, store, embedder) == Filled(1, 0)
    made.update({"shop/pay.py": pay})
    assert filled(made, store, embedder) == Filled(0, 0)
    assert embedder.n_texts == before + 1
    assert lane_of(made, store).n_ready == columns_of(made).n_cards


def test_renaming_a_far_outer_folder_keeps_the_vectors(tmp_path: Path, store: TransformerStore) -> None:
    code = "def f():\n    return 1\n"
    made = indexed(tmp_path / "i", f"#- old/a/b/c/f.py\n{code}", embedder=WordEmbedder())
    filled(made, store, WordEmbedder())
    made.update({"old/a/b/c/f.py": None, "new/a/b/c/f.py": code})
    assert filled(made, store, WordEmbedder()) == Filled(0, 0)


def test_copies_are_embedded_once_and_share_the_vector(tmp_path: Path, store: TransformerStore) -> None:
    twice = "#- a/b/c/d/same.py\ndef f():\n    return 1\n#- z/b/c/d/same.py\ndef f():\n    return 1\n"
    made = indexed(tmp_path / "i", twice, embedder=WordEmbedder())
    embedder = Counting()
    assert filled(made, store, embedder) == Filled(1, 0)
    assert lane_of(made, store).n_ready == 2


def test_a_text_that_is_not_the_one_of_its_key_gets_no_vector(tmp_path: Path, store: TransformerStore) -> None:
    made = indexed(tmp_path / "i", SHOP, embedder=WordEmbedder())
    card_id = next(one.card_id for one in made.cards_by_id.values() if one.qualified_name == "charge_card")
    made.embedded_texts[card_id] = "something else"
    found = filled(made, store, WordEmbedder())
    assert found.n_left == 1
    assert lane_of(made, store).n_ready == columns_of(made).n_cards - 1


def test_vectors_computed_before_an_interruption_are_kept(tmp_path: Path, store: TransformerStore) -> None:
    many = "#- a.py\n" + "\n".join(f"def word{number}():\n    return {number}\n" for number in range(3 * BATCH))
    made = indexed(tmp_path / "i", many, embedder=WordEmbedder())
    keys = card_keys(made.folder / "1")
    assert keys is not None

    def stop(n_done: int, _n_total: int) -> None:
        if n_done:
            raise KeyboardInterrupt

    def texts(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        yield from ((row, made.embedded_texts[int(columns_of(made).card_id[row])]) for row in rows)

    with pytest.raises(KeyboardInterrupt):
        fill(EmbeddableCards(columns_of(made), keys, texts), store, WordEmbedder, stop)
    assert store.last_number() == BATCH


def test_an_index_with_a_closed_store_keeps_its_vectors(tmp_path: Path, store: TransformerStore) -> None:
    made = indexed(tmp_path / "i", SHOP, embedder=WordEmbedder())
    filled(made, store, Counting())
    vectors = lane_of(made, store)
    n_ready = vectors.n_ready
    store.close()
    vectors.load_new()
    assert vectors.n_ready == n_ready > 0
