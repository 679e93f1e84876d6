"""Resolves a target as users and agents write it to a symbol, a file or lines.

Agents write inexactly: a qualified name, a bare name, a path without its folders or its suffix, a class name for a
file. A single match is used, several are offered, and for none similar names are suggested.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import AmbiguousTargetError, OutsideProjectError, TargetNotFoundError
from codecards.indexer.cards.card import Card
from codecards.indexer.facts import CALLABLE_KINDS
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.walk.files import resolve_inside

MAX_CANDIDATES = 20
_line_suffix = re.compile(r"^(.*?):(\d+)(?:-(\d+))?$", re.DOTALL)
_TEST_MODULES = frozenset(("test", "tests"))
_DECLARES = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
_separator = re.compile(r"::|->|#|/|\\")


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The cards of one symbol, or a file, or lines of it."""

    cards: tuple[Card, ...] = ()
    """Several for overloads and for parts of one symbol."""
    path: str = ""
    first_line: int = 0
    """0 for the whole file."""
    last_line: int = 0


def find_target(snapshot: Snapshot, root: Path, written: str, path: str | None = None) -> ResolvedTarget:
    """Return the target of a text.

    Args:
        snapshot: The generation to search.
        root: The project; paths that lead outside it are refused.
        written: "TokenStore.purge", "purge", "src/auth.py", "auth.py:12", "src/auth.py::TokenStore.purge".
        path: Limits symbols to one file.

    Raises:
        TargetNotFoundError: Nothing matches; it carries similar names.
        AmbiguousTargetError: Several things match.
        OutsideProjectError: The text is a path outside the project.
    """
    _refuse_outside(root, written)
    symbol = find_symbol(snapshot, written, path)
    if len(symbol) == 1:
        return ResolvedTarget(cards=symbol[0])
    found = _line_suffix.match(written)
    name, first, last = (found[1], int(found[2]), int(found[3] or found[2])) if found else (written, 0, 0)
    files = find_files(snapshot, name)
    if files and files[0].path != name.removeprefix("./") and _is_unindexed_file(root, name):
        raise TargetNotFoundError(written, what="indexed file")  # no other file may be shown in its place
    is_name = "." not in name and "/" not in name and files and files[0].path != name
    # A bare name is first a symbol's, then a file's without its suffix.
    if len(files) == 1 and not (symbol and is_name):
        return ResolvedTarget(path=files[0].path, first_line=first, last_line=last)
    if symbol:
        raise AmbiguousTargetError(
            written, [group[0].symbol_id for group in symbol[:MAX_CANDIDATES]], total=len(symbol)
        )
    if files:
        raise AmbiguousTargetError(written, [file.path for file in files[:MAX_CANDIDATES]], total=len(files))
    raise TargetNotFoundError(written, suggestions=near_names(snapshot, written))


def find_symbol(snapshot: Snapshot, written: str, path: str | None = None) -> list[tuple[Card, ...]]:
    """Return the symbols that a name may mean, each as its cards, best first."""
    head, mark, qualified = written.rpartition("::")
    if mark and snapshot.file_at(head) is not None:
        name = qualified.partition("~")[0]
        cards = [card for card in snapshot.cards_in(head) if card.qualified_name == name]
        exact = [card for card in cards if card.symbol_id == written]
        return [tuple(exact or cards)] if cards else []
    plain = _separator.sub(".", written.strip()).removesuffix("()").strip(".")
    if not plain:
        return []
    last = plain if plain.startswith("operator") else plain.rpartition(".")[2]
    named = snapshot.cards_named(last)
    if path is not None:
        paths = {file.path for file in find_files(snapshot, path)}
        named = [card for card in named if card.path in paths]
        # In one file a full name means that symbol, even if the names of methods end with it too.
        named = [card for card in named if card.qualified_name == plain] or named
    matching = [card for card in named if _matches(card, plain)]
    same_case = [card for card in matching if card.name == last]
    found = same_case or matching
    return _grouped(found if path is not None else _outside_tests(snapshot, found))


def find_files(snapshot: Snapshot, written: str) -> list[IndexedFile]:
    """Return the indexed files that a written path may mean; only the exact one if there is one."""
    exact = snapshot.file_at(written)
    wanted = written.strip().replace("\\", "/").removeprefix("./").strip("/")
    if exact is None and wanted:
        exact = snapshot.file_at(wanted)
    if exact is not None or not wanted:
        return [exact] if exact is not None else []
    files = snapshot.files()
    tail = "/" + wanted.casefold()
    rules: tuple[Callable[[str], bool], ...] = (
        lambda path: ("/" + path).endswith("/" + wanted),
        lambda path: ("/" + path.casefold()).endswith(tail),
        lambda path: ("/" + path.casefold().rpartition(".")[0]).endswith(tail),
        lambda path: ("/" + path.casefold().rpartition(".")[0]).endswith(tail.replace(".", "/")),
        lambda path: path.casefold().rpartition("/")[2] == wanted.casefold().rpartition("/")[2] and "/" in wanted,
    )
    for rule in rules:
        found = [file for file in files if rule(file.path)]
        if found:
            return sorted(found, key=lambda file: (file.path.count("/"), file.path))
    return []


