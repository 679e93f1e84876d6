"""Retry guard: the same question, asked again without a better answer, is refused with other words to try."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.router.memory.state import PastQuestion
from codecards.router.notes.search import COMMON, note_tokens

NEAR_TURNS = 6
SAME_QUESTION = 0.85
"""Jaccard similarity of the words from which two questions are the same."""


@dataclass(frozen=True, slots=True)
class RepeatedQuestion:
    """Why a question is not asked again, and what to ask instead."""

    earlier: PastQuestion
    try_instead: tuple[str, ...]

    def message(self) -> str:
        """Return the refusal in words."""
        hint = f" Try other words: {', '.join(self.try_instead)}." if self.try_instead else " Try other words."
        found = f"it found {', '.join(self.earlier.found[:3])}" if self.earlier.found else "it found nothing"
        return f"This was asked in turn {self.earlier.turn}, and {found}; asking again brings no more.{hint}"


def check_repeat(
    query: str, turn: int, asked: Sequence[PastQuestion], near_words: Sequence[str], *, generation: str = ""
) -> RepeatedQuestion | None:
    """Return a refusal where the same question was asked within the last turns on the same index, else None.

    Args:
        query: The new question.
        turn: The turn in which it is asked.
        asked: Earlier questions, oldest first.
        near_words: Words of the project to try instead; those of the query are left out.
        generation: State of the index now.
    """
    words = frozenset(note_tokens(query)) - COMMON
    for earlier in reversed(asked):
        old = frozenset(note_tokens(earlier.query)) - COMMON
        together = words | old
        same = len(words & old) / len(together) >= SAME_QUESTION if together else query.strip() == earlier.query.strip()
        if same and 0 <= turn - earlier.turn <= NEAR_TURNS and earlier.generation == generation:
            fresh = tuple(word for word in near_words if not frozenset(note_tokens(word)) & words)
            return RepeatedQuestion(earlier, fresh[:5])
    return None
