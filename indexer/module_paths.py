"""Module paths: which files of the repository an import means, by the rules of its language."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping

from codecards.indexer.facts import FileFacts, Import

SCRIPT_SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
SCRIPTS = frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "html"})
BY_PACKAGE = frozenset({"java", "kotlin", "scala", "csharp", "php", "haskell", "elixir"})
"""Languages whose files say which package they belong to, wherever they lie."""
SOURCE_FOLDERS = ("src", "lib", "python", "source")


def module_name(path: str, facts: FileFacts) -> str:
    """Return the name by which other files reach this one: "shop.pricing"."""
    if facts.package:
        return facts.package
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] if facts.language in SCRIPTS else name.rpartition(".")[0] or name
    parts = [part for part in folder.split("/") if part]
    if len(parts) > 1 and parts[0] in SOURCE_FOLDERS or parts[:1] == ["src"]:
        parts = parts[1:]
    if stem not in ("__init__", "index", "mod"):
        parts.append(stem)
    return ".".join(parts)


class ModulePaths:
    """Finds the files that an import means."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        """Take all files of the repository."""
        self._files = files
        self._by_module: dict[str, list[str]] = defaultdict(list)
        self._by_package: dict[str, list[str]] = defaultdict(list)
        self._by_folder: dict[str, list[str]] = defaultdict(list)
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        for path, facts in files.items():
            folder, _, name = path.rpartition("/")
            self._by_tail[name].append(path)
            if facts.language == "python":
                for module in _python_names(path, files):
                    self._by_module[module].append(path)
            elif facts.language == "go":
                self._by_folder[folder].append(path)
            if facts.package:
                self._by_package[facts.package].append(path)
        self._folders_by_tail: dict[str, list[str]] = defaultdict(list)
        for folder in self._by_folder:
            self._folders_by_tail[folder.rpartition("/")[2]].append(folder)

    def in_package(self, package: str) -> list[str]:
        """Return the files that say they belong to a package."""
        return self._by_package.get(package, [])

    def in_folder(self, path: str) -> list[str]:
        """Return the Go files that lie in the folder of a file."""
        return self._by_folder.get(path.rpartition("/")[0], [])

    def find(self, path: str, one: Import) -> list[str]:
        """Return the files that hold the module that an import in the file at path names; none if it is external."""
        language = self._files[path].language
        if language == "python":
            return self._python(path, one.module, one.level)
        if language in SCRIPTS:
            return self._script(path, one.module)
        if language == "go":
            return self._go(one.module)
        if language == "rust":
            return self._rust(path, one.module)
        if language in BY_PACKAGE:
            return self._by_package.get(one.module, [])
        return self._by_written_path(path, one.module, language)

    def submodule(self, path: str, one: Import) -> list[str]:
        """Return the files of `module.name`, where the imported name is a module itself."""
        language = self._files[path].language
        joined = f"{one.module}.{one.name}" if one.module else one.name
        if language == "python":
            return self._python(path, joined, one.level)
        if language == "rust":
            return self._rust(path, joined)
        return self._by_package.get(joined, []) if language in BY_PACKAGE else []

    def _python(self, path: str, module: str, level: int) -> list[str]:
        if not level:
            found = self._by_module.get(module, [])
            near = [one for one in found if _same_top(one, path)]
            return near or found
        folder = path.rpartition("/")[0]
        for _ in range(level - 1):
            if not folder:
                return []
            folder = folder.rpartition("/")[0]
        base = posixpath.join(folder, module.replace(".", "/")) if module else folder
        choices = (f"{base}.py", f"{base}/__init__.py", f"{base}.pyi", f"{base}/__init__.pyi") if base else ("__init__.py",)
        return [one for one in choices if one in self._files][:1]

    def _script(self, path: str, module: str) -> list[str]:
        if module.startswith("."):
            base = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
            return self._script_at(base)
        if module.startswith(("@/", "~/")):
            inside = module[2:]
            return next(filter(None, (self._script_at(f"{top}{inside}") for top in ("src/", "", "app/"))), [])
        return next(filter(None, (self._script_at(f"{top}{module}") for top in ("src/", "")) if "/" in module else ()), [])

    def _script_at(self, base: str) -> list[str]:
        stem = base
        for written in (".js", ".jsx", ".mjs", ".cjs"):  # TypeScript writes the suffix of what it will become
            stem = stem.removesuffix(written)
        choices = [base, *(stem + suffix for suffix in SCRIPT_SUFFIXES), *(f"{base}/index{suffix}" for suffix in SCRIPT_SUFFIXES)]
        return [one for one in choices if one in self._files][:1]

    def _go(self, module: str) -> list[str]:
        parts = module.split("/")
        found = self._folders_by_tail.get(parts[-1], []) if len(parts) > 1 else []
        best, best_length = "", 0
        for folder in found:
            inside = folder.split("/")
            length = 0
            while length < min(len(inside), len(parts)) and inside[-1 - length] == parts[-1 - length]:
                length += 1
            if length == len(inside) and length > best_length or (length > best_length and "." in parts[0]):
                best, best_length = folder, length
        return self._by_folder[best] if best_length else []

    def _rust(self, path: str, module: str) -> list[str]:
        parts = module.split(".")
        here = _rust_module(path)
        crate = here[0]
        if parts[0] == "crate":
            inside = parts[1:]
        elif parts[0] in ("self", "super"):
            inside = list(here[1])
            while parts and parts[0] in ("self", "super"):
                if parts.pop(0) == "super":
                    inside = inside[:-1]
            inside += parts
        else:
            inside = [*here[1], *parts]
            if not self._rust_at(crate, inside):
                inside = parts
        return self._rust_at(crate, inside)

    def _rust_at(self, crate: str, inside: list[str]) -> list[str]:
        base = posixpath.join(crate, *inside) if inside else crate
        choices = (f"{base}.rs", f"{base}/mod.rs") if inside else (f"{crate}/lib.rs", f"{crate}/main.rs", f"{crate}/mod.rs")
        return [one.lstrip("/") for one in choices if one.lstrip("/") in self._files][:1]

    def _by_written_path(self, path: str, module: str, language: str) -> list[str]:
        """C includes, Ruby and Lua requires, Zig imports: a path that ends like a file's."""
        written = module.replace(".", "/") if language == "lua" else module
        suffix = {"ruby": ".rb", "lua": ".lua", "bash": ""}.get(language, "")
        if suffix and not written.endswith(suffix):
            written += suffix
        near = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
        if near in self._files:
            return [near]
        tail = written.lstrip("./")
        found = [one for one in self._by_tail.get(tail.rpartition("/")[2], []) if one == tail or one.endswith("/" + tail)]
        return [max(found, key=lambda one: (len(posixpath.commonpath([one, path])), -len(one)))] if found else []


