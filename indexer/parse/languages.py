"""Languages: what a file is written in, told by its name and its first bytes, and where its grammar comes from.

Importing this module loads no grammar; `load_grammar` does, once a language.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

HEAD_BYTES = 8192
"""How much of a file's start `detect_language` can use; more does no harm."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language that symbols can be extracted from."""

    name: str
    """As in `FileFacts.language`, the file of its query and the module of its dialect: "python"."""
    suffixes: tuple[str, ...] = ()
    """Endings of file names in lower case, with the dot: (".py", ".pyi")."""
    filenames: tuple[str, ...] = ()
    """Whole file names: ("Rakefile",)."""
    interpreters: tuple[str, ...] = ()
    """Programs that a `#!` line may name, without a version: ("python",)."""
    grammar: str = ""
    """Module of the grammar's package: "tree_sitter_python"; "" where a dialect reads the text by itself."""
    grammar_function: str = "language"
    """Function of that module that returns the grammar; TypeScript's has two."""


LANGUAGES: tuple[Language, ...] = (
    Language("python", (".py", ".pyi", ".pyw", ".pyx", ".pxd", ".bzl"), ("SConstruct", "SConscript", "wscript"),
             ("python", "pypy", "uv"), "tree_sitter_python"),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs", ".es6"), ("Jakefile",), ("node", "nodejs", "bun"),
             "tree_sitter_javascript"),
    Language("typescript", (".ts", ".mts", ".cts"), (), ("deno", "ts-node", "tsx"), "tree_sitter_typescript",
             "language_typescript"),
    Language("tsx", (".tsx",), (), (), "tree_sitter_typescript", "language_tsx"),
    Language("go", (".go",), (), (), "tree_sitter_go"),
    Language("rust", (".rs",), (), ("rust-script",), "tree_sitter_rust"),
    Language("java", (".java",), (), (), "tree_sitter_java"),
    Language("c", (".c",), (), ("tcc",), "tree_sitter_c"),
    Language("cpp", (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx", ".ixx",
                     ".cppm", ".cu", ".cuh", ".ino"), (), (), "tree_sitter_cpp"),
    Language("csharp", (".cs", ".csx"), (), (), "tree_sitter_c_sharp"),
    Language("ruby", (".rb", ".rake", ".gemspec", ".ru", ".podspec", ".rbw", ".jbuilder"),
             ("Rakefile", "Gemfile", "Guardfile", "Podfile", "Vagrantfile", "Fastfile", "Capfile", "Brewfile"),
             ("ruby", "jruby"), "tree_sitter_ruby"),
    Language("php", (".php", ".phtml", ".php5", ".php7", ".php8", ".phps"), (), ("php",), "tree_sitter_php", "language_php"),
    Language("kotlin", (".kt", ".kts"), (), ("kotlin",), "tree_sitter_kotlin"),
    Language("swift", (".swift",), (), ("swift",), "tree_sitter_swift"),
    Language("scala", (".scala", ".sc", ".sbt"), (), ("scala", "scala-cli", "amm"), "tree_sitter_scala"),
    Language("bash", (".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild", ".eclass"),
             (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", "PKGBUILD", "APKBUILD"),
             ("sh", "bash", "dash", "ash", "ksh", "zsh", "bats"), "tree_sitter_bash"),
    Language("lua", (".lua", ".rockspec"), (".luacheckrc",), ("lua", "luajit", "texlua"), "tree_sitter_lua"),
    Language("elixir", (".ex", ".exs"), (), ("elixir",), "tree_sitter_elixir"),
    Language("haskell", (".hs", ".hsc"), (), ("runhaskell", "runghc", "stack", "cabal"), "tree_sitter_haskell"),
    Language("zig", (".zig", ".zon"), (), (), "tree_sitter_zig"),
    Language("sql", (".sql", ".ddl", ".psql", ".pgsql", ".mysql"), (), (), "tree_sitter_sql"),
    Language("markdown", (".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"), (), (), "tree_sitter_markdown"),
    Language("html", (".html", ".htm", ".xhtml"), (), (), "tree_sitter_html"),
    Language("vue", (".vue",), (), (), "tree_sitter_html"),
    Language("svelte", (".svelte",), (), (), "tree_sitter_svelte"),
    Language("jupyter", (".ipynb",)),
)  # fmt: skip
"""All languages with symbols, each with one row; a language is added by its row, its query and, if need be, a dialect."""

