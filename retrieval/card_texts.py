"""Card texts: what is embedded of a file's cards, and its key."""

import hashlib
from collections.abc import Iterable

from codecards.indexer.cards import Card
from codecards.indexer.partition import text_lines
from codecards.retrieval.embedded_text import card_text


def card_texts(cards: Iterable[Card], text: str | None) -> list[str]:
    """Return what is embedded of some cards of one file; what the index holds of them where its text is None."""
    lines = text_lines(text) if text is not None else []
    texts: list[str] = []
    for card in cards:
        body = "\n".join("\n".join(lines[first - 1 : last]) for first, last in card.own_lines)
        texts.append(card_text(card.path, card.qualified_name.strip("<>"), card.signature, card.doc, body))
    return texts


def text_key(text: str) -> bytes:
    """Return the 16 bytes by which the vector of a text is known."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
