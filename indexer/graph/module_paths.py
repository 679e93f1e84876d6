"""Finds the files of the repository that an import refers to, by the rules of each language."""

import posixpath
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.asked import AskedNames, path_key
from codecards.indexer.graph.heads import FileHead
from codecards.indexer.graph.scoping import scoping_of

SCRIPT_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".d.ts")
SOURCE_FOLDERS = ("src", "lib", "python", "source")
_PYTHON_STANDARD = sys.stdlib_module_names - {"test"}  # a repository's own tests are often a package of that name
_GO_STANDARD = frozenset(
    """
    archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar
    flag fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices
    sort strconv strings structs sync syscall testing text time unicode unique unsafe
    """.split()
)


def module_name(path: str, facts: FileFacts) -> str:
    """Return the name by which other files import this one: "shop.pricing"."""
    if facts.package:
        return facts.package
    folder, _, name = path.rpartition("/")
    is_script = scoping_of(facts.language).family == "javascript"
    stem = name.partition(".")[0] if is_script else name.rpartition(".")[0] or name
    parts = [part for part in folder.split("/") if part]
    if (len(parts) > 1 and parts[0] in SOURCE_FOLDERS) or parts[:1] == ["src"]:
        parts = parts[1:]
    if stem not in ("__init__", "index", "mod"):
        parts.append(stem)
    return ".".join(parts)


