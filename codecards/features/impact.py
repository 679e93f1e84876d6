"""Finds what a change touches: the changed symbols, their callers, and the tests to run."""

import re
from collections.abc import Sequence
from pathlib import Path

from codecards.answers import Impact
from codecards.errors import AmbiguousTargetError, TargetNotFoundError, UsageError
from codecards.features.calls import callers_of
from codecards.features.targets import find_symbol, near_names
from codecards.indexer.cards.card import Card
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.walk.git import no_filters, run_git

MAX_STEPS_TO_TESTS = 3
"""Calls between a test and a changed symbol."""
MAX_FRONTIER = 2_000
"""Symbols whose callers are followed in one step."""
DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--unified=0", "--no-color", "--relative")
_hunk = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def impact_of(snapshot: Snapshot, root: Path, revision: str) -> Impact:
    """Return what changed between a revision and the working tree, and what that touches.

    Raises:
        UsageError: There is no git, or no such revision.
    """
    output = None if revision.startswith("-") else run_git(root, *DIFF, revision, "--", settings=no_filters(root))
    if output is None:
        raise UsageError(f"git can't compare with {revision!r} here; name a commit of this repository")
    places = changed_lines(output.decode("utf-8", "replace"))
    cards = tuple(dict.fromkeys(card for path, line in places if (card := snapshot.card_at(path, line))))
    return impact_of_cards(snapshot, cards)


def impact_of_symbol(snapshot: Snapshot, name: str) -> Impact:
    """Return what a change of a symbol would touch.

    Raises:
        TargetNotFoundError: No symbol has the name.
        AmbiguousTargetError: Several symbols have it.
    """
    groups = find_symbol(snapshot, name)
    if not groups:
        raise TargetNotFoundError(name, what="symbol", suggestions=near_names(snapshot, name))
    if len(groups) > 1:
        raise AmbiguousTargetError(name, [group[0].symbol_id for group in groups[:20]], total=len(groups))
    return impact_of_cards(snapshot, groups[0])


def impact_of_cards(snapshot: Snapshot, cards: Sequence[Card]) -> Impact:
    """Return what a change of some cards would touch."""
    return Impact(tuple(cards), tuple(callers_of(snapshot, cards)), tests_reaching(snapshot, cards))


def tests_reaching(snapshot: Snapshot, cards: Sequence[Card]) -> tuple[str, ...]:
    """Return the test files from which calls lead to one of the cards, with the fewest calls between first."""
    tests = {file.path for file in snapshot.files() if file.role == "test"}
    found = dict.fromkeys(card.path for card in cards if card.path in tests)
    frontier, seen = [card.card_id for card in cards], {card.card_id for card in cards}
    for _ in range(MAX_STEPS_TO_TESTS):
        edges = [edge for edge in snapshot.edges_to(frontier[:MAX_FRONTIER]) if edge.confidence != "possible"]
        found.update(dict.fromkeys(edge.caller_path for edge in edges if edge.caller_path in tests))
        frontier = [edge.caller_id for edge in edges if edge.caller_id is not None and edge.caller_id not in seen]
        seen.update(frontier)
    return tuple(found)


def changed_lines(diff: str) -> list[tuple[str, int]]:
    """Return (path, line) of each line that a diff without context adds, and of each place where it removes lines."""
    found: list[tuple[str, int]] = []
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif (head := _hunk.match(line)) and path != "/dev/null":
            first, n_lines = max(1, int(head[1])), max(1, int(head[2] or 1))
            found += [(path, number) for number in range(first, first + n_lines)]
    return found
