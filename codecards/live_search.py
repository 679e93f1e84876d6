"""Live search: answers from the files themselves while there is no index, with what can be read in a second."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from codecards.answers import FoundCard, Lane, Recall, Shown
from codecards.errors import TargetNotFoundError
from codecards.excerpts import excerpt
from codecards.indexer.cards import Card
from codecards.indexer.file_roles import role_of
from codecards.indexer.languages import detect_language
from codecards.indexer.partition import text_lines
from codecards.indexer.problems import Problem
from codecards.indexer.source_files import DiscoverySettings, SourceFile, discover, read_file, resolve_inside
from codecards.indexer.text_decoding import DecodedText, decode
from codecards.indexer.tokens import word_tokens, words
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.query import read_query

TIME_LIMIT_S = 0.7
MAX_BYTES = 200_000
WINDOW_LINES = 20
NOTICE = "there is no index yet: the files themselves were searched by words; answers get better once it is built"

NO_INDEX = "there is no index yet"
OTHER_LANES = ("words", "symbols", "graph", "vectors", "reranker")


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
    """Return the windows of lines that hold most of the query's words.

    Args:
        root: The project.
        text: The query.
        limit: Most hits.
        settings: What is taken in.
        started: `time.monotonic()` when the question came.
        paths: Globs as in .gitignore; hits lie in one of them.
        languages: Hits are in one of them.
    """
    query = read_query(text)
    wanted = {term.token: term.weight for term in query.terms}
    files = _wanted_files(discover(root, settings).files, paths, languages)
    scored: list[tuple[float, str, int, list[str], str]] = []
    n_read = 0
    for file in files:
        if time.monotonic() - started > TIME_LIMIT_S:
            break
        data = read_file(root, file, settings) if file.size_bytes <= MAX_BYTES else None
        if data is None or isinstance(data, Problem):
            continue
        decoded = decode(data)
        if not isinstance(decoded, DecodedText):
            continue
        n_read += 1
        lines = text_lines(decoded.text)
        score, line = _best_line(lines, wanted)
        if score:
            role = role_of(file.path)
            path_score = sum(wanted.get(token, 0.0) for word in words(file.path) for token in word_tokens(word))
            language = detect_language(file.path, data[:4096])
            scored.append(((score + path_score) * (1.0 if role == "source" else 0.5), file.path, line, lines, language))
    scored.sort(key=lambda one: (-one[0], one[1]))
    hits = tuple(_hit(rank, *one) for rank, one in enumerate(scored[:limit], 1))
    total = sum(wanted.values()) or 1.0
    verdict = "none" if not hits else "found" if hits[0].score >= 0.5 * total else "weak"
    left_out = {"not_read_yet": len(files) - n_read} if n_read < len(files) else {}
    took_ms = (time.monotonic() - started) * 1000
    lanes = (Lane("live", True, ""), *(Lane(name, False, NO_INDEX) for name in OTHER_LANES))
    return Recall(text, query.kind, verdict, 0, hits, n_read, 0, left_out, (), took_ms, (NOTICE,), lanes)


def live_file(root: Path, path: str, first_line: int, last_line: int, settings: DiscoverySettings) -> Shown:
    """Return lines of a file that would be indexed.

    Args:
        root: The project.
        path: From the root; what lies outside is refused.
        first_line: 1-based.
        last_line: Inclusive, 0 for the end.
        settings: What is taken in.

    Raises:
        OutsideProjectError: The path leads out of the project.
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
    return Shown(None, wanted, first, max(first, last), text, False)


def _wanted_files(files: Sequence[SourceFile], paths: Sequence[str], languages: Sequence[str]) -> Sequence[SourceFile]:
    """Return the files that may hold hits."""
    if paths:
        spec = GitIgnoreSpec.from_lines(paths)
        files = [file for file in files if spec.match_file(file.path)]
    if languages:
        wanted = {name.casefold() for name in languages}
        files = [file for file in files if detect_language(file.path, b"").casefold() in wanted]
    return files


def _best_line(lines: list[str], wanted: dict[str, float]) -> tuple[float, int]:
    """Return (score of the file, its best line, 1-based)."""
    found: Counter[str] = Counter()
    best, best_line = 0.0, 1
    pattern = re.compile("|".join(re.escape(token.removeprefix("=")[:4]) for token in wanted) or "$^", re.IGNORECASE)
    for number, line in enumerate(lines, 1):
        if not pattern.search(line):
            continue
        here = {token for word in words(line[:2000]) for token in word_tokens(word)} & wanted.keys()
        found.update(here)
        value = sum(wanted[token] for token in here) + (
            0.5 if re.match(r"\s*(def|class|func|fn|function|type|struct|interface|public|export)\b", line) else 0
        )
        if here and value > best:
            best, best_line = value, number
    return sum(wanted[token] * (1 + min(n, 5) * 0.1) for token, n in found.items()), best_line


def _hit(rank: int, score: float, path: str, line: int, lines: list[str], language: str) -> FoundCard:
    first, last = max(1, line - 2), min(len(lines), line + WINDOW_LINES)
    card = Card(0, f"{path}:{line}", path, language, "window", "", f"<line {line}>", "", "", first, first, line, last,
                ((first, last),), lines[line - 1].strip()[:300], "", (), b"")  # fmt: skip
    term = ScoreTerm("words", score, "words of the query in the file")
    return FoundCard(rank, card, score, (term,), True, lines[first - 1 : last])
