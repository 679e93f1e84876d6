"""Prior evidence: properties of a file that count whatever is asked: role, size, depth, use by other files.

A query that asks for tests, documents or generated code gets them without a penalty.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

import numpy as np
from numpy.typing import NDArray

from codecards.retrieval.evidence.built_files import built_files
from codecards.retrieval.evidence.ranking_input import RankingInput
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import ROLES, Floats
from codecards.retrieval.store.paths import PathFlag

MAX_DEPTH = 6
LEAST_CENTRALITY = 1e-3
"""Added to a centrality before its logarithm is taken."""
MAX_ASKING_CHARACTERS = 300
"""A query asks for tests or documents in its first characters, if it does."""
_IS_TEST = np.isin(ROLES, ("test",))
_IS_DOCS = np.isin(ROLES, ("docs", "config"))
_IS_GENERATED = np.isin(ROLES, ("generated", "vendored"))
_version = re.compile(r"(?<![a-z0-9])v(\d{1,2})(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PriorEvidence:
    """Properties of F candidate files; a penalised property is 0 for all files if the query asks for it."""

    centrality: Floats
    """Natural logarithm of PageRank over its average."""
    users: Floats
    """ln(1 + number of files that use it)."""
    size: Floats
    """ln(1 + number of lines)."""
    test: Floats
    """1 for a test file."""
    auxiliary: Floats
    """1 for examples, vendored, legacy or generated code, by the folder's name."""
    docs: Floats
    """1 for documentation and configuration."""
    generated: Floats
    """1 for generated and vendored files."""
    built: Floats
    """1 for build output, declaration files and packed libraries."""
    old_version: Floats
    """0 to 1: a sibling folder has a later version."""
    depth: Floats
    """Folders above, beyond those that all files share; at most `MAX_DEPTH`."""
    header: Floats
    """1 for a header."""
    header_with_source: Floats
    """1 for a header whose source file is in the index."""
    entry: Floats
    """1 for a folder's entry file."""


def prior_evidence(found: RankingInput) -> PriorEvidence:
    """Return the properties of the candidate files."""
    columns, files = found.index.columns, found.files
    role, flags = columns.role[files], columns.flags[files]
    asked = asked_properties(found.query)
    nothing = np.zeros(len(files), np.float32)

    def penalised(name: str, is_so: NDArray[np.bool_]) -> Floats:
        return nothing if name in asked else is_so.astype(np.float32)

    def flagged(flag: PathFlag) -> NDArray[np.bool_]:
        return np.asarray((flags & flag) > 0)

    return PriorEvidence(
        centrality=np.log(columns.centrality[files] + LEAST_CENTRALITY).astype(np.float32),
        users=np.log1p(columns.in_degree[files]).astype(np.float32),
        size=np.log1p(columns.n_lines[files]).astype(np.float32),
        test=penalised("test", _IS_TEST[role]),
        auxiliary=penalised("auxiliary", flagged(PathFlag.SIDE)),
        docs=penalised("docs", _IS_DOCS[role]),
        generated=penalised("generated", _IS_GENERATED[role]),
        built=nothing if "built" in asked else built_files(found.index, files),
        old_version=nothing if "old_version" in asked else _old_version(found),
        depth=np.minimum(columns.depth[files].astype(np.float32) - found.index.least_depth, MAX_DEPTH),
        header=flagged(PathFlag.HEADER).astype(np.float32),
        header_with_source=flagged(PathFlag.HAS_SOURCE).astype(np.float32),
        entry=flagged(PathFlag.ENTRY).astype(np.float32),
    )


def asked_properties(query: Query) -> frozenset[str]:
    """Return the penalised properties that a query asks for: "test", "docs" and so on.

    A name asks for none, and neither does a report: one that mentions tests and documents is about the code all the same.
    """
    if query.kind == "symbol" or query.is_issue:
        return frozenset()
    asking = query.text[:MAX_ASKING_CHARACTERS]
    return frozenset(name for name, pattern in _asking_patterns().items() if pattern.search(asking))


def _old_version(found: RankingInput) -> Floats:
    """Return how surely each file is an old version, 0 for files of a version that the query names ("v2")."""
    values = found.index.columns.old_version[found.files].copy()
    named = set(_version.findall(found.query.text[:MAX_ASKING_CHARACTERS]))
    for place in np.flatnonzero(values).tolist() if named else ():
        if named & set(_version.findall(found.index.path(int(found.files[place])))):
            values[place] = 0.0
    return values


@cache
def _asking_patterns() -> dict[str, re.Pattern[str]]:
    """Return property → pattern of the words that ask for it."""
    table = tomllib.loads((package_files(__package__) / "asked_properties.toml").read_text(encoding="utf-8"))
    found = {}
    for name, row in table.items():
        english = rf"\b({'|'.join(row['english'])})\b"
        found[name] = re.compile("|".join([english, *row.get("other", [])]), re.IGNORECASE)
    return found
