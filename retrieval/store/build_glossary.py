"""Mines the English words that a repository uses for its Chinese ones from texts that it has in both languages.

Three sources give such pairs of texts: message catalogs with translations, parallel documents in both languages (section by
section), and cards with Chinese documentation and an English name. The glossary keeps the words that occur together more
often than by chance over all pairs.

Source: the squared phi coefficient of two words over pairs of texts (Gale and Church 1991), without its small correction.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codecards.indexer.cards.words import is_pair_script, stem, word_tokens, words
from codecards.retrieval.query.words import stop_characters, stop_words
from codecards.retrieval.store.columns import Columns, runs
from codecards.retrieval.store.folder import COLUMNS_FOLDER
from codecards.retrieval.store.glossary import GLOSSARY_FILE
from codecards.retrieval.store.vocabulary import Vocabulary

if TYPE_CHECKING:
    from codecards.indexer.store.derived import GenerationDiff

TEXTS_FILE = "bilingual_texts.json"
MAX_PAIRS = 6_000
MAX_CHINESE, MAX_ENGLISH = 40, 16
"""Words of one pair that are counted; in longer texts too many words occur together by chance."""
MAX_CATALOG_CHARACTERS = 1_000_000
MIN_PHI = 0.3
MAX_STRENGTH = 0.8
N_NAMES = 2
NAME, SIGNATURE = 0, 2

_catalog = re.compile(r"(^|/)(zh|cn)([_-]\w+)*/(.*/)?\w+\.po$|(^|[/._-])zh([_-]\w+)*\.po$", re.IGNORECASE)
_locale = re.compile(r"(^|[/._-])(zh|cn|en)(?:[_-](?:hans|hant|cn|us|gb))*(?=[/._-])", re.IGNORECASE)
_keyed_suffix = (".json", ".yaml", ".yml", ".properties", ".js", ".ts")
_keyed_line = re.compile(r"""^\s*["']?([\w.$-]+)["']?\s*[:=]\s*["'](.*?)["'],?\s*$""")
_po_line = re.compile(r'^(msgid|msgid_plural|msgstr|msgstr\[\d\])?\s*"(.*)"\s*$')
_document = (".md", ".rst", ".txt", ".markdown")

