"""Reranking of the first hits."""

import importlib.util
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

from codecards.errors import EmbedderError
from codecards.retrieval.rank.rerank import CrossEncoderScorer, rerank
from tests.support.indexed_text import indexed

REPOSITORY = "".join(f"#- m{number}.py\ndef token_{number}():\n    return {number}\n" for number in range(4))


class Likes:
    """A model that scores texts with one word higher."""

    def __init__(self, word: str) -> None:
        self.word = word

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return 1 for a text with the word."""
        assert query == "token"
        return [float(self.word in text) for text in texts]


def test_the_card_with_the_highest_model_value_comes_first_and_terms_sum_up(tmp_path: Path) -> None:
    hits = indexed(tmp_path, REPOSITORY).ask("token").hits
    last = hits[-1].card.name
    again = rerank("token", hits, lambda card: card.name, Likes(last), weight=50.0)
    assert again[0].card.name == last
    assert [hit.rank for hit in again] == [1, 2, 3, 4]
    assert {hit.card.name for hit in again} == {hit.card.name for hit in hits}
    for hit in again:
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score)


def test_hits_after_the_first_few_keep_their_places(tmp_path: Path) -> None:
    hits = indexed(tmp_path, REPOSITORY).ask("token").hits
    again = rerank("token", hits, lambda card: card.name, Likes(hits[3].card.name), top=2)
    assert [hit.card for hit in again[2:]] == [hit.card for hit in hits[2:]]


def test_equal_model_values_change_nothing(tmp_path: Path) -> None:
    hits = indexed(tmp_path, REPOSITORY).ask("token").hits
    assert [hit.card for hit in rerank("token", hits, lambda card: card.name, Likes("nowhere"))] == [
        hit.card for hit in hits
    ]


def test_a_missing_reranker_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="not a folder"):
        CrossEncoderScorer(tmp_path / "nowhere")


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None,
    reason="needs sentence-transformers: pip install codecards[transformers]",
)
@pytest.mark.filterwarnings("default")
def test_a_saved_cross_encoder_scores_pairs(tmp_path: Path) -> None:
    library, transformers = import_module("sentence_transformers"), import_module("transformers")
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] where token kept def keep shop".split()
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(words), num_labels=1, **shape)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path / "raw")
    tokenizer.save_pretrained(tmp_path / "raw")
    library.CrossEncoder(str(tmp_path / "raw"), device="cpu").save_pretrained(str(tmp_path / "model"))
    scorer = CrossEncoderScorer(tmp_path / "model")
    texts = ["def keep token", "shop shop shop", "def keep token"]
    values = scorer.score("where token kept", texts)
    assert values[0] == pytest.approx(values[2])
    assert values[0] != values[1]
