"""Summarising: another's words for a text, asked for within a time limit and taken only if they are shorter than it.

A summariser is any callable: a model, a program, a client. Nothing rests on it: whatever it does, the rules' own words
are there, and the reason why they were taken instead is told.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass

from codecards.errors import CodecardsError, UsageError
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

Summariser = Callable[[str, int], str]
"""Takes a text and the most tokens of its summary; may fail or be late."""
SUMMARISER_TIMEOUT_S = 20.0
MAX_REASON_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class SummariserConfig:
    """Who words summaries, and how long that may take."""

    summariser: Summariser
    timeout_s: float = SUMMARISER_TIMEOUT_S

    def __post_init__(self) -> None:
        if not self.timeout_s > 0:
            raise UsageError(f"a summariser needs more than {self.timeout_s:g} seconds")

    @classmethod
    def from_callable(cls, summariser: "Summariser | SummariserConfig | None") -> "SummariserConfig | None":
        """Return who words summaries; a mere callable has the usual time limit."""
        return summariser if summariser is None or isinstance(summariser, SummariserConfig) else cls(summariser)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summariser said, or why its words are not used."""

    words: str = ""
    """"" where there are none to use."""
    notice: str = ""
    """Why there are none: "the summariser failed (KeyError: 'x')"; "" where there are some."""


def summarise(
    source: str, target_tokens: int, config: SummariserConfig, *, count: TokenCounter = estimate_tokens
) -> Summary:
    """Return a summary that fits the target and is shorter than its source, or why there is none.

    The summariser runs in a thread of its own; one that hangs is left behind when the time is over.
    """
    if target_tokens <= 0:
        return Summary(notice="there was no room for the summariser's words")
    answer: Future[str] = Future()

    def ask() -> None:
        try:
            answer.set_result(config.summariser(source, target_tokens))
        except Exception as error:  # foreign code: whatever it raises, the rules' own words stand
            answer.set_exception(error)

    # A daemon thread of its own: one that hangs must keep neither the caller nor the end of the process waiting.
    threading.Thread(target=ask, name="summariser", daemon=True).start()
    try:
        error = answer.exception(config.timeout_s)
    except FutureTimeoutError:
        return Summary(notice=f"the summariser gave no answer in {config.timeout_s:g} s")
    if error is not None:
        kind = "" if isinstance(error, CodecardsError) else f"{type(error).__name__}: "
        reason = " ".join(f"{kind}{error}".split())[:MAX_REASON_CHARACTERS]
        return Summary(notice=f"the summariser failed ({reason})")
    return _checked(answer.result(), source, target_tokens, count)


def _checked(words: object, source: str, target_tokens: int, count: TokenCounter) -> Summary:
    """Return an answer's words if they can be used: the answer of foreign code may be anything."""
    if not isinstance(words, str) or not words.strip():
        return Summary(notice="the summariser gave no text")
    words = words.strip()
    if len(words) >= len(source.strip()):
        return Summary(notice="the summariser returned no less than it got")
    if (n_tokens := count(words)) > target_tokens:
        return Summary(notice=f"the summariser took {n_tokens} tokens; {target_tokens} were allowed")
    return Summary(words)
