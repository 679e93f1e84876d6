"""The values that the engine returns, and the excerpt that is shown of code."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codecards.indexer.cards.card import Card
from codecards.indexer.facts import Import
from codecards.indexer.problems import Problem
from codecards.indexer.text.secrets import mask_secrets
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.rank.tuned_weights import TunedWeights


@dataclass(frozen=True, slots=True)
class TextMatch:
    """One line that holds an exact text."""

    line: int
    """1-based."""
    text: str
    """Without the space around it; secrets masked."""


@dataclass(frozen=True, slots=True)
class FoundCard:
    """A hit, checked against the file on disk."""

    rank: int
    card: Card
    """With its current lines."""
    score: float
    terms: Sequence[ScoreTerm]
    """Named parts of the score; their sum is the score."""
    fresh: bool
    """False if the text has changed since it was indexed."""
    lines: Sequence[str]
    """The card's current lines on disk."""
    also: tuple[Card, ...] = ()
    """Other places that say the same, with their current lines: overloads, a stub, copies of the text."""
    matches: "tuple[TextMatch, ...]" = ()
    """Lines that hold the exact text that was looked for."""

    @property
    def text(self) -> str:
        """The lines as one text: cut in the middle if there are too many, with a notice; secrets masked."""
        return excerpt(self.lines)


