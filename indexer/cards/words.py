"""Splits text into the tokens that are counted and looked up; queries and cards are split by the same rules.

An identifier gives its parts, lower-cased and stemmed, and itself as one token with `=` before it: `HTTPServer2` gives
`http`, `server`, `2`, `=httpserver2`. A run of Chinese, Japanese or Korean gives its overlapping pairs of characters.
Source of the stemmer: Porter2 ("English" of Snowball), through PyStemmer.
"""

import re
import threading
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count, repeat

import Stemmer

from codecards.indexer.cards.card import CardFields

FIELDS = ("name", "parent", "signature", "doc", "body", "message")
"""Fields of a card with separate counts, in the order of `FileTokens.counts`. A message is a string literal of several
words: people search for the error or log line that they saw."""
MAX_WORD_CHARACTERS = 80
"""A longer run is data (base64, a hash), not a word."""
_BODY = FIELDS.index("body")
_SHORT = [field for field in range(len(FIELDS)) if field != _BODY]
"""Positions of the fields with few words, in the order in which they are counted."""
MAX_CACHED_WORDS = 300_000
MESSAGE_BLANKS = 2
"""Minimum number of spaces in a string literal that is a message."""

_LETTERS = "A-Za-zÀ-ÖØ-öø-ɏ"
_word = re.compile(rf"[{_LETTERS}_$][{_LETTERS}0-9_$]*|[0-9]+|[^\W\d_{_LETTERS}]+")
_part = re.compile(r"[A-ZÀ-ÖØ-Þ]+(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])|[A-ZÀ-ÖØ-Þ]?[a-zß-öø-ɏ]+|[A-ZÀ-ÖØ-ÞĀ-ɏ]+|[0-9]+")
_literal = re.compile(  # each branch begins with a literal character, to which the engine can skip
    r"""\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}|"([^"\\\n]*+(?:\\.[^"\\\n]*+){0,200}+)"|`([^`\n]*)`|"""
    r"""'(?:(?<![\w\\]')|(?<=\W[fFrRbBuU]'))([^'\\\n]*+(?:\\.[^'\\\n]*+){0,200}+)'"""
)
_escape = re.compile(r"\\[nrt]|%[-#0-9.]*[a-zA-Z]")
_pair_script = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD_BYTES = bytes(code if chr(code).isalnum() or chr(code) in "_$" else 32 for code in range(128)) + bytes([32] * 128)
"""Translation table: ASCII characters that are not part of words become spaces."""


@dataclass(frozen=True, slots=True)
class FileTokens:
    """Tokens of the cards of a file, counted by field."""

    vocabulary: tuple[str, ...]
    """Each token once, in order of first use."""
    card_offsets: bytes
    """uint32, (n_cards + 1,): start of the entries of each card, and the end."""
    token_index: bytes
    """uint32, (n_entries,): positions in the vocabulary, ascending within a card."""
    counts: bytes
    """uint8, (n_entries, 6): occurrences in each of `FIELDS`, 255 for more."""


def words(text: str) -> list[str]:
    """Return the words of a text as written: identifiers, numbers and runs of other letters."""
    return _word.findall(text)


def is_pair_script(word: str) -> bool:
    """Return whether a word starts with Chinese, Japanese or Korean, whose runs are split into pairs."""
    return _pair_script.match(word) is not None


def word_parts(word: str) -> tuple[str, ...]:
    """Return the parts of one word as written, before folding and stemming: `HTTPServer2` → HTTP, Server, 2."""
    if _pair_script.match(word):
        return tuple(word[index : index + 2] for index in range(max(1, len(word) - 1)))
    return tuple(_part.findall(word)) or ((word,) if word.strip("_$") else ())


def stem(part: str) -> str:
    """Return the folded stem of one part."""
    folded = part.casefold()
    return _stemmers.english.stemWord(folded) if folded.isalpha() else folded


def word_tokens(word: str) -> tuple[str, ...]:
    """Return the tokens of a word: its stemmed parts, then the whole if it has several parts."""
    tokens = _cache.get(word)
    if tokens is None:
        if len(_cache) > MAX_CACHED_WORDS:
            _cache.clear()
        tokens = _cache[word] = _split(word)
    return tokens