class ModulePaths:
    """Finds the files that imports refer to, and records the module keys that it asks for."""

    def __init__(self, files: Mapping[str, FileHead], asked: AskedNames | None = None) -> None:
        """Create a finder for path → head of all files."""
        self._files = files
        self._asked = asked or AskedNames()
        self._python_found: dict[tuple[str, str], tuple[str | None, frozenset[str]]] = {}

    def _ask(self, key: str) -> None:
        self._asked.names.add(key)

    def _exists(self, path: str) -> bool:
        self._asked.names.add(path_key(path))
        return path in self._files

    # Python

    def python(self, path: str, module: str, level: int) -> str | None:
        """Return the file of an imported module; None if it is not in the repository.

        Args:
            path: The importing file.
            module: Dotted, without leading dots; may be "".
            level: Number of leading dots, 0 for an absolute import.
        """
        if level:
            return self._python_relative(path, module, level)
        folder = path.rpartition("/")[0]
        key = (folder, module)
        known = self._python_found.get(key)
        if known is None:
            outer = self._asked.begin()
            found = self._python_absolute(folder, module)
            known = self._python_found[key] = found, self._asked.end(outer)
        self._asked.names.update(known[1])
        return known[0]

    def python_inside(self, path: str, name: str) -> str | None:
        """Return the file of a package's submodule, None if there is none.

        Args:
            path: The package's `__init__` file.
            name: The submodule.
        """
        folder, _, file = path.rpartition("/")
        if not name or file.partition(".")[0] != "__init__":
            return None
        return self._python_at(f"{folder}/{name}" if folder else name)

    def is_python_package(self, dotted: str) -> bool:
        """Return whether a dotted name is a folder with Python files at any depth."""
        self._ask(f"py-package {dotted}")
        return dotted in self.python_modules[1]

    @cached_property
    def python_modules(self) -> tuple[dict[str, list[str]], set[str]]:
        """(Dotted name → files, dotted names of packages)."""
        modules: dict[str, list[str]] = defaultdict(list)
        packages: set[str] = set()
        for path, head in self._files.items():
            if scoping_of(head.language).family == "python" and path.endswith((".py", ".pyi", ".pyx")):
                for name in _python_names(path, self._files):
                    modules[name].append(path)
                    parts = name.split(".")
                    packages.update(".".join(parts[:length]) for length in range(1, len(parts)))
        return modules, packages

    def _python_absolute(self, folder: str, module: str) -> str | None:
        top = module.partition(".")[0]
        if top in _PYTHON_STANDARD:
            return None  # a file of this name may shadow the standard library, but rarely on purpose
        self._ask(f"py {module}")
        found = self.python_modules[0].get(module, [])
        if not found:
            is_package = self._exists(f"{folder}/__init__.py") if folder else False
            return None if is_package else self._python_at(posixpath.join(folder, module.replace(".", "/")))
        return min(
            found, key=lambda one: (-shared_folders(one, f"{folder}/"), one.endswith(".pyi"), one.count("/"), one)
        )

    def _python_relative(self, path: str, module: str, level: int) -> str | None:
        folder = path.rpartition("/")[0]
        for _ in range(level - 1):
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
        return self._python_at(posixpath.join(folder, module.replace(".", "/")) if module else folder)

    def _python_at(self, base: str) -> str | None:
        choices = (
            (f"{base}/__init__.py", f"{base}.py", f"{base}.pyx", f"{base}/__init__.pyi", f"{base}.pyi")
            if base
            else ("__init__.py",)
        )
        return next((one for one in choices if self._exists(one)), None)

    # paths: JavaScript and TypeScript, C includes, Ruby and Lua requires, Zig imports

    def file_of(self, path: str, module: str) -> str | None:
        """Return the file that a path or specifier refers to, None if it is outside of the repository.

        Args:
            path: The importing file.
            module: The path or specifier as written.
        """
        language = self._files[path].language
        if scoping_of(language).family == "javascript":
            return self._script(path, module)
        written = module.replace(".", "/") if language == "lua" else module
        suffix = {"ruby": ".rb", "lua": ".lua"}.get(language, "")
        if suffix and not written.endswith(suffix):
            written += suffix
        near = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
        if self._exists(near):
            return near
        tail = written.lstrip("./")
        name = tail.rpartition("/")[2]
        self._ask(f"file {name}")
        found = [one for one in self._by_filename.get(name, ()) if one == tail or one.endswith("/" + tail)]
        return max(found, key=lambda one: (shared_folders(one, path), -len(one), one)) if found else None

    @cached_property
    def _by_filename(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def _script(self, path: str, module: str) -> str | None:
        if module.startswith("."):
            return self._script_at(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        if module.startswith(("@/", "~/", "$lib/", "#/")):
            inside = module.partition("/")[2]
            tops = self._tops_above(path)
            return next(
                filter(
                    None,
                    (
                        self._script_at(f"{top}{part}{inside}")
                        for top in tops
                        for part in ("src/", "", "app/", "src/lib/")
                    ),
                ),
                None,
            )
        if "/" in module and not module.startswith("@"):
            found = next(filter(None, (self._script_at(f"{top}{module}") for top in ("", "src/"))), None)
            if found is not None:
                return found
        return self._workspace_package(module)

    def _script_at(self, base: str) -> str | None:
        if self._exists(base) and base.endswith(SCRIPT_SUFFIXES):
            return base
        stem = base
        for written in (".js", ".jsx", ".mjs", ".cjs"):  # TypeScript imports use the suffix of the compiled file
            stem = stem.removesuffix(written)
        choices = (
            *(stem + suffix for suffix in SCRIPT_SUFFIXES),
            *(f"{base}/index{suffix}".removeprefix("./") for suffix in SCRIPT_SUFFIXES),
        )
        self._asked.names.add(path_key(choices[-1]))
        return next((one for one in choices if one in self._files), None)

    def _tops_above(self, path: str) -> list[str]:
        """Return the folders above a file, nearest first, each "" or ending with a slash."""
        parts = path.split("/")[:-1]
        return ["/".join(parts[:n]) + "/" if n else "" for n in range(len(parts), -1, -1)]

    @cached_property
    def script_packages(self) -> dict[str, list[str]]:
        """Folder name → folders of that name with an index or src/index file."""
        found: dict[str, set[str]] = {}
        for path in self._files:
            folder, _, file = path.rpartition("/")
            if file.partition(".")[0] == "index" and path.endswith(SCRIPT_SUFFIXES):
                folder = folder.removesuffix("/src")
                found.setdefault(folder.rpartition("/")[2], set()).add(folder)
        return {name: sorted(folders) for name, folders in found.items()}

    def _workspace_package(self, module: str) -> str | None:
        """Return the file of a package of the same workspace: "@shop/money" → packages/money/src/index.ts."""
        parts = module.split("/")
        scoped = module.startswith("@")
        if not scoped or len(parts) < 2:
            return None
        self._ask(f"script-package {parts[1]}")
        folders = [one for one in self.script_packages.get(parts[1], ()) if "/" in one]
        if len(folders) != 1:
            return None
        inside = "/".join(parts[2:])
        return next(
            filter(None, (self._script_at(f"{folders[0]}/{part}{inside}".rstrip("/")) for part in ("src/", ""))), None
        )

    # Go

    def go_import(self, module: str) -> str | None:
        """Return the package that an import path refers to, None if it is outside of the repository."""
        self._ask(f"go {module}")
        if module not in self._go_found:
            self._go_found[module] = self._find_go(module)
        return self._go_found[module]

    @cached_property
    def _go_found(self) -> dict[str, str | None]:
        return {}

    @cached_property
    def _go_units(self) -> dict[str, str]:
        """Folder → the package that its importers get."""
        packages: dict[str, Counter[str]] = defaultdict(Counter)
        for path, head in self._files.items():
            if head.language == "go" and not head.package.endswith("_test"):
                packages[path.rpartition("/")[0]][head.package] += 1 if path.endswith("_test.go") else 100
        return {folder: f"{folder}#{counts.most_common(1)[0][0]}" for folder, counts in packages.items()}

    @cached_property
    def go_modules(self) -> set[str]:
        """Every module that a Go file imports."""
        heads = (head for head in self._files.values() if head.language == "go")
        return {use.removeprefix("go ") for head in heads for use in head.uses if use.startswith("go ")}

    @cached_property
    def _go_prefixes(self) -> Counter[str]:
        """Possible prefix of the repository's folders in import paths → number of import paths that it explains."""
        votes: Counter[str] = Counter()
        for module in self.go_modules:
            parts = module.split("/")
            for n in range(len(parts) + 1):
                if "/".join(parts[n:]) in self._go_units:
                    votes["/".join(parts[:n])] += 1
        return votes

    def _find_go(self, module: str) -> str | None:
        parts = module.split("/")
        if parts[0] in _GO_STANDARD:
            return None
        best: tuple[int, int, str] | None = None
        for n in range(len(parts) + 1):
            folder, prefix = "/".join(parts[n:]), "/".join(parts[:n])
            # A package at the root matches every import path, so that a second import path must support the prefix.
            if folder in self._go_units and (folder or self._go_prefixes[prefix] > 1):
                choice = (self._go_prefixes[prefix], len(folder), folder)
                best = max(best, choice) if best else choice
        return self._go_units[best[2]] if best else None

    # Rust

    def crate_named(self, name: str) -> str | None:
        """Return the source folder of the repository's crate with that name, None if there is none."""
        self._ask(f"crate {name}")
        return self.crates.get(name)

    @cached_property
    def crates(self) -> dict[str, str]:
        """Name of a crate → its source folder."""
        found: dict[str, str] = {}
        for path in sorted(self._files):
            if path.endswith("src/lib.rs"):
                folder = path.removesuffix("/src/lib.rs").removesuffix("src/lib.rs")
                if folder:
                    found.setdefault(folder.rpartition("/")[2].replace("-", "_"), f"{folder}/src")
        return found

    def library_of(self, path: str) -> str | None:
        """Return the source folder of the library in a file's Rust package, None if there is none."""
        parts = path.split("/")
        for index in range(len(parts) - 1, 0, -1):
            if parts[index - 1] in ("src", "tests", "examples", "benches"):
                folder = "/".join([*parts[: index - 1], "src"])
                if self._exists(f"{folder}/lib.rs"):
                    return folder
        return None


def _python_names(path: str, files: Mapping[str, FileHead]) -> Iterable[str]:
    """Return the dotted names of a file: relative to the root, and to the folder above its outermost package."""
    parts = path.rpartition(".")[0].split("/")
    depth = len(parts) - 1
    if parts[-1] == "__init__":
        parts.pop()
    names = {".".join(parts)}
    folder = path.split("/")[:depth]
    while folder and ("/".join([*folder, "__init__.py"]) in files or "/".join([*folder, "__init__.pyi"]) in files):
        folder.pop()
    if folder and len(folder) < depth:  # outside of packages, only files of the same folder can use the short name
        names.add(".".join(parts[len(folder) :]))
    if parts and parts[0] in SOURCE_FOLDERS:
        names.add(".".join(parts[1:]))
    return [name for name in sorted(names) if name]


def shared_folders(path: str, other: str) -> int:
    """Return the number of folders, from the root, that two files share."""
    count = 0
    for mine, theirs in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count