@dataclass(frozen=True, slots=True)
class RetrieverStatus:
    """The state of one retriever."""

    name: str
    ready: bool
    reason: str
    """Why it is not ready, or its progress; else ""."""
    share: float = 1.0
    """Share of the cards that it can find, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question."""

    query: str
    kind: str
    verdict: str
    """"found", "weak" or "none"."""
    generation: int
    """0 if there is no index yet and the files themselves were searched."""
    hits: tuple[FoundCard, ...]
    n_files: int
    """Searched files."""
    n_cards: int
    """Searched cards."""
    left_out: dict[str, int]
    """Reason -> number of files that could not be fully searched."""
    suggestions: tuple[str, ...]
    took_ms: float
    notices: tuple[str, ...] = ()
    """Warnings for the reader: no index yet, changed files, a retriever that is off."""
    retrievers: tuple[RetrieverStatus, ...] = ()
    """State of each retriever in this answer."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The place of one definition."""

    name: str
    """Qualified name."""
    path: str
    line: int
    """1-based."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The functions to read for a question, whole."""

    query: str
    verdict: str
    """Of the question: "found", "weak" or "none"."""
    functions: tuple[FoundCard, ...]
    """Best first; behind each of the first hits what it calls."""
    tokens: int
    """Of the texts and their places."""
    budget_tokens: int
    n_hits: int
    """Hits that were considered."""


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One line of an overview."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Overview:
    """What a project or a folder of it is."""

    path: str
    """The folder from the root; "" for the project."""
    rows: tuple[OverviewRow, ...]
    tokens: int
    budget_tokens: int

    @property
    def text(self) -> str:
        """The rows below the titles of their sections."""
        lines: list[str] = []
        for place, row in enumerate(self.rows):
            if not place or self.rows[place - 1].section != row.section:
                lines.append(f"{row.section}:")
            lines.append(f"  {row.text}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Caller:
    """One use of a symbol, or (in `callees`) one symbol that it uses."""

    name: str
    """Qualified name of the caller, or of the callee in `callees`; as written if the callee is not known."""
    path: str
    """File of the use, or of the callee's definition in `callees`; "" if that is outside the repository or not known."""
    line: int
    """Line in `path`, 1-based: of the use, or of the callee's definition in `callees`; 0 without a path."""
    confidence: str
    """"exact", "likely", "possible"; in `callees` also "external"."""
    rule: str
    """Rule behind the confidence: "import", "self", "same-file" …"""
    kind: str
    """"call", "construct", "macro", "decorator", "value"."""
    called_path: str = ""
    """In `callees`: file of the use; else ""."""
    called_line: int = 0
    """In `callees`: line of the use in `called_path`, 1-based; else 0."""
    candidates: tuple[Definition, ...] = ()
    """In `callees`: definitions that a "possible" callee may be, best first; not all if there are many."""
    n_candidates: int = 0
    """Number of those definitions, also those not listed."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Callers or callees of a symbol."""

    target: Card | None
    """None if no symbol has the name, or if several have it: then `candidates` lists them and there are no calls."""
    candidates: tuple[Card, ...]
    calls: tuple[Caller, ...]
    total: int
    """Calls on all pages."""
    truncated: bool
    """Whether there are more calls than on this page."""
    suggestions: tuple[str, ...] = ()
    """Similar names, if no symbol has the name."""


@dataclass(frozen=True, slots=True)
class ShownTarget:
    """A symbol, file or line with its text."""

    card: Card | None
    """None for a whole file."""
    path: str
    first_line: int
    last_line: int
    text: str
    stale: bool
    """Whether the file has changed since it was indexed."""
    imports: tuple[Import, ...] = ()
    """Imports that the card uses, by line; none for a whole file."""
    calls: tuple[Caller, ...] = ()
    """What the card calls, by line, each target once; none for a whole file."""


@dataclass(frozen=True, slots=True)
class FileSummary:
    """One indexed file."""

    path: str
    language: str
    """"" for plain text."""
    role: str
    """"source", "test" …, see `indexer/walk/roles.py`."""
    encoding: str
    n_cards: int


@dataclass(frozen=True, slots=True)
class Storage:
    """What the contents of files take in the index, and its limits."""

    live_bytes: int = 0
    """Of contents of files."""
    kept_bytes: int = 0
    """Of contents that no file has any more; a branch switch finds them again."""
    n_kept: int = 0
    max_kept_bytes: int | None = None
    """Limit on `kept_bytes`; None for as much as `live_bytes`."""
    memory_mb: int | None = None
    """Memory that an index run plans with; None for no limit."""
    peak_mb: int = 0
    """Most memory that the process of the last index run took; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index."""

    generation: int
    format: int
    commit: str | None
    """Commit that was checked out when the index was built; None without git."""
    dirty: bool | None
    """Whether the working tree had changes; None without git."""
    complete: bool
    """Whether the last run read all files."""
    n_files: int
    n_cards: int
    n_edges: int
    embedder_name: str
    embedder_dimensions: int
    embedder_identity: str
    retrievers: tuple[RetrieverStatus, ...]
    problems: tuple[Problem, ...]
    n_changed: int
    """Files that changed since; the next refresh indexes them."""
    tuned: TunedWeights | None = None
    """Weights fitted to the project's own history; None for the default weights."""
    tuned_problem: str = ""
    """Why existing tuned weights are not used; else ""."""
    storage: Storage = field(default_factory=Storage)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a file is not among the hits of a query."""

    reason: str
    """"ignored", "too_large", "binary" … (as in `problems.Reason`), "not_in_project", "not_indexed", "below_floor",
    "outranked", "demoted", or "found"."""
    detail: str


@dataclass(frozen=True, slots=True)
class Impact:
    """The effects of a change."""

    changed: tuple[Card, ...]
    callers: tuple[Caller, ...]
    tests: tuple[str, ...]
    """Test files that reach a changed symbol, with the fewest calls between first."""


MAX_LINES = 160
MAX_CHARACTERS = 12_000
MAX_LINE_CHARACTERS = 1_000
MIN_LINES = 8
"""Shown however long the lines are."""


def excerpt(lines: Sequence[str], *, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> str:
    """Return lines as one text; a long one loses its middle, never its end, with a notice of what is left out."""
    n_shown = min(len(lines), max_lines)
    shown = _without_middle(lines, n_shown)
    while n_shown > MIN_LINES and len(shown) > max_characters:
        n_shown = max(MIN_LINES, n_shown * 4 // 5)
        shown = _without_middle(lines, n_shown)
    return mask_secrets(shown)


def _without_middle(lines: Sequence[str], n_shown: int) -> str:
    """Return `n_shown` lines, two thirds from the start and one third from the end, with a notice between."""
    if n_shown >= len(lines):
        return "\n".join(map(_cut, lines))
    n_head = n_shown * 2 // 3
    notice = f"… ({len(lines) - n_shown} lines left out; show the path and lines to read them)"
    tail = lines[len(lines) - (n_shown - n_head) :]
    return "\n".join([*map(_cut, lines[:n_head]), notice, *map(_cut, tail)])


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]} … ({len(line)} characters)"
