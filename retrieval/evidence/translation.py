"""Translation: a Chinese question gets the English words that code would use for it.

A run of Chinese is cut by longest match against known words; there is no segmentation library, for what no known word
covers is still searched by its pairs of characters. A known word becomes one term whose members are its English names and
its own pairs of characters, so that a Chinese comment and an English name stand for the same thing and count once.
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
"""Weight of a translated word beside one that was typed: the asker did not write it."""
UNKNOWN_WEIGHT = 0.3
"""Weight of a stretch that nobody here knows: it can't be found, and the answer's verdict must not forget it."""


@dataclass(frozen=True, slots=True)
class TranslatedWord:
    """One stretch of Chinese in a question, and its English names."""

    chinese: str
    english: Names
    """None for a word that says nothing, and for a stretch between known words."""


def has_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return any("\u3400" <= character <= "\u9fff" for character in text)


def translate(index: DerivedIndex, query: Query) -> Query:
    """Return a question with English words for its Chinese ones; one without Chinese as it is.

    Args:
        index: Words that it does not have translate nothing, and Chinese that it does not have is not searched.
        query: As it was read.
    """
    if not has_chinese(query.text) or query.is_issue:
        return query
    spoken: list[str] = []
    concepts: dict[int, TranslatedWord] = {}
    unknown: list[str] = []
    for word in query.content_words:
        if not is_pair_script(word):
            spoken.append(word)
            continue
        for concept in _concepts(word, index.glossary):
            if concept.english:
                concepts[len(spoken)] = concept
                spoken.append(_best_name(index, concept))
            else:
                unknown.append(concept.chinese)
    if not concepts:
        return replace(query, english=" ".join(spoken))
    typed = [term for term in query.terms if not is_pair_script(term.token)]
    rest = [*_known_pairs(index, query.terms, concepts, unknown), *_unknown(index, unknown)]
    terms = (*_terms(concepts), *typed, *_joins(spoken, concepts), *rest)
    return replace(query, terms=terms, content_words=tuple(spoken), english=" ".join(spoken))


def _concepts(run: str, mined: Glossary) -> Iterator[TranslatedWord]:
    """Yield the words of a run that the list knows, and between them those that only the repository itself tells."""
    listed = programming_terms()
    for concept in segment(run, listed):
        if concept.chinese not in listed:
            yield from segment(concept.chinese, mined)
        elif concept.english:
            more = [name for name in mined.get(concept.chinese, ()) if name[0] not in dict(concept.english)]
            yield TranslatedWord(concept.chinese, (*concept.english, *more))


def segment(run: str, glossary: Glossary) -> Iterator[TranslatedWord]:
    """Yield the known words of a run of Chinese, the longest match first from the left, and what lies between them.

    A single character is a word only where it stands alone between others: 库 is a library, but not in 库存. One that says
    nothing ends a word anywhere.
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


def _best_name(index: DerivedIndex, concept: TranslatedWord) -> str:
    """Return the surest English name that the index has, else the surest."""
    return next((word for word, _ in concept.english if index.vocabulary.find(stem(word)) >= 0), concept.english[0][0])


def _terms(concepts: Mapping[int, TranslatedWord]) -> Iterator[Term]:
    """Yield a term for each concept, once."""
    seen: set[str] = set()
    for position, concept in concepts.items():
        names = [(stem(word), strength) for word, strength in concept.english]
        if names[0][0] in seen:
            continue
        seen.add(names[0][0])
        pairs = [(pair, 1.0) for pair in word_parts(concept.chinese) if len(pair) > 1]
        others = tuple(dict.fromkeys([*names[1:], *pairs]))
        yield Term(names[0][0], "part", TRANSLATED_WEIGHT / (1 + POSITION_DECAY * position), position, others)


def _joins(spoken: Sequence[str], concepts: Mapping[int, TranslatedWord]) -> Iterator[Term]:
    """Yield the compound of each two neighbours of which one at least was translated."""
    for position in range(len(spoken) - 1):
        if position in concepts or position + 1 in concepts:
            token = whole_token(spoken[position] + spoken[position + 1])
            yield Term(token, "join", JOIN_WEIGHT * TRANSLATED_WEIGHT / (1 + POSITION_DECAY * position), position)


def _known_pairs(
    index: DerivedIndex, terms: Sequence[Term], concepts: Mapping[int, TranslatedWord], unknown: Sequence[str]
) -> Iterator[Term]:
    """Yield the pairs of characters that no concept holds and the index has; those across a word's end weigh less."""
    held = {pair for concept in concepts.values() for pair in word_parts(concept.chinese)}
    inside = {pair for stretch in unknown for pair in word_parts(stretch)}
    for term in terms:
        if is_pair_script(term.token) and term.token not in held and index.vocabulary.find(term.token) >= 0:
            yield term if term.token in inside else replace(term, weight=term.weight * PAIR_END_WEIGHT)


def _unknown(index: DerivedIndex, stretches: Sequence[str]) -> Iterator[Term]:
    """Yield a term for each stretch that says something and of which neither list nor index knows a pair."""
    for stretch in dict.fromkeys(stretches):
        pairs = [pair for pair in word_parts(stretch) if len(pair) > 1 and pair not in stop_pairs()]
        pairs = [pair for pair in pairs if not stop_characters().intersection(pair)]
        if pairs and all(index.vocabulary.find(pair) < 0 for pair in pairs):
            yield Term(stretch, "part", UNKNOWN_WEIGHT, 0)
