"""Explains why a file is not among the hits of a query."""

from collections.abc import Callable, Sequence
from pathlib import Path

from codecards.answers import WhyNot
from codecards.indexer.problems import Coverage
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.files import DiscoverySettings, resolve_inside
from codecards.project.reader import IndexReader
from codecards.retrieval.hits import Hit, Ranking

FIRST_HITS = 8
"""Hits that count as found."""
MAX_HITS = 200
"""Hits in which the file is looked for."""
DEMOTION = -0.5
"""A file is demoted if the term on which it loses most has this value or less: a penalty, not only less of what others have."""
LEAST_DIFFERENCE = 0.05
"""Difference from which a term is named."""
MAX_TERMS = 5
"""Terms that are named."""


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
    return _why_below(hit, ranking.hits[:FIRST_HITS])


def _why_below(hit: Hit, above: Sequence[Hit]) -> WhyNot:
    """Return the terms on which a hit loses against the hits above it, in the order of their difference.

    A term that the winners pay too takes nothing off: the difference to their mean counts.
    """
    mine = {term.name: term for term in hit.terms}
    theirs: dict[str, float] = {}
    details = {term.name: term.detail for one in above for term in one.terms}
    for one in above:
        for term in one.terms:
            theirs[term.name] = theirs.get(term.name, 0.0) + term.value / len(above)
    value_of = {name: term.value for name, term in mine.items()}
    lost = {name: value_of.get(name, 0.0) - theirs.get(name, 0.0) for name in {**theirs, **value_of}}
    named = sorted((name for name in lost if lost[name] < -LEAST_DIFFERENCE), key=lambda name: (lost[name], name))
    said = [
        f"{name} {value_of.get(name, 0.0):+.2f} to {theirs.get(name, 0.0):+.2f}"
        f" ({mine[name].detail if name in mine else details[name]})"
        for name in named[:MAX_TERMS]
    ]
    best = above[0]
    place = f"rank {hit.rank} with a score of {hit.score:.2f}; the first, {best.card.symbol_id}, has {best.score:.2f}"
    is_demoted = bool(named) and value_of.get(named[0], 0.0) <= DEMOTION
    reason = f"; it loses against the first {len(above)} hits by {', '.join(said)}" if said else ""
    return WhyNot("demoted" if is_demoted else "outranked", place + reason)


def _why_unknown(root: Path, path: str, settings: DiscoverySettings) -> WhyNot:
    """Return why a file is not in the index."""
    place = root / path
    if not place.exists() and not place.is_symlink():
        return WhyNot("not_in_project", "there is no such file")
    if any(file.path == path for file in discover(root, settings).files):
        return WhyNot("not_indexed", "it is new since the last run of `codecards index`")
    sources = ".gitignore, .codecardsignore, info/exclude, git's global file, or the defaults if there is no git"
    return WhyNot("ignored", f"an ignore rule excludes it ({sources})")