def whole_token(text: str) -> str:
    """Return the token of a whole identifier: `=httpserver2`."""
    return "=" + re.sub(r"[\W_]+", "", text).casefold()


def messages(code: str) -> str:
    """Return the string literals of at least three words, one per line.

    Literals in triple quotes are left out: they are documentation, or text that is not shown as one message.
    """
    if '"' not in code and "'" not in code and "`" not in code:
        return ""
    found: list[str] = []
    for match in _literal.finditer(code):
        literal = match[match.lastindex] if match.lastindex else ""
        if literal.count(" ") >= MESSAGE_BLANKS:
            found.append(_escape.sub(" ", literal) if "\\" in literal or "%" in literal else literal)
    return "\n".join(found)


def tokenize_cards(texts: Sequence[CardFields]) -> FileTokens:
    """Return the counted tokens of the cards of a file, in the order of the cards."""
    index_of = _TokenIndex()
    offsets, entries, counts = array("I", [0]), array("I"), bytearray()
    for text in texts:
        short = [index_of.positions(value) for value in (text.name, text.parent, text.signature, text.doc)]
        body = Counter(index_of.positions(text.body))
        literals = messages(text.body)
        short.append(index_of.positions(literals) if literals else [])
        indexes = sorted({*body, *chain.from_iterable(short)})
        rows = bytearray(len(FIELDS) * len(indexes))
        rows[_BODY :: len(FIELDS)] = _capped(map(body.get, indexes, repeat(0)))
        for field, in_field in zip(_SHORT, short, strict=True):
            for index in in_field:
                cell = len(FIELDS) * bisect_left(indexes, index) + field
                if rows[cell] < 255:
                    rows[cell] += 1
        entries.extend(indexes)
        counts += rows
        offsets.append(len(entries))
    return FileTokens(tuple(index_of.vocabulary), offsets.tobytes(), entries.tobytes(), bytes(counts))


class _TokenIndex(dict[str | bytes, tuple[int, ...]]):
    """Run of word characters → positions of its tokens in the vocabulary; looking up a new token adds it."""

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary: dict[str, int] = defaultdict(count().__next__)
        """Token → position, in order of first use."""
        self._position = self.vocabulary.__getitem__

    def positions(self, text: str) -> list[int]:
        """Return the position of each token of a text."""
        # Splitting bytes takes a quarter of the time of the regular expression, which then runs once for each new run.
        runs = text.encode("ascii").translate(_WORD_BYTES).split() if text.isascii() else _word.findall(text)
        return list(chain.from_iterable(map(self.__getitem__, runs)))

    def __missing__(self, run: str | bytes) -> tuple[int, ...]:
        tokens = _run_tokens.get(run)
        if tokens is None:
            tokens = _run_tokens[run] = _tokens_of(run if isinstance(run, str) else run.decode("ascii"))
        found = self[run] = tuple(map(self._position, tokens))
        return found


def _tokens_of(run: str) -> tuple[str, ...]:
    if len(_run_tokens) > MAX_CACHED_WORDS:
        _run_tokens.clear()
    return tuple(chain.from_iterable(map(word_tokens, _word.findall(run))))


def _capped(counts: Iterable[int]) -> bytes:
    """Return counts as bytes, 255 for more."""
    counts = list(counts)
    return bytes(counts) if max(counts, default=0) < 256 else bytes([min(one, 255) for one in counts])


class _ThreadStemmers(threading.local):
    """One stemmer for each thread; a stemmer is not safe to share."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_stemmers = _ThreadStemmers()
_cache: dict[str, tuple[str, ...]] = {}
_run_tokens: dict[str | bytes, tuple[str, ...]] = {}


def _split(word: str) -> tuple[str, ...]:
    if len(word) > MAX_WORD_CHARACTERS:
        return ()
    parts = word_parts(word)
    if _pair_script.match(word):
        return parts
    stems = tuple(stem(part) for part in parts)
    return (*stems, whole_token(word)) if len(stems) > 1 else stems
