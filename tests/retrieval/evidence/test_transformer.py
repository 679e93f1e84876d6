"""Transformer similarity changes the order, and a card without a vector does not lose by that."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from codecards.indexer.cards.embedded_text import text_key
from codecards.retrieval.evidence.transformer import transformer_scores
from codecards.retrieval.hits import Ranking
from codecards.retrieval.query.intent import intent_of
from codecards.retrieval.rank.weights import function_weights, question_card_weights
from codecards.retrieval.search import search
from codecards.retrieval.vectors.transformer_store import make_store
from codecards.retrieval.vectors.transformer_vectors import TransformerIndex, TransformerLookup, card_keys
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

STORE = "#- store.py\n" + "".join(
    f"def handle_{number}(entry):\n    return step_{number}(entry)\n\n\n" for number in range(12)
)
QUESTION = "how to handle an entry step by step"
WORDS = WordEmbedder().embed_queries([QUESTION])[0]

MakeLookup = Callable[[Mapping[str, float]], TransformerLookup]


@pytest.fixture
def made(tmp_path: Path) -> IndexedText:
    return indexed(tmp_path / "i", STORE, embedder=WordEmbedder())


@pytest.fixture
def transformer(made: IndexedText, tmp_path: Path) -> MakeLookup:
    """Return a function that makes a lookup from cosines: name of a function → cosine of its vector to the question."""

    def lookup_of(cosines: Mapping[str, float]) -> TransformerLookup:
        store = make_store(tmp_path / "transformer_vectors.db", "fake", np.zeros((1, 2), np.float32))
        for card in made.cards_by_id.values():
            if card.qualified_name in cosines:
                cosine = cosines[card.qualified_name]
                text = made.embedded_texts[card.card_id]
                store.put([text_key(text)], np.array([[cosine, (1 - cosine**2) ** 0.5]], np.float32))
        keys = card_keys(made.folder / "1")
        assert keys is not None
        found = TransformerIndex(keys, store)
        found.load_new()
        store.close()
        return lambda _text: found.similarity(np.array([1.0, 0.0], np.float32))

    return lookup_of


def ask(made: IndexedText, lookup: TransformerLookup | None) -> Ranking:
    return search(made.index, made, QUESTION, limit=12, transformer=lookup)


def order(ranking: Ranking) -> list[str]:
    return [hit.card.qualified_name for hit in ranking.hits]


def all_at(cosine: float, **others: float) -> dict[str, float]:
    return {f"handle_{number}": cosine for number in range(12)} | others


def test_the_most_similar_card_comes_first_among_cards_with_the_same_words(
    made: IndexedText, transformer: MakeLookup
) -> None:
    ranking = ask(made, transformer(all_at(0.1, handle_7=0.9)))
    assert order(ranking)[0] == "handle_7"
    assert "transformer_vectors" in ranking.retrievers
    named = {term.name: term.value for term in ranking.hits[0].terms}
    assert named["card_transformer"] > 0
    assert named["transformer_card"] > 0
    assert sum(named.values()) == pytest.approx(ranking.hits[0].score)


def test_without_any_vector_the_order_is_that_without_transformer(made: IndexedText, transformer: MakeLookup) -> None:
    assert len(order(ask(made, None))) == 12
    assert order(ask(made, transformer({}))) == order(ask(made, None))


def test_cards_without_a_vector_keep_their_order(made: IndexedText, transformer: MakeLookup) -> None:
    known = {"handle_2": 0.3, "handle_5": 0.2}
    before = [name for name in order(ask(made, None)) if name not in known]
    after = [name for name in order(ask(made, transformer(known))) if name not in known]
    assert len(after) == 10
    assert after == before


def test_a_card_without_a_vector_does_not_rank_below_all_others(made: IndexedText, transformer: MakeLookup) -> None:
    index = made.index
    lookup = transformer({name: cosine for name, cosine in all_at(0.2, handle_1=0.4).items() if name != "handle_7"})
    assert index.vectors is not None
    similarity = index.vectors.similarity(WORDS, lookup(QUESTION))
    rows = np.arange(index.columns.n_cards)
    by_transformer = transformer_scores(index, similarity, rows)
    assert by_transformer is not None
    names = [made.cards_by_id[int(card_id)].qualified_name for card_id in index.columns.card_id.tolist()]
    without = by_transformer.cosines[names.index("handle_7")]
    known = [value for name, value in zip(names, by_transformer.cosines.tolist(), strict=True) if name != "handle_7"]
    assert min(known) - 0.2 < without < max(known)
    assert 0.9 < by_transformer.share < 1


def test_weights_are_mixed_by_the_share_of_cards_with_a_vector() -> None:
    asked = intent_of("remove expired sessions from the store")
    assert asked.function == 1
    none, half, whole = (
        question_card_weights(asked, has_vectors=True, transformer_share=share).in_file for share in (0.0, 0.5, 1.0)
    )
    assert "transformer" not in none
    static, transformer = function_weights("static"), function_weights("transformer")
    for name in {**static, **transformer}:
        assert none.get(name, 0.0) == pytest.approx(static.get(name, 0.0))
        assert whole[name] == pytest.approx(transformer.get(name, 0.0))
        assert half[name] == pytest.approx((static.get(name, 0.0) + transformer.get(name, 0.0)) / 2)
