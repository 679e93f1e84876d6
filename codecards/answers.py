"""Answers: what the engine returns, as values."""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.indexer.cards.card import Card
from codecards.indexer.facts import Import
from codecards.indexer.problems import Problem
from codecards.indexer.text.secrets import mask_secrets
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.rank.tuned_weights import TunedWeights


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A hit that was checked against the file on disk."""

    rank: int
    card: Card
    """With the lines it has on disk now."""
    score: float
    terms: Sequence[ScoreTerm]
    """Named parts of the score; they sum to it."""
    fresh: bool
    """False if the text has changed since it was indexed."""
    lines: Sequence[str]
    """The card's lines as they are on disk now."""

    @property
    def text(self) -> str:
        """The lines as they are shown: cut in the middle where they are too many, with a notice; secrets masked."""
        return excerpt(self.lines)


@dataclass(frozen=True, slots=True)
class RetrieverStatus:
    """One way of finding."""

    name: str
    ready: bool
    reason: str
    """Why it is not ready, or how far it is; "" where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question."""

    query: str
    kind: str
    verdict: str
    """"found", "weak" or "none"."""
    generation: int
    """0 where there is no index yet and the files themselves were searched."""
    hits: tuple[FoundCard, ...]
    n_files: int
    """Files that were searched."""
    n_cards: int
    left_out: dict[str, int]
    """Reason -> number of files that could not be searched."""
    suggestions: tuple[str, ...]
    took_ms: float
    notices: tuple[str, ...] = ()
    """What the reader should know: no index yet, files changed since, a lane that is off."""
    retrievers: tuple[RetrieverStatus, ...] = ()
    """Which ways of finding took part in this answer."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One use of a symbol, or one thing that a symbol uses."""

    name: str
    """Qualified name of the caller (of the callee, in `callees`)."""
    path: str
    """Its file; "" for something outside the repository."""
    line: int
    """Where it is used, 1-based."""
    confidence: str
    """"exact", "likely", "possible"; in `callees` also "external"."""
    rule: str
    """What the confidence rests on: "import", "self", "same-file" …"""
    kind: str
    """"call", "construct", "macro", "decorator", "value"."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Callers or callees of a symbol."""

    target: Card | None
    """None where nothing has the name, or several things have: then there are candidates and no calls."""
    candidates: tuple[Card, ...]
    calls: tuple[Caller, ...]
    total: int
    truncated: bool
    suggestions: tuple[str, ...] = ()
    """Near names, where nothing has the name."""


@dataclass(frozen=True, slots=True)
class ShownTarget:
    """A symbol, file or line with its text."""

    card: Card | None
    """None for a file as a whole."""
    path: str
    first_line: int
    last_line: int
    text: str
    stale: bool
    """Whether the file has changed since it was indexed."""
    imports: tuple[Import, ...] = ()
    """Imports of the file that the card uses, by line; none for a file as a whole."""
    calls: tuple[Caller, ...] = ()
    """What the card calls, by line, each target once."""


@dataclass(frozen=True, slots=True)
class FileSummary:
    """One indexed file, or one that is not indexed whole."""

    path: str
    language: str
    role: str
    encoding: str
    n_cards: int


@dataclass(frozen=True, slots=True)
class Status:
    """State of an index."""

    generation: int
    format: int
    commit: str | None
    """What was checked out when it was built."""
    dirty: bool | None
    complete: bool
    n_files: int
    n_cards: int
    n_edges: int
    embedder_name: str
    embedder_dimensions: int
    embedder_identity: str
    retrievers: tuple[RetrieverStatus, ...]
    problems: tuple[Problem, ...]
    n_changed: int
    """Files that changed since; a run of `index` takes them in."""
    tuned: TunedWeights | None = None
    """What was fitted to the project's own history, None for the default weights."""
    tuned_problem: str = ""
    """Why fitted weights that are there are not used."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a file is not among the hits of a query."""

    reason: str
    """"ignored", "too_large", "binary" … (as in `problems.Reason`), "not_in_project", "not_indexed", "below_floor",
    "outranked", "demoted", or "found"."""
    detail: str


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of symbols touches."""

    changed: tuple[Card, ...]
    callers: tuple[Caller, ...]
    tests: tuple[str, ...]
    """Test files that reach a changed symbol, nearest first."""


MAX_LINES = 160
MAX_CHARACTERS = 12_000
MAX_LINE_CHARACTERS = 1_000
LEAST_LINES = 8
"""However long lines are, so many are shown."""


def excerpt(lines: Sequence[str], *, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> str:
    """Return lines as one text; what is too long loses its middle, never its end, and says how much is left out."""
    n_shown = min(len(lines), max_lines)
    shown = _without_middle(lines, n_shown)
    while n_shown > LEAST_LINES and len(shown) > max_characters:
        n_shown = max(LEAST_LINES, n_shown * 4 // 5)
        shown = _without_middle(lines, n_shown)
    return mask_secrets(shown)


def _without_middle(lines: Sequence[str], n_shown: int) -> str:
    """Return the first two thirds and the last third of the lines that are shown, and a notice between."""
    if n_shown >= len(lines):
        return "\n".join(map(_cut, lines))
    n_head = n_shown * 2 // 3
    notice = f"… ({len(lines) - n_shown} lines left out; show the path and lines to read them)"
    tail = lines[len(lines) - (n_shown - n_head) :]
    return "\n".join([*map(_cut, lines[:n_head]), notice, *map(_cut, tail)])


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]} … ({len(line)} characters)"
