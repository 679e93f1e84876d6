"""Indexes of repositories that are written as one string."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import card_of_draft
from codecards.indexer.cards.file_cards import record_of_bytes
from codecards.indexer.parse.languages import detect_language
from codecards.indexer.store.derived import ChangedFile, GenerationDiff
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.walk.roles import role_of
from codecards.retrieval.derive import DerivedIndexBuilder
from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.hits import Ranking
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.search import Filters, search
from tests.support.repo_text import split_files

Links = Sequence[tuple[str, str, int]]


class WordEmbedder:
    """A fake embedder: a text's vector counts its words, each in one of 64 slots."""

    name = "fake"
    identity = "fake-1"
    dimensions = 64

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 64) unit rows."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[sum(word.encode()) % self.dimensions] += 1
        lengths: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)

    embed_queries = embed_documents


@dataclass
class IndexedText:
    """A small index with the data that a snapshot would hold."""

    folder: Path
    embedder: Embedder | None = None
    cards_by_id: dict[int, Card] = field(default_factory=dict)
    embedded_texts: dict[int, str] = field(default_factory=dict)
    """By card id."""
    texts: dict[str, str] = field(default_factory=dict)
    """By path."""
    file_ids: dict[str, int] = field(default_factory=dict)
    generation: int = 0

    @property
    def index(self) -> DerivedIndex:
        """The newest generation, opened."""
        return DerivedIndex.open(self.folder / str(self.generation), self.embedder)

    def cards(self, card_ids: Iterable[int]) -> dict[int, Card]:
        """Return card id → card."""
        return {card_id: self.cards_by_id[card_id] for card_id in card_ids if card_id in self.cards_by_id}

    def update(self, files: Mapping[str, str | None], links: Links = ()) -> None:
        """Write a new generation in which files have a new text, or (None) are removed."""
        removed = frozenset(self.file_ids.pop(path) for path, text in files.items() if text is None)
        changed = [self._file(path, text) for path, text in files.items() if text is not None]
        rows = [(self.file_ids[source], self.file_ids[target], count) for source, target, count in links]
        old = self.folder / str(self.generation) if self.generation else None
        self.generation += 1
        new = self.folder / str(self.generation)
        change = GenerationDiff(old, new, changed, removed, rows, lambda entry: self.texts[entry.path])
        DerivedIndexBuilder(self.embedder).derive(change)

    def ask(self, query: str, limit: int = 8, filters: Filters | None = None) -> Ranking:
        """Return the answer to a query."""
        return search(self.index, self, query, limit=limit, filters=filters)

    def paths(self, query: str, limit: int = 8) -> list[str]:
        """Return the paths of the hits."""
        return [hit.card.path for hit in self.ask(query, limit).hits]

    def names(self, query: str, limit: int = 8) -> list[str]:
        """Return the qualified names of the hits."""
        return [hit.card.qualified_name for hit in self.ask(query, limit).hits]

    def _file(self, path: str, text: str) -> ChangedFile:
        data = text.encode()
        record = record_of_bytes(data, detect_language(path, data))
        facts = record.facts
        file_id = self.file_ids.setdefault(path, len(self.file_ids) * 7 + 3 + self.generation * 1000)
        self.texts[path] = text
        role = role_of(path, generated=facts.generated)
        stamp = (len(data), 0, 0, 0, False)
        language, encoding = facts.language, "utf-8"
        entry = IndexedFile(
            file_id, path, b"", *stamp, language, encoding, role, "", facts.n_lines, facts.leading_comment, b"", b""
        )
        cards = []
        for draft in record.contents.drafts:
            card_id = len(self.cards_by_id) + 1
            card = card_of_draft(draft, card_id=card_id, path=path, language=facts.language, module="")
            self.cards_by_id[card_id] = card
            cards.append(card)
        made = ChangedFile(entry, tuple(cards), record.contents.tokens, record.contents.embedded)
        self.embedded_texts.update(zip((card.card_id for card in cards), made.embedded_texts(), strict=True))
        return made


def indexed(folder: Path, text: str, links: Links = (), embedder: Embedder | None = None) -> IndexedText:
    """Return the index of a repository that is written as one string."""
    made = IndexedText(folder, embedder)
    made.update(split_files(text), links)
    return made
