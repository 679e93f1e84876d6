"""Repeated questions: a question that was asked before on the same index is refused, with other words to try."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.router.memory.state import PastQuestion, SessionState
from codecards.router.notes.search import COMMON, note_tokens
from codecards.router.ports import FoldedHit, Project

NEAR_TURNS = 6
"""An earlier question counts for so many turns."""
SAME_QUESTION = 0.85
"""Two questions are the same from this Jaccard similarity of their words."""
MAX_OTHER_WORDS = 5


@dataclass(frozen=True, slots=True)
class RepeatedQuestion:
    """Why a question is refused, and other words to try."""

    earlier: PastQuestion
    try_instead: tuple[str, ...]

    def message(self) -> str:
        """Return the refusal as a sentence."""
        hint = f" Try other words: {', '.join(self.try_instead)}." if self.try_instead else " Try other words."
        found = f"found {', '.join(self.earlier.found[:3])}" if self.earlier.found else "found nothing"
        return f"This question was asked in turn {self.earlier.turn} and {found}; the answer would be the same.{hint}"


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Folded hits, or the reason why the question was refused."""

    references: tuple[FoldedHit, ...]
    refusal: RepeatedQuestion | None = None


def answer_question(project: Project, state: SessionState, query: str, limit: int) -> tuple[RecallAnswer, PastQuestion]:
    """Return the answer to a question, and the question as it is remembered; a repeated question is refused."""
    generation = project.generation()
    refusal = check_repeat(
        query, state.memory.turn, state.asked, project.vocabulary.near_words(query), generation=generation
    )
    references = () if refusal else tuple(project.recaller.recall(query, limit))[:limit]
    anchors = tuple(reference.anchor for reference in references)
    return RecallAnswer(references, refusal), PastQuestion(query, state.memory.turn, anchors, generation)


def check_repeat(
    query: str, turn: int, asked: Sequence[PastQuestion], near_words: Sequence[str], *, generation: str = ""
) -> RepeatedQuestion | None:
    """Return a refusal if the question was asked within the last turns on the same index, else None.

    Args:
        query: The new question.
        turn: The turn in which it is asked.
        asked: Earlier questions, oldest first.
        near_words: Words of the project to try instead; those of the query are left out.
        generation: The current generation of the index.
    """
    words = frozenset(note_tokens(query)) - COMMON
    for earlier in reversed(asked):
        old = frozenset(note_tokens(earlier.query)) - COMMON
        together = words | old
        same = len(words & old) / len(together) >= SAME_QUESTION if together else query.strip() == earlier.query.strip()
        if same and 0 <= turn - earlier.turn <= NEAR_TURNS and earlier.generation == generation:
            other = tuple(word for word in near_words if not frozenset(note_tokens(word)) & words)
            return RepeatedQuestion(earlier, other[:MAX_OTHER_WORDS])
    return None
