"""Measures precision and recall of call edges on labelled repositories, one per language.

A fixture is one text: files below `#- path` headers, with each call labelled at the end of its line by
`#> name -> path::Qualified.name; other -> -` (`//>` or `-->`, depending on the comments of the language). `-` marks a call that
leaves the repository or whose target a reader can't determine. The labels were written by reading, not by running the resolver.
"""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.edges import Edge
from codecards.indexer.graph.resolver import Resolver
from codecards.indexer.graph.symbols import SymbolTable
from codecards.indexer.parse.extraction import extract
from codecards.indexer.parse.languages import detect_language

FIXTURES = Path(__file__).parent / "call_graph_fixtures"
CALL_KINDS = frozenset({"call", "construct", "macro", "decorator"})
SURE = frozenset({"exact", "likely"})
_label = re.compile(r"(?:#|//|--)>\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Label:
    """The true target of one call."""

    path: str
    line: int
    name: str
    target: str
    """"path::Qualified.name", "-" for outside the repository or unknown."""


@dataclass(frozen=True, slots=True)
class Score:
    """Comparison of one language's edges with the labels; all fields are counts of calls."""

    language: str
    labelled: int
    """Calls with a target in the repository."""
    outside: int
    """Calls without a target in the repository."""
    exact: int
    exact_right: int
    likely: int
    likely_right: int
    unlabelled: int
    """`exact` or `likely` edges of calls without a label: an omission in the fixture."""

    @property
    def precision(self) -> float:
        """Share of the `exact` edges that are right."""
        return self.exact_right / self.exact if self.exact else 1.0

    @property
    def precision_likely(self) -> float:
        """Share of the `likely` edges that are right."""
        return self.likely_right / self.likely if self.likely else 1.0

    @property
    def recall(self) -> float:
        """Share of the labelled calls with an `exact` or `likely` edge to the right target."""
        return (self.exact_right + self.likely_right) / self.labelled if self.labelled else 1.0


def read_fixture(text: str) -> tuple[dict[str, str], list[Label]]:
    """Return path -> source without labels, at unchanged lines, and the labels of a fixture."""
    files: dict[str, str] = {}
    labels: list[Label] = []
    for block in re.split(r"^#- ", text, flags=re.MULTILINE)[1:]:
        path, _, source = block.partition("\n")
        lines = source.split("\n")
        for number, line in enumerate(lines, 1):
            match = _label.search(line)
            if match is None:
                continue
            lines[number - 1] = line[: match.start()].rstrip()
            for part in match[1].split(";"):
                name, _, target = part.partition("->")
                labels.append(Label(path.strip(), number, name.strip(), target.strip()))
        files[path.strip()] = "\n".join(lines)
    return files, labels


def resolve_all(sources: dict[str, str]) -> tuple[dict[str, FileFacts], list[Edge]]:
    """Return the facts and all edges of a repository."""
    facts = {path: extract(text, detect_language(path, text.encode())) for path, text in sources.items()}
    resolver = Resolver(SymbolTable(facts))
    return facts, [edge for path in facts for edge in resolver.resolve(path)]


def judge(language: str, text: str) -> tuple[Score, list[str]]:
    """Return the score of one fixture, and a line for each call that differs from its label."""
    sources, labels = read_fixture(text)
    facts, edges = resolve_all(sources)
    at: dict[tuple[str, int, str], list[Edge]] = {}
    for one in edges:
        if one.kind in CALL_KINDS:
            at.setdefault((one.caller_path, one.line, one.name.rpartition(".")[2]), []).append(one)
    faults: list[str] = []
    counts = dict.fromkeys(("exact", "exact_right", "likely", "likely_right"), 0)
    for label in labels:
        found = at.get((label.path, label.line, label.name), [])
        edge = found[0] if found else None
        reached = _written(facts, edge)
        if edge is not None and edge.confidence in SURE:
            counts[edge.confidence] += 1
            counts[f"{edge.confidence}_right"] += reached == label.target
        if reached != label.target:
            why = f"{edge.confidence} {edge.rule} {edge.n_candidates or ''}" if edge else "no edge"
            faults.append(f"{label.path}:{label.line} {label.name}: {label.target}, got {reached} ({why})")
    seen = {(label.path, label.line, label.name) for label in labels}
    unlabelled = [one for key, group in at.items() if key not in seen for one in group if one.confidence in SURE]
    faults += [
        f"{one.caller_path}:{one.line} {one.name}: not labelled, got {_written(facts, one)}" for one in unlabelled
    ]
    inside = sum(label.target != "-" for label in labels)
    return Score(language, inside, len(labels) - inside, unlabelled=len(unlabelled), **counts), faults


def _written(facts: dict[str, FileFacts], edge: Edge | None) -> str:
    if edge is None or edge.target is None or edge.confidence not in SURE:
        return "-"
    path, position = edge.target
    return f"{path}::{facts[path].definitions[position].qualified_name}" if position >= 0 else path


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks call-graph", description=__doc__.partition("\n")[0])
    parser.add_argument("languages", nargs="*", help="fixtures to run, all by default")
    parser.add_argument("--faults", action="store_true", help="list the calls that differ from their label")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    chosen = parser.parse_args(argv)
    scores: list[Score] = []
    for file in sorted(FIXTURES.glob("*.txt")):
        if not chosen.languages or file.stem in chosen.languages:
            score, faults = judge(file.stem, file.read_text(encoding="utf-8"))
            scores.append(score)
            if chosen.faults:
                print(*faults, sep="\n")
    if chosen.json:
        print(json.dumps({"call_graph": [{**asdict(s), "precision": s.precision, "recall": s.recall} for s in scores]}))
        return 0
    print("| language | calls inside | calls outside | precision of exact | of likely | recall exact + likely |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for s in scores:
        exact, likely = f"{s.precision:.3f} ({s.exact})", f"{s.precision_likely:.3f} ({s.likely})"
        print(f"| {s.language} | {s.labelled} | {s.outside} | {exact} | {likely} | {s.recall:.3f} |")
    return 0
