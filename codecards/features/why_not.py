"""Explains why a file is not among the hits of a query."""

from collections.abc import Callable
from pathlib import Path

from codecards.answers import WhyNot
from codecards.indexer.problems import Coverage
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.files import DiscoverySettings, resolve_inside
from codecards.project.reader import IndexReader
from codecards.retrieval.hits import Ranking

FIRST_HITS = 8
"""Hits that count as found."""
MAX_HITS = 200
"""Hits in which the file is looked for."""
DEMOTION = -0.5
"""A term with this value or less counts as the reason for a low rank."""


def why_not(
    reader: IndexReader, root: Path, path: str, rank: Callable[[int], Ranking], settings: DiscoverySettings
) -> WhyNot:
    """Return why a file is not among the first hits.

    Args:
        reader: The generation to read.
        root: The project.
        path: From the root.
        rank: Returns the given number of hits of the query.
        settings: Which files are indexed.

    Raises:
        OutsideProjectError: The path leads outside the project.
        UsageError: The query is empty.
    """
    resolve_inside(root, path)
    wanted = path.replace("\\", "/").removeprefix("./").strip("/")
    for problem in reader.snapshot.problems():
        is_below = wanted.startswith(problem.path + "/") and problem.kept is Coverage.NONE
        if (wanted == problem.path and problem.kept is not Coverage.WHOLE) or is_below:
            return WhyNot(problem.reason.value, problem.detail)
    if reader.snapshot.file_at(wanted) is None:
        return _why_unknown(root, wanted, settings)
    return _why_ranked(wanted, rank(MAX_HITS))


def _why_ranked(path: str, ranking: Ranking) -> WhyNot:
    """Return the rank of a searched file, and what explains it."""
    hit = next((hit for hit in ranking.hits if hit.card.path == path), None)
    if hit is None:
        return WhyNot("below_floor", "nothing in it matches the query well enough to be ranked")
    if hit.rank <= FIRST_HITS:
        return WhyNot("found", f"it is hit {hit.rank}")
    worst = min(hit.terms, key=lambda term: term.value)
    if worst.value <= DEMOTION:
        return WhyNot("demoted", f"rank {hit.rank}; {worst.name} takes {-worst.value:.2f} off ({worst.detail})")
    best = ranking.hits[0]
    detail = f"rank {hit.rank} with a score of {hit.score:.2f}; the first, {best.card.symbol_id}, has {best.score:.2f}"
    return WhyNot("outranked", detail)


def _why_unknown(root: Path, path: str, settings: DiscoverySettings) -> WhyNot:
    """Return why a file is not in the index."""
    place = root / path
    if not place.exists() and not place.is_symlink():
        return WhyNot("not_in_project", "there is no such file")
    if any(file.path == path for file in discover(root, settings).files):
        return WhyNot("not_indexed", "it is new since the last run of `codecards index`")
    sources = ".gitignore, .codecardsignore, info/exclude, git's global file, or the defaults if there is no git"
    return WhyNot("ignored", f"an ignore rule excludes it ({sources})")
