"""Searches the files themselves while there is no index, as far as they can be read in a second."""

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from codecards.answers import FoundCard, Recall, RetrieverStatus, ShownTarget, excerpt
from codecards.errors import TargetNotFoundError
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import text_lines
from codecards.indexer.parse.languages import HEAD_BYTES, detect_language
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_file, resolve_inside
from codecards.indexer.walk.roles import role_of
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.query.query import read_query

TIME_LIMIT_S = 0.4
"""For reading: an answer within a second is worth more than one from all files."""
MAX_BYTES = 200_000
"""Larger files are not read."""
WINDOW_LINES = 20
MAX_SIGNATURE = 300
N_SCORED_FILES = 40
"""Files whose lines are scored, of those that hold words of the query."""
NAME_WEIGHT = 4.0
"""Weight of a name that the query spells in full; parts of words weigh 1 or less."""
FOUND_SHARE = 0.6
"""Share of the query's weight that a file must hold to count as found."""
NOTICE = "there is no index yet: the files themselves were searched by words; answers improve once the index is built"
NO_INDEX = "there is no index yet"
OTHER_RETRIEVERS = ("words", "symbols", "graph", "static_vectors", "reranker")
_definition = re.compile(
    r"\s*(?:(?:export|public|private|static|async|pub|default|abstract)\s+)*"
    r"(?:def|class|func|fn|function|type|struct|interface|trait|enum|impl)\b"
)


@dataclass(frozen=True, slots=True)
class _Match:
    """A file that holds a part of the query."""

    file: SourceFile
    data: bytes
    held: frozenset[str]
    """The needles that it holds, in its text or its path."""


def live_recall(
    root: Path,
    text: str,
    limit: int,
    settings: DiscoverySettings,
    started: float,
    *,
    paths: Sequence[str] = (),
    languages: Sequence[str] = (),
) -> Recall:
    """Return the line windows that hold most of the query's words.

    Args:
        root: The project.
        text: The query.
        limit: Most hits.
        settings: Which files are searched.
        started: `time.monotonic()` when the question arrived.
        paths: Globs as in .gitignore; a hit's path matches one of them.
        languages: A hit is in one of them.
    """
    query = read_query(text)
    parts = {term.token: term.weight for term in query.terms if term.kind == "part"}
    # "fn" and "11" are in every file.
    needles = {token: weight for token, weight in parts.items() if len(token) > 2 or not token.isascii()} or parts
    needles |= {name.text.casefold(): NAME_WEIGHT for name in query.names if name.strong}
    files = _wanted_files(discover(root, settings).files, paths, languages)
    matches, n_read = _matching_files(root, files, needles, settings)
    n_holding = Counter(needle for one in matches for needle in one.held)
    weights = {needle: weight * math.log1p(n_read / max(1, n_holding[needle])) for needle, weight in needles.items()}

    def score(one: _Match) -> float:
        return sum(weights[needle] for needle in one.held) * (1.0 if role_of(one.file.path) == "source" else 0.5)

    best = sorted(matches, key=lambda one: (-score(one), one.file.path))[: max(N_SCORED_FILES, limit)]
    scored = [(score(one) + extra, one, line, lines) for one in best for extra, line, lines in _best_line(one, weights)]
    scored.sort(key=lambda one: (-one[0], one[1].file.path))
    hits = tuple(
        _hit(rank, total, one, line, lines) for rank, (total, one, line, lines) in enumerate(scored[:limit], 1)
    )
    share = sum(needles[needle] for needle in scored[0][1].held) / sum(needles.values()) if scored else 0.0
    verdict = "none" if not hits else "found" if share >= FOUND_SHARE else "weak"
    left_out = {"not_read_yet": len(files) - n_read} if n_read < len(files) else {}
    took_ms = (time.monotonic() - started) * 1000
    retrievers = (
        RetrieverStatus("live", True, ""),
        *(RetrieverStatus(name, False, NO_INDEX) for name in OTHER_RETRIEVERS),
    )
    return Recall(text, query.kind, verdict, 0, hits, n_read, 0, left_out, (), took_ms, (NOTICE,), retrievers)


