"""Calls an external summariser with a timeout; its text is used only if shorter than the source.

A summariser is any callable: a model, a program, a client. If it fails, callers fall back to extractive rules, and
report why.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass

from codecards.errors import CodecardsError, UsageError
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

Summariser = Callable[[str, int], str]
"""(text, most tokens of the summary) → summary. It may raise, or take too long."""
SUMMARISER_TIMEOUT_S = 20.0
MAX_REASON_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class SummariserConfig:
    """A summariser and its timeout."""

    summariser: Summariser
    timeout_s: float = SUMMARISER_TIMEOUT_S

    def __post_init__(self) -> None:
        if not self.timeout_s > 0:
            raise UsageError(f"A summariser needs a timeout of more than 0 seconds, not {self.timeout_s:g}.")

    @classmethod
    def from_callable(cls, summariser: "Summariser | SummariserConfig | None") -> "SummariserConfig | None":
        """Return the configuration of a summariser; a plain callable gets the default timeout."""
        return summariser if summariser is None or isinstance(summariser, SummariserConfig) else cls(summariser)


@dataclass(frozen=True, slots=True)
class Summary:
    """The text of a summariser, or the reason why it is not used."""

    words: str = ""
    """"" if there is no usable text."""
    notice: str = ""
    """Why there is no usable text: "the summariser failed (KeyError: 'x')"; else ""."""


def summarise(
    source: str, target_tokens: int, config: SummariserConfig, *, count: TokenCounter = estimate_tokens
) -> Summary:
    """Return a summary that fits the target and is shorter than its source, or the reason why there is none.

    The summariser runs in its own thread, which is abandoned after the timeout.
    """
    if target_tokens <= 0:
        return Summary(notice="there was no room for a summary")
    answer: Future[str] = Future()

    def ask() -> None:
        try:
            answer.set_result(config.summariser(source, target_tokens))
        except Exception as error:  # external code may raise anything; the caller falls back to its rules
            answer.set_exception(error)

    # A daemon thread: a summariser that hangs must block neither the caller nor the exit of the process.
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
    """Return the summary if it is usable; external code may return anything."""
    if not isinstance(words, str) or not words.strip():
        return Summary(notice="the summariser gave no text")
    words = words.strip()
    if len(words) >= len(source.strip()):
        return Summary(notice="the summariser returned a text that is not shorter than its source")
    if (n_tokens := count(words)) > target_tokens:
        return Summary(notice=f"the summary takes {n_tokens} tokens; {target_tokens} were allowed")
    return Summary(words)