Pair = tuple[str, str]
"""(Chinese text, English text)"""
IdPair = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(ids of Chinese words, ids of English ones)"""


def build_glossary(change: "GenerationDiff") -> None:
    """Write the glossary of a bilingual repository, after its columns and vocabulary; write nothing for any other.

    Raises:
        OSError: A file can't be written.
        ValueError: The old folder is damaged.
    """
    texts: dict[str, dict[str, str]] = {}
    old = change.old_folder / TEXTS_FILE if change.old_folder is not None else None
    columns = Columns.open(change.new_folder / COLUMNS_FOLDER)
    vocabulary = Vocabulary.open(change.new_folder)
    if not len(_chinese_ids(vocabulary)):
        return
    paths = _paths(columns)
    if old is not None and old.exists():
        known = json.loads(old.read_text(encoding="utf-8"))
        changed = {one.entry.path for one in change.changed}
        texts = {path: text for path, text in known.items() if path in paths and path not in changed}
    for one in change.changed:
        if is_catalog(one.entry.path) and (text := change.read_text(one.entry)) and len(text) <= MAX_CATALOG_CHARACTERS:
            texts[one.entry.path] = catalog_texts(one.entry.path, text)
    pairs = [*_of_texts(texts, vocabulary), *_of_documents(columns, paths, vocabulary), *_of_cards(columns, vocabulary)]
    glossary = associated(pairs, vocabulary, columns.word_files)
    if texts:
        (change.new_folder / TEXTS_FILE).write_text(json.dumps(dict(sorted(texts.items()))), encoding="utf-8")
    if glossary:
        (change.new_folder / GLOSSARY_FILE).write_text(json.dumps(glossary), encoding="utf-8")


def is_catalog(path: str) -> bool:
    """Return whether a path names a Chinese message catalog, or a file of keyed texts in Chinese or English."""
    return bool(_catalog.search(path)) or (path.endswith(_keyed_suffix) and bool(_locale.search(path)))


def catalog_texts(path: str, text: str) -> dict[str, str]:
    """Return English → Chinese for a .po file; key → text for a file of keyed texts, without repeated keys."""
    if path.endswith(".po"):
        return {english: chinese for chinese, english in po_pairs(text)}
    found: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.split("\n"):
        match = _keyed_line.match(line)
        if match and match[2]:
            twice.update({match[1]} & found.keys())
            found[match[1]] = match[2]
    return {key: value for key, value in found.items() if key not in twice}


def po_pairs(text: str) -> Iterator[Pair]:
    """Yield (translation, message) of a .po file where both are present."""
    said: dict[str, str] = {}
    key = ""
    for line in [*text.split("\n"), 'msgid ""']:
        match = _po_line.match(line)
        if match is None:
            continue
        if match[1] == "msgid":
            if said.get("msgid") and said.get("msgstr"):
                yield said["msgstr"], said["msgid"]
            said = {}
        key = match[1] or key
        said[key] = said.get(key, "") + match[2].replace("\\n", "\n")


def associated(
    pairs: Sequence[IdPair], vocabulary: Vocabulary, n_files: NDArray[np.uint32]
) -> dict[str, list[tuple[str, float]]]:
    """Return Chinese word → [(English stem, strength), …] of the words that occur together, strongest first.

    Args:
        pairs: Texts in both languages, as word ids.
        vocabulary: The vocabulary of the ids.
        n_files: (n_words,): number of files with each word; of equally strong ones the rarer comes first.
    """
    if len(pairs) > MAX_PAIRS:
        pairs = [pairs[place * len(pairs) // MAX_PAIRS] for place in range(MAX_PAIRS)]
    pairs = [(chinese[:MAX_CHINESE], english[:MAX_ENGLISH]) for chinese, english in pairs]
    if not pairs:
        return {}
    n_words = len(vocabulary)
    together = [np.add.outer(chinese * n_words, english).ravel() for chinese, english in pairs]
    cells, counts = np.unique(np.concatenate(together), return_counts=True)
    n_chinese = np.bincount(np.concatenate([chinese for chinese, _ in pairs]), minlength=n_words)
    n_english = np.bincount(np.concatenate([english for _, english in pairs]), minlength=n_words)
    chinese, english = cells // n_words, cells % n_words
    # A single common occurrence may be chance, so one is subtracted.
    phi = (counts - 1.0) ** 2 / (n_chinese[chinese] * n_english[english])
    is_strong = phi >= MIN_PHI
    found: dict[str, list[tuple[str, float]]] = {}
    order = np.lexsort((english[is_strong], n_files[english[is_strong]], -phi[is_strong], chinese[is_strong]))
    for place in np.flatnonzero(is_strong)[order].tolist():
        names = found.setdefault(vocabulary[int(chinese[place])], [])
        if len(names) < N_NAMES:
            names.append((vocabulary[int(english[place])], round(MAX_STRENGTH * float(np.sqrt(phi[place])), 3)))
    return found


def _of_texts(texts: Mapping[str, Mapping[str, str]], vocabulary: Vocabulary) -> Iterator[IdPair]:
    """Yield the pairs of catalogs, and of keyed texts whose paths differ only in the language."""
    english = {_locale.sub(r"\1*", path): keyed for path, keyed in texts.items() if _language(path) == "en"}
    for path, keyed in sorted(texts.items()):
        if path.endswith(".po"):
            pairs: Iterable[Pair] = ((chinese, key) for key, chinese in keyed.items())
        elif _language(path) == "zh":
            other = english.get(_locale.sub(r"\1*", path), {})
            pairs = ((chinese, other[key]) for key, chinese in keyed.items() if key in other)
        else:
            continue
        for chinese, said in pairs:
            found = _ids(chinese, vocabulary), _ids(said, vocabulary)
            yield from _both(found[0][0], found[1][1])


def _of_documents(columns: Columns, paths: Mapping[str, int], vocabulary: Vocabulary) -> Iterator[IdPair]:
    """Yield the sections of parallel documents that have equally many."""
    twins: dict[str, list[int]] = {}
    for path, row in paths.items():
        if path.lower().endswith(_document):
            twins.setdefault(_locale.sub("", path).replace("//", "/").lstrip("/"), []).append(row)
    for rows in twins.values():
        if len(rows) < 2:
            continue
        cards = [np.arange(columns.card_offset[row], columns.card_offset[row + 1]) for row in rows]
        share = [_chinese_share(columns, one, vocabulary) for one in cards]
        chinese = cards[int(np.argmax(share))]
        for other, value in zip(cards, share, strict=True):
            if max(share) > 0.2 and value < 0.05 and len(other) == len(chinese):
                for one, same in zip(chinese.tolist(), other.tolist(), strict=True):
                    yield from _both(_words(columns, one, vocabulary)[0], _words(columns, same, vocabulary)[1])


def _of_cards(columns: Columns, vocabulary: Vocabulary) -> Iterator[IdPair]:
    """Yield the words of cards that contain Chinese and have an English name."""
    is_chinese = np.zeros(len(vocabulary), np.bool_)
    ids = _chinese_ids(vocabulary)
    is_chinese[ids.start : ids.stop] = True
    entries = np.flatnonzero(is_chinese[columns.entry_word])
    cards = np.unique(np.searchsorted(columns.entry_offset, entries, "right") - 1)
    cards = cards[columns.folded_name[cards] != 0]
    if len(cards) > MAX_PAIRS:
        cards = cards[np.arange(MAX_PAIRS) * len(cards) // MAX_PAIRS]
    for card in cards.tolist():
        chinese, english = _words(columns, card, vocabulary, fields=(NAME, SIGNATURE))
        yield from _both(chinese, english)


def _both(chinese: NDArray[np.int64], english: NDArray[np.int64]) -> Iterator[IdPair]:
    if len(chinese) and len(english):
        yield chinese, english


def _words(columns: Columns, card: int, vocabulary: Vocabulary, fields: Sequence[int] = (0, 1, 2, 3, 4)) -> IdPair:
    """Return the ids of a card's Chinese words, and of its English words in some fields."""
    first, last = int(columns.entry_offset[card]), int(columns.entry_offset[card + 1])
    ids = columns.entry_word[first:last].astype(np.int64)
    chinese, english = _chinese_ids(vocabulary), _english_ids(vocabulary)
    inside = columns.entry_counts[first:last][:, list(fields)].any(axis=1)
    named = ids[inside & (ids >= english.start) & (ids < english.stop)]
    kept = [word_id for word_id in named.tolist() if vocabulary[word_id] not in _STOP_STEMS]
    said = [
        word_id
        for word_id in ids[(ids >= chinese.start) & (ids < chinese.stop)].tolist()
        if not stop_characters().intersection(vocabulary[word_id])
    ]
    return np.array(said, np.int64), np.array(kept, np.int64)