def _python_names(path: str, files: Mapping[str, FileFacts]) -> Iterable[str]:
    """Return the dotted names of a file: from the root, and from the folder above its outermost package."""
    parts = path.rpartition(".")[0].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    names = {".".join(parts)}
    depth = len(path.split("/")) - 1
    folder = path.split("/")[:depth]
    while folder and ("/".join([*folder, "__init__.py"]) in files or "/".join([*folder, "__init__.pyi"]) in files):
        folder.pop()
    if folder:
        names.add(".".join(parts[len(folder) :]))
    if parts and parts[0] in SOURCE_FOLDERS:
        names.add(".".join(parts[1:]))
    return [name for name in sorted(names) if name]


def _rust_module(path: str) -> tuple[str, tuple[str, ...]]:
    """Return (source folder of the crate, module path inside) of a Rust file."""
    parts = path.removesuffix(".rs").split("/")
    top = max((index for index, part in enumerate(parts[:-1]) if part == "src"), default=-1)
    crate, inside = "/".join(parts[: top + 1]), parts[top + 1 :]
    if inside and inside[-1] in ("lib", "main", "mod"):
        inside = inside[:-1]
    return crate, tuple(inside)


def _same_top(one: str, other: str) -> bool:
    return one.partition("/")[0] == other.partition("/")[0]