def find_file(snapshot: Snapshot, written: str) -> IndexedFile:
    """Return the one indexed file that a written path means.

    Raises:
        TargetNotFoundError: No file matches.
        AmbiguousTargetError: Several files match.
    """
    files = find_files(snapshot, written)
    if not files:
        raise TargetNotFoundError(written, what="indexed file")
    if len(files) > 1:
        raise AmbiguousTargetError(written, [file.path for file in files[:MAX_CANDIDATES]], total=len(files))
    return files[0]


def near_names(snapshot: Snapshot, written: str, n_names: int = 5) -> list[str]:
    """Return names that are similar to a written one."""
    import difflib

    wanted = _separator.sub(".", written).rpartition(".")[2].casefold()
    by_name = {card.name.casefold(): card.qualified_name for card in snapshot.symbols()}
    return [by_name[name] for name in difflib.get_close_matches(wanted, list(by_name), n_names, 0.7)]


def _refuse_outside(root: Path, written: str) -> None:
    """Refuse a path that leads outside the project.

    Raises:
        OutsideProjectError: It does.
    """
    if "\0" in written:
        raise OutsideProjectError(f"{written!r} is not a usable path: it contains a NUL character")
    if (
        written.startswith(("/", "~", "\\"))
        or ".." in re.split(r"[/\\]", written)
        or re.match(r"^[A-Za-z]:[\\/]", written)
    ):
        resolve_inside(root, written.partition("::")[0])


def _is_unindexed_file(root: Path, path: str) -> bool:
    """Return whether there is a file with exactly this path on disk; it is not indexed, since another file matched."""
    try:
        place = resolve_inside(root, path)
        return place.is_file() and place == (root.resolve() / path.replace("\\", "/"))
    except OSError:
        return False


def _is_signature(card: Card, group: list[Card]) -> bool:
    """Return whether a card is an overload signature, whose body is the last of its group."""
    last = max(group, key=lambda one: one.first_line)
    if card == last or card.kind not in CALLABLE_KINDS:
        return False
    if card.language == "python":
        n_lines = card.last_line - card.name_line
        return card.first_line < card.name_line and n_lines < last.last_line - last.name_line
    return card.language in ("typescript", "tsx")


def _matches(card: Card, plain: str) -> bool:
    """Return whether a written name is the card's qualified name, with or without module and folders."""
    whole = ".".join(part for part in (card.module, card.qualified_name) if part).casefold()
    wanted = plain.casefold()
    if whole == wanted or whole.endswith("." + wanted):
        return True
    in_path = f"{card.path.rpartition('.')[0].replace('/', '.')}.{card.qualified_name}".casefold()
    return in_path.endswith("." + wanted) or in_path == wanted


def _outside_tests(snapshot: Snapshot, cards: list[Card]) -> list[Card]:
    """Return the cards that a bare name means first: of sources before tests and declaration files, whole before nested.

    Whoever means one of the others names its file.
    """
    if len({(card.path, card.qualified_name) for card in cards}) < 2:
        return cards
    files = snapshot.files_at({card.path for card in cards})
    in_sources = [card for card in cards if files[card.path].role != "test" and not _in_tests_beside_code(card)]
    found = in_sources or cards
    found = [card for card in found if not _DECLARES.search(card.path)] or found
    return [card for card in found if not _is_inside_function(snapshot, card)] or found


def _is_inside_function(snapshot: Snapshot, card: Card) -> bool:
    if not card.parent:
        return False
    outer = (one for one in snapshot.cards_in(card.path) if one.qualified_name == card.parent)
    return any(one.kind in CALLABLE_KINDS for one in outer)


def _in_tests_beside_code(card: Card) -> bool:
    return not _TEST_MODULES.isdisjoint(card.parent.split("."))


def _grouped(cards: list[Card]) -> list[tuple[Card, ...]]:
    """Group cards by symbol: overloads of one file, a prototype with its definition, a class with its impl blocks."""
    groups: dict[tuple[str, str], list[Card]] = {}
    for card in cards:
        groups.setdefault((card.path, card.qualified_name), []).append(card)
    found = [
        sorted(
            group, key=lambda card: (card.kind in ("declaration", "impl"), _is_signature(card, group), card.first_line)
        )
        for group in groups.values()
    ]
    bodies = [group for group in found if group[0].kind not in ("declaration", "impl", "part")]
    others = [group for group in found if group not in bodies]
    if len(bodies) == 1:
        only = bodies[0]
        return [
            (*only, *(card for group in others for card in group if group[0].qualified_name == only[0].qualified_name))
        ]
    partial = {(group[0].qualified_name, group[0].module, group[0].kind) for group in bodies}
    if len(partial) == 1 and bodies and bodies[0][0].language == "csharp":
        return [tuple(card for group in bodies for card in group)]
    return [tuple(group) for group in (bodies or others)]
