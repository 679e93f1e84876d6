"""Vector evidence: similarity of the candidate files and of their best cards to the query."""

from dataclasses import dataclass
from functools import cached_property

from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.evidence.text import decayed_sum, max_per_file
from codecards.retrieval.evidence.transformer import TransformerScores, transformer_scores
from codecards.retrieval.store.columns import Floats
from codecards.retrieval.vectors.card_vectors import Similarity

TOP_CARDS, TOP_DECAY = 4, 0.7
LESS_STATIC = 0.25
"""Relative reduction of `VectorEvidence.file` when every candidate card has a transformer vector."""


@dataclass(frozen=True)
class VectorEvidence:
    """Similarities of F candidate files; each is computed when it is first read."""

    found: RankingInput
    similarity: Similarity

    @cached_property
    def transformer(self) -> TransformerScores | None:
        """Transformer similarity of all cards of the candidate files; None where none has a vector."""
        return transformer_scores(self.found.index, self.similarity, self.found.cards.rows)

    @property
    def best_cards(self) -> Floats:
        """(F,): cosines of each file's best cards, the second times `TOP_DECAY`, and so on."""
        cards = self.found.cards
        cosines = self.similarity.cards(cards.rows)
        return decayed_sum(cosines, cards.file, len(self.found.files), n_best=TOP_CARDS, decay=TOP_DECAY)

    @property
    def file(self) -> Floats:
        """(F,): cosine of each file's vector, reduced as transformer vectors cover the candidates."""
        cosines = self.similarity.files(self.found.files)
        if self.transformer is not None:
            cosines *= 1 - LESS_STATIC * self.transformer.share
        return cosines

    @property
    def transformer_card(self) -> Floats | None:
        """(F,): transformer similarity of each file's best card, times the share of cards that have a vector."""
        if self.transformer is None:
            return None
        best = max_per_file(self.transformer.cosines, self.found.cards.file, len(self.found.files))
        return self.transformer.share * best