def _ids(text: str, vocabulary: Vocabulary) -> IdPair:
    """Return the ids of a text's Chinese words, and of its English words."""
    chinese: dict[int, None] = {}
    english: dict[int, None] = {}
    for word in words(text):
        for token in word_tokens(word):
            word_id = vocabulary.find(token)
            if word_id < 0 or token.startswith("="):
                continue
            if is_pair_script(token):
                if not stop_characters().intersection(token):
                    chinese[word_id] = None
            elif token.isascii() and token.isalpha() and token not in _STOP_STEMS:
                english[word_id] = None
    return np.array(list(chinese), np.int64), np.array(list(english), np.int64)


_STOP_STEMS = frozenset(stem(word) for word in stop_words())


def _chinese_ids(vocabulary: Vocabulary) -> range:
    return vocabulary.between("\u3400", "\ua000")


def _english_ids(vocabulary: Vocabulary) -> range:
    return vocabulary.between("a", "{")


def _chinese_share(columns: Columns, cards: NDArray[np.int64], vocabulary: Vocabulary) -> float:
    entries = runs(columns.entry_offset[cards], np.diff(columns.entry_offset)[cards])
    ids = columns.entry_word[entries]
    chinese = _chinese_ids(vocabulary)
    return float(((ids >= chinese.start) & (ids < chinese.stop)).mean()) if len(ids) else 0.0


def _language(path: str) -> str:
    found = _locale.search(path)
    return "" if found is None else "en" if found[2].lower() == "en" else "zh"


def _paths(columns: Columns) -> dict[str, int]:
    """Return path → row."""
    text, bounds = columns.path_bytes.tobytes(), columns.path_offset.tolist()
    return {
        text[bounds[row] : bounds[row + 1]].decode("utf-8", "surrogateescape"): row for row in range(len(bounds) - 1)
    }
