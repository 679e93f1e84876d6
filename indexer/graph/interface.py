"""What other files can depend on in a file, by the name under which they ask for it.

An edit that leaves the interface equal leaves the edges of all other files as they are, except for the lines of their
targets. Otherwise only files that asked for a name whose part of the interface differs are resolved again.
"""

import hashlib
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from codecards.indexer.facts import CODE_CALLABLE_KINDS, CODE_TYPE_KINDS, CONTAINER_KINDS, Binding, FileFacts
from codecards.indexer.graph.asked import last_part, path_key
from codecards.indexer.graph.heads import FileHead, Packages
from codecards.indexer.graph.module_paths import ModulePaths
from codecards.indexer.graph.symbols import innermost_at

Key = TypeVar("Key")
Interface = dict[str, list[object]]
"""Name or module key → what the file gives under it, in order."""


def interface_of(path: str, facts: FileFacts) -> Interface:
    """Return the interface of a file."""
    found: Interface = {path_key(path): [(path, facts.language, facts.package)]}
    labels = _labels(facts)
    shared = _shared_bindings(facts)
    lines_of: dict[str, list[int]] = {}
    for bound in shared:
        lines_of.setdefault(bound.name, []).append(bound.line)

    def older(written: str, line: int) -> int:
        """Return how many bindings of the first name of a chain lie above a line: one of them gives its type."""
        heads = {_head(part.strip(" ?*&")) for part in written.split("|")}
        return sum(one <= line for head in heads for one in lines_of.get(head, ()))

    def add(name: str, value: object) -> None:
        found.setdefault(name, []).append(value)

    for position, one in enumerate(facts.definitions):
        entry = (
            *("definition", one.name, one.qualified_name, one.kind, labels[one.parent], one.bases, one.returns),
            *(one.exported, one.signature, [older(base, one.first_line) for base in one.bases]),
            older(one.returns, one.first_line),
        )
        for name in {one.name, last_part(one.qualified_name)}:
            add(name, entry)
        if one.kind in CONTAINER_KINDS:
            add(f"members {one.name}", sum(other.parent == position for other in facts.definitions))
    for brought in facts.imports:
        value = ("import", brought.module, brought.name, brought.level, labels[brought.scope], brought.reexported)
        for name in {brought.alias, brought.alias.partition(".")[0]} if brought.alias else {f"stars {path}"}:
            add(name, (*value, brought.alias))
        if facts.language == "go":
            add(f"imports {path}", brought.module)
    last_line: dict[tuple[str, int], int] = {}
    for bound in shared:
        where = innermost_at(facts.definitions, bound.line, bound.scope)
        on_same_line = last_line.get((bound.name, bound.scope)) == bound.line
        last_line[bound.name, bound.scope] = bound.line
        n_older = older(bound.value, bound.line - 1), older(bound.value, bound.line)
        add(
            last_part(bound.name),
            ("binding", bound.name, bound.value, labels[bound.scope], labels[where], on_same_line, n_older),
        )
        if bound.name.count(".") > 1 or not bound.name.startswith("self."):
            add(bound.name, "")
    for export in facts.exports:
        add(export.name, ("export", export.local))
    return found


def interface_digest(path: str, facts: FileFacts) -> bytes:
    """Return a digest of the interface of a file."""
    text = repr(sorted(interface_of(path, facts).items()))  # repr escapes the surrogates of a path that is not UTF-8
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def changed_names(path: str, before: FileFacts | None, after: FileFacts | None) -> set[str]:
    """Return the names and module keys whose part of a file's interface differs; None stands for no file."""
    old = interface_of(path, before) if before is not None else {}
    new = interface_of(path, after) if after is not None else {}
    if old.get(path_key(path)) != new.get(path_key(path)):  # another file, as it were
        return old.keys() | new.keys()
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def changed_modules(before: Mapping[str, FileHead], after: Mapping[str, FileHead]) -> set[str]:
    """Return the module keys for which the heads of all files give another answer than before."""
    old, new = ModulePaths(before), ModulePaths(after)
    keys = {path_key(path) for path in before.keys() ^ after.keys()}
    keys |= {f"file {path.rpartition('/')[2]}" for path in before.keys() ^ after.keys()}
    keys |= {f"py {name}" for name in _different(old.python_modules[0], new.python_modules[0])}
    keys |= {f"py-package {name}" for name in old.python_modules[1] ^ new.python_modules[1]}
    keys |= {f"script-package {name}" for name in _different(old.script_packages, new.script_packages)}
    keys |= {f"crate {name}" for name in _different(old.crates, new.crates)}
    modules = old.go_modules | new.go_modules
    keys |= {f"go {one}" for one in modules if old.go_import(one) != new.go_import(one)}
    packages = Packages(before), Packages(after)
    keys |= {f"package {scope} {name}" for scope, name in packages[0].names ^ packages[1].names}
    keys |= {f"files {scope} {name}" for scope, name in _different(packages[0].files, packages[1].files)}
    if packages[0].rust_imports != packages[1].rust_imports:
        heads = [rust_heads(paths, each) for paths, each in zip((old, new), packages, strict=True)]
        keys |= {f"head {library} {head}" for library, head in _different(*heads)}
    return keys


def rust_heads(paths: ModulePaths, packages: Packages) -> dict[tuple[str, str], frozenset[str]]:
    """Return (library, first name of an import path) → the rest of those paths in the package's files."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, imports in packages.rust_imports.items():
        if (library := paths.library_of(path)) is not None:
            for written in imports:
                head, _, inside = written.partition(".")
                if inside not in ("", "*"):
                    found.setdefault((library, head), set()).add(inside)
    return {key: frozenset(insides) for key, insides in found.items()}


def _different(before: Mapping[Key, object], after: Mapping[Key, object]) -> set[Key]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def _labels(facts: FileFacts) -> dict[int, object]:
    """Return position of a definition → what the scopes from it outwards are; -1 → "" for the file."""
    labels: dict[int, object] = {-1: ""}
    for position, one in enumerate(facts.definitions):
        signature = one.signature if one.kind in CODE_CALLABLE_KINDS else ""
        chain = (one.kind, one.qualified_name, signature, labels.get(one.parent, ""))
        labels[position] = hashlib.blake2b(_encode(chain), digest_size=8).digest()
    return labels


def _shared_bindings(facts: FileFacts) -> list[Binding]:
    """Return the bindings that other files can see, and those on which their types depend."""
    definitions = facts.definitions
    shared = [
        one
        for one in facts.bindings
        if one.scope < 0 or "." in one.name or definitions[one.scope].kind in CODE_TYPE_KINDS
    ]
    # `self.store = store` depends on the type of the parameter `store`, and so on through other local names.
    wanted = {_head(one.value) for one in shared}
    while more := {_head(one.value) for one in facts.bindings if one.name in wanted} - wanted:
        wanted |= more
    names = {id(one) for one in shared}
    return [one for one in facts.bindings if id(one) in names or one.name in wanted]


def _head(written: str) -> str:
    return written.lstrip("=").partition(".")[0].removesuffix("()")


_encode = msgspec.msgpack.Encoder().encode
