"""Overview: what a project is, for a first turn: packages, entry points, most used definitions, tests, configuration."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np

from codecards.answers import Overview, OverviewRow
from codecards.errors import TargetNotFoundError, UsageError
from codecards.features.recall import RecallQuery
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import CODE_CALLABLE_KINDS, NAMED_TYPE_KINDS
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.walk.files import resolve_inside
from codecards.retrieval.evidence.built_files import built_files
from codecards.router.compress.token_count import estimate_tokens

LEAST_TOKENS = 100
MAX_PACKAGES, MAX_DEFINITIONS, MAX_ENTRIES, MAX_PLACES = 24, 12, 10, 8
N_CENTRAL_FILES = 60
"""Files, most central first, whose definitions are counted."""
MAX_LINE = 140
MAX_COMMENT_LINES, LEAST_PROSE = 200, 20
"""Lines of a comment or README that are read, and fewest characters of a paragraph that says something."""
SHARES = (0.15, 0.35, 0.55, 0.75, 0.9, 1.0)
"""Part of the budget up to which each section may fill it, in the order of `_sections`; what one leaves, the next may use."""
_ENTRY_FILE = re.compile(
    r"(^|/)(main|__main__|cli|server|app|index|manage)\.\w+$|(^|/)cmd/[^/]+/main\.go$|(^|/)bin/[^/.]+$"
)
_MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "go.mod", "composer.json", "pom.xml")
_README = re.compile(r"(^|/)readme(\.\w+)?$", re.IGNORECASE)
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]{0,300}>|[*`#]+|^\W+$")
_NO_PROSE = re.compile(r"^\s*(#{1,6}\s|={3,}|-{3,}|~{3,}|\.\. |\||```|<|:\w+:|@\w+)")
_LICENCE = re.compile(
    r"copyright|licen[cs]e|free software|warrant(y|ies)|redistribut|\(c\)|SPDX|all rights reserved|lint|coding[:=]",
    re.IGNORECASE,
)
_SOURCE_FOLDERS = frozenset(
    ("src", "lib", "packages", "crates", "app", "apps", "pkg", "internal", "source", "main", "java")
)


def overview_of(query: RecallQuery, root: Path, path: str, budget_tokens: int) -> Overview:
    """Return what a project or a folder of it is, within a number of tokens.

    Raises:
        TargetNotFoundError: No indexed file lies in the folder.
        OutsideProjectError: The path leads outside the project.
        UsageError: The budget is too small.
    """
    if budget_tokens < LEAST_TOKENS:
        raise UsageError(f"an overview of {budget_tokens} tokens tells nothing; use at least {LEAST_TOKENS}")
    resolve_inside(root, path or ".")
    folder = path.replace("\\", "/").removeprefix("./").strip("/")
    folder = "" if folder == "." else folder
    view = _View(query, folder, root.name)
    if not view.files:
        raise TargetNotFoundError(path, what="folder with indexed files")
    rows: list[OverviewRow] = []
    spent = 0
    for (title, lines), share in zip(_sections(view), SHARES, strict=True):
        head = estimate_tokens(title)
        for place, line in enumerate(lines):
            n_tokens = estimate_tokens(line) + (head if not place else 0)
            if spent + n_tokens > budget_tokens * share:
                break
            spent += n_tokens
            rows.append(OverviewRow(title, line))
    return Overview(folder, tuple(rows), spent, budget_tokens)


@dataclass(frozen=True)
class _View:
    """What the sections are made from."""

    query: RecallQuery
    folder: str
    project: str

    @cached_property
    def files(self) -> list[IndexedFile]:
        """Indexed text files of the folder, by path."""
        prefix = f"{self.folder}/" if self.folder else ""
        return [file for file in self.query.reader.snapshot.files() if file.encoding and file.path.startswith(prefix)]

    @cached_property
    def sources(self) -> list[IndexedFile]:
        """Those that are sources, neither tests nor built."""
        derived = self.query.reader.derived
        rows = derived.rows_of_files(np.array([file.file_id for file in self.files], np.int64))
        built = built_files(derived, rows)
        return [
            file
            for file, is_built in zip(self.files, built.tolist(), strict=True)
            if file.role == "source" and file.language and not is_built
        ]

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file as it is now; none if it can't be read."""
        read = self.query.fresh.lines(path) if any(file.path == path for file in self.files) else None
        return read[0] if read is not None else ()

    def at_top(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the paths of files with these names, those further up first."""
        known = sorted((file.path for file in self.files), key=lambda path: (path.count("/"), path))
        yield from (path for path in known if path.rpartition("/")[2] in names)


def _sections(view: _View) -> Iterator[tuple[str, list[str]]]:
    yield "What it is", list(_what_it_is(view))
    yield "Packages", _packages(view)
    yield "Entry points", list(dict.fromkeys(_entry_points(view)))[:MAX_ENTRIES]
    types, functions = _most_used(view)
    yield "Most used types", types
    yield "Most used functions", functions
    yield "Tests and configuration", list(_tests_and_configuration(view))


def _what_it_is(view: _View) -> Iterator[str]:
    languages = Counter(file.language for file in view.sources if file.language)
    n_lines = sum(file.n_lines for file in view.sources)
    named = ", ".join(f"{name} {count}" for name, count in languages.most_common(5))
    place = view.folder or view.project
    yield f"{place}: {len(view.files):,} files, {len(view.sources):,} of them sources with {n_lines:,} lines ({named})"
    described = next(filter(None, (_description(view, path) for path in view.at_top(_MANIFESTS))), "")
    if described:
        yield _cut(described)
    readme = next(
        (file.path for file in sorted(view.files, key=lambda one: one.path.count("/")) if _README.search(file.path)), ""
    )
    paragraph = _first_paragraph(view.lines(readme)) if readme else ""
    if paragraph and paragraph != described:
        yield _cut(f"{paragraph} ({readme})", 3 * MAX_LINE)


def _packages(view: _View) -> list[str]:
    """Return a line for each folder of sources, the largest first."""
    groups: dict[str, list[IndexedFile]] = {}
    for file in view.sources:
        groups.setdefault(_package(file.path, view.folder), []).append(file)
    found = sorted(groups.items(), key=lambda item: (-sum(file.n_lines for file in item[1]), item[0]))
    return [
        f"{name or '.'}/ ({len(files)} files): {_cut(said) if (said := _says(view, name, files)) else ', '.join(_names(files))}"
        for name, files in found[:MAX_PACKAGES]
    ]


def _package(path: str, folder: str) -> str:
    """Return the folder of a file up to the first part that is no mere container such as src/, and one part more where it is alone."""
    inner = PurePosixPath(path[len(folder) + 1 if folder else 0 :]).parts[:-1]
    n_kept = 0
    while n_kept < len(inner):
        n_kept += 1
        if inner[n_kept - 1] not in _SOURCE_FOLDERS:
            break
    if n_kept < len(inner) and n_kept <= 2:
        n_kept += 1
    return "/".join(filter(None, (folder, *inner[:n_kept])))


def _says(view: _View, name: str, files: Sequence[IndexedFile]) -> str:
    """Return the first sentence of a package's documentation: of its entry file, its README, or its one file."""
    entries = ("__init__", "mod", "lib", "index", "doc", "package-info", PurePosixPath(name).name)
    for entry in entries:
        for file in files:
            path = PurePosixPath(file.path)
            is_entry = path.stem == entry and path.parent.as_posix() in (name, ".")
            if is_entry and (said := _first_paragraph(file.leading_comment.split("\n"))):
                return said
    for file in view.files:
        if _README.search(file.path) and PurePosixPath(file.path).parent.as_posix() == name:
            return _first_paragraph(view.lines(file.path))
    return _first_paragraph(files[0].leading_comment.split("\n")) if len(files) == 1 else ""


def _entry_points(view: _View) -> Iterator[str]:
    for path in view.at_top(("pyproject.toml", "package.json", "Cargo.toml")):
        yield from (f"{path}: {line}" for line in _commands("\n".join(view.lines(path)), path))
    mains = [file.path for file in view.sources if _ENTRY_FILE.search(file.path)]
    yield from sorted(mains, key=lambda path: (path.count("/"), path))


def _commands(text: str, path: str) -> Iterator[str]:
    """Yield the commands and main files that a manifest names."""
    try:
        if path.endswith(".toml"):
            table = tomllib.loads(text)
            scripts = table.get("project", {}).get("scripts", {})
            yield from (f"command {name} = {target}" for name, target in sorted(scripts.items()))
            yield from (f"binary {one.get('name', '')} {one.get('path', '')}".strip() for one in table.get("bin", ()))
            return
        table = json.loads(text)
        commands = table.get("bin", {})
        commands = {table.get("name", ""): commands} if isinstance(commands, str) else commands
        yield from (f"command {name} = {target}" for name, target in sorted(commands.items()))
        yield from (f"{key} = {table[key]}" for key in ("main", "module") if isinstance(table.get(key), str))
    except (ValueError, AttributeError, TypeError):
        return


def _most_used(view: _View) -> tuple[list[str], list[str]]:
    """Return the types and functions of central files that are used most, each with the number of uses."""
    derived, snapshot = view.query.reader.derived, view.query.reader.snapshot
    rows = derived.rows_of_files(np.array([file.file_id for file in view.sources], np.int64))
    order = np.argsort(-derived.columns.centrality[rows], kind="stable")[:N_CENTRAL_FILES]
    cards = [card for place in order.tolist() for card in snapshot.symbols(view.sources[place].path)]
    wanted = {card.card_id: card for card in cards if card.kind in CODE_CALLABLE_KINDS or card.kind in NAMED_TYPE_KINDS}
    uses = Counter(
        edge.target_id
        for edge in snapshot.edges_to(list(wanted))
        if edge.target_id and edge.caller_path != wanted[edge.target_id].path
    )
    ranked = sorted(wanted.values(), key=lambda card: (-uses[card.card_id], card.path, card.first_line))
    ranked = [card for card in ranked if uses[card.card_id]]
    types = [card for card in ranked if card.kind in NAMED_TYPE_KINDS][:MAX_DEFINITIONS]
    functions = [card for card in ranked if card.kind in CODE_CALLABLE_KINDS][:MAX_DEFINITIONS]
    return [_used(card, uses[card.card_id]) for card in types], [_used(card, uses[card.card_id]) for card in functions]


def _used(card: Card, n_uses: int) -> str:
    said = _first_paragraph(card.doc.split("\n"))
    return _cut(f"{card.qualified_name} {card.path}:{card.first_line} ({n_uses} uses){': ' + said if said else ''}")


def _tests_and_configuration(view: _View) -> Iterator[str]:
    tests = Counter(
        file.path.partition("/")[0] if "/" in file.path else "." for file in view.files if file.role == "test"
    )
    if tests:
        yield "tests: " + ", ".join(f"{name}/ ({count} files)" for name, count in tests.most_common(MAX_PLACES))
    configuration = sorted(
        (file.path for file in view.files if file.role == "config"), key=lambda path: (path.count("/"), path)
    )
    if configuration:
        more = f" and {len(configuration) - MAX_PLACES} more" if len(configuration) > MAX_PLACES else ""
        yield "configuration: " + ", ".join(configuration[:MAX_PLACES]) + more
    docs = Counter(file.path.partition("/")[0] for file in view.files if file.role == "docs" and "/" in file.path)
    if docs:
        yield "documents: " + ", ".join(f"{name}/ ({count})" for name, count in docs.most_common(MAX_PLACES))


def _description(view: _View, path: str) -> str:
    """Return the description that a manifest gives."""
    text = "\n".join(view.lines(path))
    found = re.search(r'^\s*"?description"?\s*[:=]\s*"((?:[^"\\\n]|\\.){1,400})"', text, re.MULTILINE)
    return f"{found[1]} ({path})" if found else ""


def _first_paragraph(lines: Sequence[str]) -> str:
    """Return the first paragraph of prose: no heading, badge, code or licence."""
    for paragraph in _paragraphs(lines[:MAX_COMMENT_LINES]):
        if len(paragraph) >= LEAST_PROSE and not _LICENCE.search(paragraph):
            return paragraph
    return ""


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    kept: list[str] = []
    in_code = False
    for line in (*lines, ""):
        in_code ^= line.lstrip().startswith("```")
        plain = (
            _MARKS.sub(lambda match: match[1] or "", line).strip() if not in_code and not _NO_PROSE.match(line) else ""
        )
        if plain:
            kept.append(plain)
        elif kept:
            yield " ".join(kept)
            kept = []


def _names(files: Sequence[IndexedFile]) -> list[str]:
    return [PurePosixPath(file.path).name for file in sorted(files, key=lambda one: -one.n_lines)[:4]]


def _cut(text: str, limit: int = MAX_LINE) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
