"""Mines tasks (question, function) for the ranking of cards, from packages that no embedder was trained on.

The question is a function's documentation in a style of `query_styles`, the text of an error that it raises, or its name. The
documentation of every function is removed from the tree, so that it can't match itself.
"""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from tree_sitter import Node

from training.corpus.grammars import BY_SUFFIX, SUFFIXES, Grammar, parser_for
from training.corpus.pairs import SKIPPED_PATH, documentation, name_of, short_path, split_documentation, with_wrappers
from training.corpus.query_styles import as_keywords, as_question
from training.corpus.registries import Source, archives, read_files

LEAST_LINES = 3
MESSAGE_WORDS = range(4, 31)
STYLES = {"sentence": 45, "question": 25, "keywords": 10, "rest": 20}
"""Style of documentation → its weight in the draw."""
SHARES = {"documentation": 0.7, "message": 0.2, "symbol": 0.1}
KIND_OF = {
    **dict.fromkeys(STYLES, "documentation"),
    "message": "message",
    "symbol": "symbol",
    "commit": "commit",
    "heading": "heading",
    "heading_and_sentence": "heading",
}
"""Category of a task → kind of its question."""

_raised = re.compile(
    r"(?:\b(?:raise|throw|panic|bail|fail|fatal|abort|die|reject|warn|error|err)\w*\b|\w*(?:Error|Exception|Errorf)\b|"
    r"errors\.New|log(?:ger|ging)?\.\w+|console\.\w+)[!\w.:]*[^\"'`\n]{0,60}[\"'`]([^\"`\n]{12,300}?)[\"`'](?=\s*[,;)+%.\n])"
)
_placeholder = re.compile(r"\$?\{[^{}]*\}|%[-#0 +]*\d*(?:\.\d+)?[sdrvqfxut]\b|%\(\w+\)\w|#\{[^}]*\}|\\[nt\"']")


@dataclass(frozen=True, slots=True, order=True)
class TaskTarget:
    """One definition that answers a task."""

    path: str
    first_line: int
    """First line in the tree's file, decorators included; 1-based, inclusive."""
    last_line: int


@dataclass(frozen=True, slots=True)
class FunctionTask:
    """One question and its answers."""

    tree: str
    """Folder below that of all trees, named for the kind of task and the package: "headings/beets"."""
    language: str
    category: str
    """One of `KIND_OF`."""
    text: str
    targets: tuple[TaskTarget, ...]

    @property
    def package(self) -> str:
        """The package whose code the task asks for."""
        return self.tree.rpartition("/")[2]

    @property
    def kind(self) -> str:
        """Kind of the question: "documentation", "message", "symbol", "heading" or "commit"."""
        return KIND_OF[self.category]


def mine_tree(source: Source, downloads: Path, trees: Path, *, limit: int, seed: int = 0) -> list[FunctionTask]:
    """Write one package's source without documentation into a tree, and return up to `limit` tasks on it.

    Args:
        source: A downloaded package.
        downloads: Folder of the downloads.
        trees: Folder for the tree.
        limit: Maximum number of tasks, drawn evenly from the functions.
        seed: Seed of the draw.
    """
    rng = random.Random(seed)
    found: list[FunctionTask] = []
    tree = f"documentation/{source.folder_name}"
    for archive in archives(source, downloads):
        for name, text in read_files(archive, SUFFIXES):
            path = short_path(name)
            tasks, stripped = mine_file(tree, path, text, rng)
            target = trees / tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(stripped)
            if not SKIPPED_PATH.search(path):
                found += tasks
    return [
        task
        for kind, share in SHARES.items()
        for task in drawn([one for one in found if one.kind == kind], int(limit * share))
    ]


def mine_file(tree: str, path: str, text: str, rng: random.Random) -> tuple[list[FunctionTask], bytes]:
    """Return the tasks of one file, and the file without its functions' documentation."""
    grammar = BY_SUFFIX[PurePosixPath(path).suffix]
    raw = text.replace("\r\n", "\n").encode("utf-8", "replace")
    functions = list(_functions(parser_for(grammar.language).parse(raw).root_node, grammar))
    docs = [documentation(outer, node, grammar) for outer, node in functions]
    removed: set[int] = set()
    for (outer, node), (_, rows) in zip(functions, docs, strict=True):
        # Lines that documentation shares with code stay.
        if node.start_point.row not in rows:
            removed.update(rows - {outer.start_point.row})
    lines = raw.split(b"\n")
    kept = b"\n".join(line for row, line in enumerate(lines) if row not in removed)
    new_line = _renumbered(len(lines), removed)
    tasks = []
    for (outer, node), (doc, _) in zip(functions, docs, strict=True):
        first, last = new_line[outer.start_point.row], new_line[outer.end_point.row]
        if last - first + 1 < LEAST_LINES:
            continue
        for category, asked in _questions(node, grammar, doc, raw, rng):
            tasks.append(FunctionTask(tree, grammar.language, category, asked, (TaskTarget(path, first, last),)))
    return tasks, kept


def drawn(tasks: Sequence[FunctionTask], limit: int) -> list[FunctionTask]:
    """Return up to `limit` tasks with a unique text, in pseudo-random but fixed order."""
    by_text: dict[str, list[FunctionTask]] = {}
    for task in tasks:
        by_text.setdefault(task.text.casefold(), []).append(task)
    unique = [same[0] for same in by_text.values() if len({one.targets for one in same}) == 1]
    unique.sort(
        key=lambda task: hashlib.sha256(f"{task.targets[0].path}\0{task.text}".encode("utf-8", "replace")).hexdigest()
    )
    return unique[:limit]


def write_tasks(tasks: list[FunctionTask], target: Path) -> None:
    """Write tasks, one JSON object a line."""
    target.write_text("".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks), encoding="utf-8")


def _functions(root: Node, grammar: Grammar) -> Iterator[tuple[Node, Node]]:
    """Yield (outermost wrapping node, function) for every function."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in grammar.functions and name_of(node, grammar):
            yield with_wrappers(node, grammar), node
        waiting.extend(reversed(node.named_children))


def _questions(node: Node, grammar: Grammar, doc: str, raw: bytes, rng: random.Random) -> Iterator[tuple[str, str]]:
    name = name_of(node, grammar).rpartition(".")[2]
    parts = split_documentation(re.sub(rf"\A\s*{re.escape(name)}\s", "", doc))
    if parts is not None:
        sentence, rest = parts
        style = rng.choices(list(STYLES), list(STYLES.values()))[0]
        if style == "question":
            yield style, as_question(sentence.rstrip("."), rng)
        elif style == "keywords":
            yield style, as_keywords(sentence, rng)
        elif style == "rest" and len(rest.split()) >= 6:
            yield style, " ".join(rest.split()[:40])
        else:
            yield "sentence", sentence.rstrip(".")
    if len(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)) > 1 and not name.startswith("__"):
        yield "symbol", name
    body = raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
    for match in _raised.finditer(body):
        message = " ".join(_placeholder.sub(" ", match[1]).split())
        if len(message.split()) in MESSAGE_WORDS and message.isascii():
            yield "message", message


def _renumbered(n_lines: int, removed: set[int]) -> list[int]:
    """Return old row -> new line, 1-based; a removed row maps to the line of the next kept row."""
    numbers, kept = [], 1
    for row in range(n_lines):
        numbers.append(kept)
        kept += row not in removed
    return numbers
