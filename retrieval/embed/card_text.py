"""Card texts: what is embedded of a file's cards, and its key."""

import hashlib
import re
from collections.abc import Iterable

from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import text_lines


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


TEXT_FORMAT = 1

MAX_DOC_CHARS = 400
MAX_BODY_CHARS = 1_000  # more text makes both models worse and slower (128 tokens did better than 256)
N_PATH_PARTS = 4
_SAME_SIGNATURE_CHARS = 40

# Where a lower-case letter or digit meets an upper-case one, or the last capital of several starts a word.
_BEFORE_NEW_WORD = re.compile(r"[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])")
_SEPARATORS = str.maketrans({"_": " ", "\t": " "})


def split_identifiers(text: str) -> str:
    """Return text with identifiers split into words: "parseHTTPHeader" → "parse HTTP Header", "max_age" → "max age".

    Punctuation stays (the transformer does better with it). Splitting twice changes nothing.
    """
    return _BEFORE_NEW_WORD.sub(r"\g<0> ", text).translate(_SEPARATORS)


def card_text(path: str, qualified_name: str, signature: str, doc: str, body: str) -> str:
    """Return what is embedded for a card: its place and name as words, then documentation and code.

    Args:
        path: From the root, with slashes; its last four parts are used.
        qualified_name: With dots, "" for a card without a name.
        signature: On one line, "" if none; left out where the body shows it.
        doc: Documentation without comment signs, "" if none.
        body: The card's code; that it repeats the documentation does no harm.
    """
    folder, _, file_name = path.rpartition("/")
    place = " ".join([*folder.split("/"), file_name.rpartition(".")[0] or file_name][-N_PATH_PARTS:])
    parts = [f"{place} {qualified_name.replace('.', ' ')}".strip()]
    if signature and signature[:_SAME_SIGNATURE_CHARS] not in body[:MAX_BODY_CHARS]:
        parts.append(signature)
    if doc:
        parts.append(doc[:MAX_DOC_CHARS])
    parts.append(body[:MAX_BODY_CHARS])
    # A path need not be UTF-8, and tokenizers take nothing else.
    return split_identifiers("\n".join(parts)).encode("utf-8", "replace").decode()
