"""Translation: adds to a Chinese question the English words that code would use.

A run of Chinese is segmented by longest match against known words. No segmentation library is needed, since text between
known words is searched by its pairs of characters. A known word becomes one term whose members are its English names and
its own pairs of characters, so that a Chinese comment and an English name match the same term and count once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codecards.indexer.cards.words import is_pair_script, stem, whole_token, word_parts
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import JOIN_WEIGHT, PAIR_END_WEIGHT, POSITION_DECAY, Query, Term
from codecards.retrieval.query.words import stop_characters, stop_pairs
from codecards.retrieval.store.glossary import Glossary, Names, programming_terms

MAX_WORD_CHARACTERS = 6
"""Characters of the longest known word."""
TRANSLATED_WEIGHT = 0.8
"""Weight of a translated word; a word that was typed has 1."""
UNKNOWN_WEIGHT = 0.3
"""Weight of a stretch that neither word list nor index knows: it can't be found, but counts for the verdict."""


@dataclass(frozen=True, slots=True)
class TranslatedWord:
    """One stretch of Chinese in a question, and its English names."""

    chinese: str
    english: Names
    """Empty for a stop word, and for a stretch between known words."""


def has_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return any("\u3400" <= character <= "\u9fff" for character in text)


def translate(index: DerivedIndex, query: Query) -> Query:
    """Return a question with English words for its Chinese ones; a question without Chinese is returned unchanged.

    Args:
        index: English names and Chinese pairs that it does not have are not searched.
        query: As parsed.
    """
    if not has_chinese(query.text) or query.is_issue:
        return query
    english_words: list[str] = []
    translated: dict[int, TranslatedWord] = {}
    unknown: list[str] = []
    for word in query.content_words:
        if not is_pair_script(word):
            english_words.append(word)
            continue
        for translation in _translated_words(word, index.glossary):
            if translation.english:
                translated[len(english_words)] = translation
                english_words.append(_best_name(index, translation))
            else:
                unknown.append(translation.chinese)
    if not translated:
        return replace(query, english=" ".join(english_words))
    typed = [term for term in query.terms if not is_pair_script(term.token)]
    rest = [*_known_pairs(index, query.terms, translated, unknown), *_unknown(index, unknown)]
    terms = (*_terms(translated), *typed, *_joins(english_words, translated), *rest)
    return replace(query, terms=terms, content_words=tuple(english_words), english=" ".join(english_words))


def _translated_words(run: str, mined: Glossary) -> Iterator[TranslatedWord]:
    """Yield the words of a run that the list knows, and between them those that only the repository's own glossary knows."""
    listed = programming_terms()
    for translation in segment(run, listed):
        if translation.chinese not in listed:
            yield from segment(translation.chinese, mined)
        elif translation.english:
            more = [name for name in mined.get(translation.chinese, ()) if name[0] not in dict(translation.english)]
            yield TranslatedWord(translation.chinese, (*translation.english, *more))


def segment(run: str, glossary: Glossary) -> Iterator[TranslatedWord]:
    """Yield the known words of a run of Chinese, by longest match from the left, and the stretches between them.

    A single character is a word only if it is alone between known words: 库 is a library, but not in 库存. A single stop
    character ends a word anywhere.
    """
    place = start = 0
    while place < len(run):
        lengths = range(min(MAX_WORD_CHARACTERS, len(run) - place), 0, -1)
        length = next((length for length in lengths if _is_word(run[place : place + length], glossary)), 0)
        if length:
            if place > start:
                yield _stretch(run[start:place], glossary)
            chinese = run[place : place + length]
            yield TranslatedWord(chinese, tuple(glossary[chinese]))
            start = place + length
        place += length or 1
    if place > start:
        yield _stretch(run[start:place], glossary)


def _is_word(chinese: str, glossary: Glossary) -> bool:
    return chinese in glossary and (len(chinese) > 1 or not glossary[chinese])


def _stretch(chinese: str, glossary: Glossary) -> TranslatedWord:
    return TranslatedWord(chinese, tuple(glossary.get(chinese, ())) if len(chinese) == 1 else ())


def _best_name(index: DerivedIndex, translation: TranslatedWord) -> str:
    """Return the most likely English name that the index has, or else the most likely one."""
    return next(
        (word for word, _ in translation.english if index.vocabulary.find(stem(word)) >= 0), translation.english[0][0]
    )


def _terms(translated: Mapping[int, TranslatedWord]) -> Iterator[Term]:
    """Yield a term for each translated word, once."""
    seen: set[str] = set()
    for position, translation in translated.items():
        names = [(stem(word), strength) for word, strength in translation.english]
        if names[0][0] in seen:
            continue
        seen.add(names[0][0])
        pairs = [(pair, 1.0) for pair in word_parts(translation.chinese) if len(pair) > 1]
        others = tuple(dict.fromkeys([*names[1:], *pairs]))
        yield Term(names[0][0], "part", TRANSLATED_WEIGHT / (1 + POSITION_DECAY * position), position, others)


def _joins(english_words: Sequence[str], translated: Mapping[int, TranslatedWord]) -> Iterator[Term]:
    """Yield the compound of each two neighbours, at least one of which was translated."""
    for position in range(len(english_words) - 1):
        if position in translated or position + 1 in translated:
            token = whole_token(english_words[position] + english_words[position + 1])
            yield Term(token, "join", JOIN_WEIGHT * TRANSLATED_WEIGHT / (1 + POSITION_DECAY * position), position)


def _known_pairs(
    index: DerivedIndex, terms: Sequence[Term], translated: Mapping[int, TranslatedWord], unknown: Sequence[str]
) -> Iterator[Term]:
    """Yield the pairs of characters in the index that are in no translated word; pairs across the end of a word weigh less."""
    held = {pair for translation in translated.values() for pair in word_parts(translation.chinese)}
    inside = {pair for stretch in unknown for pair in word_parts(stretch)}
    for term in terms:
        if is_pair_script(term.token) and term.token not in held and index.vocabulary.find(term.token) >= 0:
            yield term if term.token in inside else replace(term, weight=term.weight * PAIR_END_WEIGHT)


def _unknown(index: DerivedIndex, stretches: Sequence[str]) -> Iterator[Term]:
    """Yield a term for each stretch without stop characters of which neither list nor index knows a pair."""
    for stretch in dict.fromkeys(stretches):
        pairs = [pair for pair in word_parts(stretch) if len(pair) > 1 and pair not in stop_pairs()]
        pairs = [pair for pair in pairs if not stop_characters().intersection(pair)]
        if pairs and all(index.vocabulary.find(pair) < 0 for pair in pairs):
            yield Term(stretch, "part", UNKNOWN_WEIGHT, 0)
