"""Mines tasks (heading, code): a section of a package's documents asks for the few definitions that it names.

The documents are not in the tree, and the question contains none of the names.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tree_sitter import Node

from codecards.retrieval.query.query import read_query
from training.corpus.document_sections import DOCUMENTS, Section, read_sections
from training.corpus.grammars import BY_SUFFIX, SUFFIXES, parser_for
from training.corpus.pairs import SKIPPED_PATH, name_of, short_path, split_documentation, with_wrappers
from training.corpus.registries import MAX_FILE_BYTES, Source, archives, read_files
from training.ranking.function_tasks import FunctionTask, TaskTarget, drawn

MOST_NAMES = 3
"""Most definitions that one section asks for; a section that names more is about something else."""
MOST_SECTIONS = 3
"""Most sections that name a definition; one that is named more often is a general tool of the package."""
LEAST_WORDS, FEW_WORDS = 2, 3
"""Least content words of a heading that asks, and number up to which its first sentence is added."""
SENTENCE_SHARE = 0.4
"""Share of longer headings that are asked with the first sentence below."""
LEAST_NAME = 4
"""Least letters of a name; shorter names are ambiguous."""

_skipped_document = re.compile(
    r"(^|/)(change|history|news|release|upgrad|migrat|whatsnew|todo|contribut|licen|security|code_of_conduct|authors"
    r"|acknowledg)[^/]*\.\w+$|(^|/)(changelogs?|changes|news|releases?|whatsnew|node_modules|vendor|licenses?)/",
    re.IGNORECASE,
)
_empty_heading = re.compile(
    r"^(?:install|usage|(?:basic |advanced |simple |more |quick |code )?examples?\b|introduction|overview|changelog|changes|release"
    r"|licen[sc]e|contribut|getting started|quick ?start|api\b|table of contents|see also|notes?$|parameters|returns|what's new"
    r"|migrat|upgrad|faq|requirements|bug ?fix|features$|fixe[sd]|deprecat|breaking|acknowledg|credits|authors|copyright|tl;?dr"
    r"|how to (?:install|contribute|use)$|advanced usage|basic usage|version)|\d+\.\d+",
    re.IGNORECASE,
)
_code = re.compile(r"[()=<>{}/\\]|\w[_.]\w|[a-z][A-Z]|^_|\b\w+_\b")


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    """Qualified name, with dots."""
    language: str
    target: TaskTarget


def mine_headings(source: Source, downloads: Path, trees: Path, *, limit: int, seed: int = 0) -> list[FunctionTask]:
    """Write one package's source without its documents into a tree, and return up to `limit` tasks on it.

    Args:
        source: A downloaded package.
        downloads: Folder of the downloads.
        trees: Folder for the tree, which is written only if there are tasks.
        limit: Maximum number of tasks.
        seed: Seed of the draw.
    """
    files = (item for archive in archives(source, downloads) for item in read_files(archive, SUFFIXES | DOCUMENTS))
    texts = {short_path(name): text for name, text in files}
    return mine_texts(texts, trees, source.folder_name, limit=limit, seed=seed)


def read_folder(folder: Path) -> dict[str, str]:
    """Return path → text of the source files and documents of a checked out project."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_wanted = path.suffix in SUFFIXES | DOCUMENTS and not name.startswith(".git/")
        if is_wanted and path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
            found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found


def mine_texts(texts: dict[str, str], trees: Path, package: str, *, limit: int, seed: int = 0) -> list[FunctionTask]:
    """Write the source files of a project into a tree, and return up to `limit` tasks on it.

    Args:
        texts: Path → text of source files and documents.
        trees: As in `mine_headings`.
        package: Name of the tree.
        limit: Maximum number of tasks.
        seed: Seed of the draw.
    """
    tree = f"headings/{package}"
    tasks = drawn(heading_tasks(tree, texts, random.Random(seed)), limit)
    for path, text in texts.items() if tasks else ():
        if PurePosixPath(path).suffix in SUFFIXES:
            target = trees / tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text.replace("\r\n", "\n"), encoding="utf-8")
    return tasks


