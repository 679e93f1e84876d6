"""Makes queries that no repository answers, by rule from lists of words; always the same ones."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

WORDS_FILE = Path(__file__).parent / "words.txt"
SEED = 20_261_130
N_A_FAMILY = 160
N_LONG = 60
CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwz", "aeiou"

Sections = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Nonsense:
    """One query without an answer."""

    text: str
    family: str
    """"everyday", "random words" …: a key of `FAMILIES`."""


def nonsense_queries() -> list[Nonsense]:
    """Return all queries, family by family, each text once."""
    sections = read_sections()
    found: dict[str, Nonsense] = {}
    for family, make in FAMILIES.items():
        # Each family has its own random stream, so a change of one family does not affect the others.
        chance = random.Random(f"{SEED} {family}")
        for text in make(sections, chance):
            found.setdefault(text, Nonsense(text, family))
    return list(found.values())


def read_sections(path: Path = WORDS_FILE) -> Sections:
    """Return section → lines; sections of words → single words.

    Raises:
        OSError: The file can't be read.
    """
    sections: Sections = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = []
        elif line and not line.startswith("#"):
            sections[name] += line.split() if name.endswith("words") else [line]
    return sections


def _everyday(sections: Sections, _: random.Random) -> Iterator[str]:
    """Yield questions for cooks, doctors and travel agents."""
    yield from sections["everyday"]


def _other_languages(sections: Sections, _: random.Random) -> Iterator[str]:
    yield from sections["other languages"]


def _random_words(sections: Sections, chance: random.Random) -> Iterator[str]:
    for _ in range(N_A_FAMILY):
        yield " ".join(chance.sample(sections["words"], chance.randint(1, 12)))


def _shuffled_words(sections: Sections, chance: random.Random) -> Iterator[str]:
    """Yield the words of two everyday questions in random order."""
    for _ in range(N_A_FAMILY):
        words = [word for question in chance.sample(sections["everyday"], 2) for word in question.split()]
        chance.shuffle(words)
        yield " ".join(words[: chance.randint(4, 16)])


def _code_words_among_others(sections: Sections, chance: random.Random) -> Iterator[str]:
    """Yield words of which a third to two thirds are common in every program."""
    for _ in range(N_A_FAMILY):
        n_words = chance.randint(3, 10)
        code = chance.sample(sections["code words"], round(n_words * chance.uniform(1 / 3, 2 / 3)))
        words = code + chance.sample(sections["words"], n_words - len(code))
        chance.shuffle(words)
        yield " ".join(words)


def _code_questions_of_things(sections: Sections, chance: random.Random) -> Iterator[str]:
    """Yield questions about code, asked about something else."""
    pairs = [(question, thing) for question in sections["code questions"] for thing in sections["things"]]
    for question, thing in chance.sample(pairs, N_A_FAMILY):
        yield question.format(thing=thing)


def _gibberish(_: Sections, chance: random.Random) -> Iterator[str]:
    for number in range(N_A_FAMILY):
        words = [
            "".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in range(chance.randint(2, 4)))
            for _ in range(chance.randint(1, 5))
        ]
        yield " ".join(words) if number % 2 else f"how does the {' '.join(words)} work"


def _long_texts(sections: Sections, chance: random.Random) -> Iterator[str]:
    """Yield several everyday questions in a row, long enough to count as an issue text."""
    for _ in range(N_LONG):
        yield ". ".join(chance.sample(sections["everyday"], chance.randint(9, 14)))


FAMILIES: dict[str, Callable[[Sections, random.Random], Iterator[str]]] = {
    "everyday questions": _everyday,
    "other languages": _other_languages,
    "random words": _random_words,
    "shuffled words": _shuffled_words,
    "code words among others": _code_words_among_others,
    "code questions of other things": _code_questions_of_things,
    "gibberish": _gibberish,
    "long texts": _long_texts,
}
"""Family → function that makes its queries."""