def live_file(root: Path, path: str, first_line: int, last_line: int, settings: DiscoverySettings) -> ShownTarget:
    """Return lines of a file that would be indexed.

    Args:
        root: The project.
        path: From the root.
        first_line: 1-based.
        last_line: Inclusive, 0 for the end.
        settings: Which files may be read.

    Raises:
        OutsideProjectError: The path leads outside the project.
        TargetNotFoundError: There is no such file that may be shown.
    """
    real_root = root.resolve()
    wanted = resolve_inside(root, path).relative_to(real_root).as_posix()
    file = next((one for one in discover(root, settings).files if one.path == wanted), None)
    data = read_file(root, file, settings) if file is not None else None
    decoded = decode(data) if isinstance(data, bytes) else None
    if not isinstance(decoded, DecodedText):
        raise TargetNotFoundError(path, what="file that may be shown")
    lines = text_lines(decoded.text)
    first = min(first_line, max(1, len(lines)))
    last = min(last_line or len(lines), len(lines))
    text = excerpt(lines[first - 1 : last], max_lines=2000, max_characters=60_000)
    return ShownTarget(None, wanted, first, max(first, last), text, False)


def _wanted_files(files: Sequence[SourceFile], paths: Sequence[str], languages: Sequence[str]) -> Sequence[SourceFile]:
    """Return the files that may hold hits."""
    if paths:
        spec = GitIgnoreSpec.from_lines(paths)
        files = [file for file in files if spec.match_file(file.path)]
    if languages:
        wanted = {name.casefold() for name in languages}
        files = [file for file in files if detect_language(file.path, b"").casefold() in wanted]
    return files


def _matching_files(
    root: Path, files: Sequence[SourceFile], needles: Mapping[str, float], settings: DiscoverySettings
) -> tuple[list[_Match], int]:
    """Return the files that hold a needle, and how many files were read in time.

    Files whose path holds a needle are read first.
    """
    deadline = time.monotonic() + TIME_LIMIT_S
    in_path = {file.path: frozenset(needle for needle in needles if needle in file.path.casefold()) for file in files}
    encoded = [(needle, needle.encode()) for needle in needles]
    is_ascii = all(needle.isascii() for needle in needles)
    matches: list[_Match] = []
    n_read = 0
    for file in sorted(files, key=lambda file: -len(in_path[file.path])):
        if time.monotonic() > deadline:
            break
        n_read += 1
        data = read_file(root, file, settings) if file.size_bytes <= MAX_BYTES else None
        if not isinstance(data, bytes):
            continue
        folded = _utf8(data, is_ascii=is_ascii).lower()
        held = in_path[file.path] | {needle for needle, sought in encoded if sought in folded}
        if held:
            matches.append(_Match(file, data, held))
    return matches, n_read


def _utf8(data: bytes, *, is_ascii: bool) -> bytes:
    """Return a file's text as UTF-8; its raw bytes if all needles are ASCII and the file is not UTF-16."""
    if is_ascii and b"\0" not in data[:HEAD_BYTES]:
        return data
    decoded = decode(data)
    return decoded.text.encode("utf-8", "replace") if isinstance(decoded, DecodedText) else b""


def _best_line(one: _Match, weights: Mapping[str, float]) -> Iterator[tuple[float, int, list[str]]]:
    """Yield (score of the best line, its number (1-based), all lines); nothing if the file is not text."""
    decoded = decode(one.data)
    if not isinstance(decoded, DecodedText):
        return
    lines = text_lines(decoded.text)
    best, best_line = 0.0, 1
    for number, line in enumerate(lines, 1):
        folded = line[:2000].casefold()
        value = sum(weights[needle] for needle in one.held if needle in folded)
        if value:
            value *= 1.5 if _definition.match(line) else 1.0
            if value > best:
                best, best_line = value, number
    yield best, best_line, lines


def _hit(rank: int, score: float, one: _Match, line: int, lines: list[str]) -> FoundCard:
    path, language = one.file.path, detect_language(one.file.path, one.data[:HEAD_BYTES])
    first, last = max(1, line - 2), min(len(lines), line + WINDOW_LINES)
    card = Card(
        card_id=0,
        symbol_id=f"{path}:{line}",
        path=path,
        language=language,
        kind="window",
        name="",
        qualified_name=f"<line {line}>",
        parent="",
        module="",
        lead_line=first,
        first_line=first,
        name_line=line,
        last_line=last,
        own_lines=((first, last),),
        signature=lines[line - 1].strip()[:MAX_SIGNATURE],
        doc="",
        bases=(),
        content_hash=b"",
    )
    term = ScoreTerm("words", score, "words of the query in the file")
    return FoundCard(rank, card, score, (term,), True, lines[first - 1 : last])