def heading_tasks(tree: str, texts: dict[str, str], rng: random.Random) -> list[FunctionTask]:
    """Return the tasks of a package's files, in the order of their paths."""
    defined: dict[str, list[_Definition]] = {}
    sections: list[tuple[Section, list[_Definition]]] = []
    for path, text in sorted(texts.items()):
        suffix = PurePosixPath(path).suffix
        if suffix in SUFFIXES:
            for one in definitions(path, text):
                defined.setdefault(one.name.rpartition(".")[2], []).append(one)
    for path, text in sorted(texts.items()):
        suffix = PurePosixPath(path).suffix
        if suffix in DOCUMENTS and not _skipped_document.search(path):
            sections += ((section, _named(section, defined)) for section in read_sections(suffix, text))
    n_sections = Counter(one for _, named in sections for one in named)
    tasks = []
    for section, named in sections:
        meant = [one for one in named if n_sections[one] <= MOST_SECTIONS]
        asked = _question(section, [one.name for one in meant], rng) if 1 <= len(meant) <= MOST_NAMES else None
        if asked:
            tasks.append(FunctionTask(tree, meant[0].language, asked[0], asked[1], tuple(one.target for one in meant)))
    return tasks


def definitions(path: str, text: str) -> Iterator[_Definition]:
    """Yield every function and type of a file, none for tests and examples."""
    if SKIPPED_PATH.search(path):
        return
    grammar = BY_SUFFIX[PurePosixPath(path).suffix]
    raw = text.replace("\r\n", "\n").encode("utf-8", "replace")
    waiting: list[tuple[Node, str]] = [(parser_for(grammar.language).parse(raw).root_node, "")]
    while waiting:
        node, owner = waiting.pop()
        name = name_of(node, grammar) if node.type in grammar.functions | grammar.containers else ""
        if name:
            name = f"{owner}.{name}" if owner else name
            outer = with_wrappers(node, grammar)
            if node.type != "impl_item":
                yield _Definition(
                    name, grammar.language, TaskTarget(path, outer.start_point.row + 1, outer.end_point.row + 1)
                )
        inside = name if name and node.type in grammar.containers else owner
        waiting.extend((child, inside) for child in reversed(node.named_children))


def _named(section: Section, defined: dict[str, list[_Definition]]) -> list[_Definition]:
    """Return the definitions that a section names unambiguously."""
    found: set[_Definition] = set()
    for written in section.names:
        parts = [part for part in re.split(r"[^\w!?]+", written) if part]
        same = defined.get(parts[-1], []) if parts and len(parts[-1]) >= LEAST_NAME else []
        if len(parts) > 1 and (len(same) > 1 or parts[-2][0].isupper()):
            same = [one for one in same if one.name.endswith(".".join(parts[-2:]))]
        elif parts and parts[-1].islower() and "_" not in parts[-1]:
            same = [one for one in same if "." not in one.name]  # `x.update()` may be a method of any type
        if len(same) == 1:
            found.update(same)
    return sorted(found, key=lambda one: (one.target, one.name))


def _question(section: Section, names: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """Return category and text of a section's question; None if its heading is empty of content or contains a name."""
    heading = section.heading.rstrip(".:")
    n_words = len(read_query(heading).content_words)
    is_empty = n_words < LEAST_WORDS or _empty_heading.search(heading) or _code.search(heading)
    if is_empty or _says(heading, names) or not heading.isascii():
        return None
    parts = split_documentation(section.paragraph)
    sentence = parts[0] if parts is not None and not _says(parts[0], names) else ""
    if sentence and (n_words < FEW_WORDS or rng.random() < SENTENCE_SHARE):
        return "heading_and_sentence", f"{heading}: {sentence.rstrip('.:')}"
    return "heading", heading


def _says(text: str, names: Sequence[str]) -> bool:
    """Return whether a text contains a name, also as separate words, or is part of one."""
    letters = re.sub(r"[\W_]", "", text.casefold())
    last_parts = [re.sub(r"[\W_]", "", name.rpartition(".")[2].casefold()) for name in names]
    return any(part in letters or letters in part for part in last_parts)