LANGUAGE_BY_NAME: Mapping[str, Language] = {language.name: language for language in LANGUAGES}

_BY_SUFFIX = {suffix: language.name for language in LANGUAGES for suffix in language.suffixes}
_BY_FILENAME = {filename: language.name for language in LANGUAGES for filename in language.filenames}
_BY_INTERPRETER = {program: language.name for language in LANGUAGES for program in language.interpreters}

_SHEBANG = re.compile(rb"#![ \t]*([^\s]+)((?:[ \t]+[^\s]+)*)")
_CPP_HEADER = re.compile(
    rb"^[ \t]*(?:template[ \t]*<|namespace\b|using\b|class[ \t]+\w+[^;()]*[{:]|(?:public|private|protected)[ \t]*:|constexpr\b"
    rb"|inline[ \t]+namespace\b|#[ \t]*include[ \t]*<(?:\w+|\w+/\w+)>|enum[ \t]+class\b|virtual\b|explicit\b|friend\b"
    rb"|extern[ \t]+template\b)|\bstd::|\b\w+::\w+|\boperator[ \t]*[-+*/=<>!(\[]|\bstatic_cast<|= *(?:delete|default);"
    rb"|\bnoexcept\b|\bnullptr\b|\bdecltype\b",
    re.MULTILINE,
)
_C_COMMENT = re.compile(rb'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_CPP_GUARD = re.compile(rb"#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t(]*)__cplusplus.*?#[ \t]*(?:endif|else)", re.DOTALL)


def detect_language(path: str, head: bytes) -> str:
    """Return the name of a file's language, "" for text without a grammar.

    Args:
        path: From the root, with slashes.
        head: The first bytes of the file, best `HEAD_BYTES` of them.
    """
    filename = path.rpartition("/")[2]
    if filename in _BY_FILENAME:
        return _BY_FILENAME[filename]
    lowered = filename.lower()
    if lowered.endswith(".h"):
        return _header_language(head)
    if lowered.endswith((".blade.php", ".d.ts")):
        return "php" if lowered.endswith(".php") else "typescript"
    stem, dot, suffix = lowered.rpartition(".")
    if dot and filename.endswith(".C"):  # upper case is C++ by GCC's rule, and only upper case
        return "cpp"
    found = _BY_SUFFIX.get("." + suffix, "") if dot and stem else ""
    if not found and (not dot or not stem) and head.startswith(b"#!"):
        return _interpreter_language(head)
    return found


def load_grammar(language: Language) -> "tree_sitter.Language":
    """Return the language's grammar.

    Raises:
        ImportError: Its package is not installed.
    """
    return _load(language.grammar, language.grammar_function)


@cache
def _load(module: str, function: str) -> "tree_sitter.Language":
    import tree_sitter  # noqa: PLC0415 - so that telling languages stays cheap

    return tree_sitter.Language(getattr(importlib.import_module(module), function)())


def _header_language(head: bytes) -> str:
    """Return "cpp" for a header with a construct that C does not have, outside `#ifdef __cplusplus`."""
    code = _CPP_GUARD.sub(b"", _C_COMMENT.sub(b"", head))
    return "cpp" if _CPP_HEADER.search(code) else "c"


def _interpreter_language(head: bytes) -> str:
    """Return the language of the program that a `#!` line names, looking through `env` and versions."""
    match = _SHEBANG.match(head)
    if match is None:
        return ""
    words = [match[1].decode("utf-8", "replace"), *match[2].decode("utf-8", "replace").split()]
    if words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return ""
    program = words[0].rpartition("/")[2]
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(re.sub(r"[-\d.]+$", "", program), "")
