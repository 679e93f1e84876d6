"""Detects the language of a file by its name and first bytes, and loads grammars.

Importing this module loads no grammar; `load_grammar` loads each once.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

HEAD_BYTES = 8192
"""Number of bytes at the start of a file that `detect_language` uses."""


class Capability(StrEnum):
    """A kind of fact that files of a language give."""

    DEFINITIONS = "definitions"
    CALLS = "calls"
    IMPORTS = "imports"
    DOCUMENTATION = "documentation"


CODE = frozenset(Capability)
"""Facts of a language with a query."""
WITHOUT_IMPORTS = CODE - {Capability.IMPORTS}
DOCUMENT = frozenset({Capability.DEFINITIONS, Capability.DOCUMENTATION})
"""Facts of documents: their sections."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language from which symbols are extracted."""

    name: str
    """Value of `FileFacts.language`, and name of the query file and the dialect: "python"."""
    suffixes: tuple[str, ...] = ()
    """File name suffixes in lower case, with the dot: (".py", ".pyi")."""
    filenames: tuple[str, ...] = ()
    """Whole file names: ("Rakefile",)."""
    interpreters: tuple[str, ...] = ()
    """Interpreters of a `#!` line, without version: ("python",)."""
    grammar: str = ""
    """Module of the grammar: "tree_sitter_python"; "" if the dialect reads the text without one."""
    grammar_function: str = "language"
    """Function of the module that returns the grammar; TypeScript's module has two."""
    gives: frozenset[Capability] = CODE
    """Which facts its files give. A language without `CALLS` has no call edges: nothing is known of callers."""


LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        suffixes=(".py", ".pyi", ".pyw", ".pyx", ".pxd", ".bzl"),
        filenames=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "pypy", "uv"),
        grammar="tree_sitter_python",
    ),
    Language(
        "javascript",
        suffixes=(".js", ".jsx", ".mjs", ".cjs", ".es6"),
        filenames=("Jakefile",),
        interpreters=("node", "nodejs", "bun"),
        grammar="tree_sitter_javascript",
    ),
    Language(
        "typescript",
        suffixes=(".ts", ".mts", ".cts"),
        interpreters=("deno", "ts-node", "tsx"),
        grammar="tree_sitter_typescript",
        grammar_function="language_typescript",
    ),
    Language("tsx", suffixes=(".tsx",), grammar="tree_sitter_typescript", grammar_function="language_tsx"),
    Language("go", suffixes=(".go",), grammar="tree_sitter_go"),
    Language("rust", suffixes=(".rs",), interpreters=("rust-script",), grammar="tree_sitter_rust"),
    Language("java", suffixes=(".java",), grammar="tree_sitter_java"),
    Language("c", suffixes=(".c",), interpreters=("tcc",), grammar="tree_sitter_c"),
    Language(
        "cpp",
        suffixes=tuple(
            """.cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp .txx
            .ixx .cppm .cu .cuh .ino""".split()
        ),
        grammar="tree_sitter_cpp",
    ),
    Language("csharp", suffixes=(".cs", ".csx"), grammar="tree_sitter_c_sharp"),
    Language(
        "ruby",
        suffixes=(".rb", ".rake", ".gemspec", ".ru", ".podspec", ".rbw", ".jbuilder"),
        filenames=("Rakefile", "Gemfile", "Guardfile", "Podfile", "Vagrantfile", "Fastfile", "Capfile", "Brewfile"),
        interpreters=("ruby", "jruby"),
        grammar="tree_sitter_ruby",
    ),
    Language(
        "php",
        suffixes=(".php", ".phtml", ".php5", ".php7", ".php8", ".phps"),
        interpreters=("php",),
        grammar="tree_sitter_php",
        grammar_function="language_php",
    ),
    Language("kotlin", suffixes=(".kt", ".kts"), interpreters=("kotlin",), grammar="tree_sitter_kotlin"),
    Language("swift", suffixes=(".swift",), interpreters=("swift",), grammar="tree_sitter_swift"),
    Language(
        "scala",
        suffixes=(".scala", ".sc", ".sbt"),
        interpreters=("scala", "scala-cli", "amm"),
        grammar="tree_sitter_scala",
    ),
    Language(
        "bash",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild", ".eclass"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", "PKGBUILD", "APKBUILD"),
        interpreters=("sh", "bash", "dash", "ash", "ksh", "zsh", "bats"),
        grammar="tree_sitter_bash",
    ),
    Language(
        "lua",
        suffixes=(".lua", ".rockspec"),
        filenames=(".luacheckrc",),
        interpreters=("lua", "luajit", "texlua"),
        grammar="tree_sitter_lua",
    ),
    Language("elixir", suffixes=(".ex", ".exs"), interpreters=("elixir",), grammar="tree_sitter_elixir"),
    Language(
        "haskell",
        suffixes=(".hs", ".hsc"),
        interpreters=("runhaskell", "runghc", "stack", "cabal"),
        grammar="tree_sitter_haskell",
    ),
    Language("zig", suffixes=(".zig", ".zon"), grammar="tree_sitter_zig"),
    Language(
        "sql",
        suffixes=(".sql", ".ddl", ".psql", ".pgsql", ".mysql"),
        grammar="tree_sitter_sql",
        gives=WITHOUT_IMPORTS,
    ),
    Language(
        "markdown",
        suffixes=(".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"),
        grammar="tree_sitter_markdown",
        gives=DOCUMENT,
    ),
    Language("rst", suffixes=(".rst", ".rest"), gives=DOCUMENT),
    Language("asciidoc", suffixes=(".adoc", ".asciidoc"), gives=DOCUMENT),
    Language("org", suffixes=(".org",), gives=DOCUMENT),
    Language("html", suffixes=(".html", ".htm", ".xhtml"), grammar="tree_sitter_html"),
    Language("vue", suffixes=(".vue",), grammar="tree_sitter_html"),
    Language("svelte", suffixes=(".svelte",), grammar="tree_sitter_svelte"),
    Language("jupyter", suffixes=(".ipynb",)),
)
"""All languages with symbols. To add one, add a row, a query and, if the query is not enough, a dialect."""

LANGUAGE_BY_NAME: Mapping[str, Language] = {language.name: language for language in LANGUAGES}

FILE_SUFFIXES = (
    "py|pyi|pyx|js|jsx|mjs|cjs|ts|tsx|mts|cts|go|rs|java|kt|kts|scala|sc|c|h|cc|cpp|cxx|hpp|hh|cs|rb|php|swift|lua|ex|exs"
    "|hs|zig|sql|sh|bash|md|rst|toml|yaml|yml|json|vue|svelte|html|css|txt|cfg|ini"
)
"""Suffixes, as a regular expression, by which a word in a text is a file's name even without a folder."""
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
_C_COMMENT = re.compile(rb'/\*.*?(?:\*/|\Z)|//[^\n]*|(?<!\\)"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"', re.DOTALL)
_CPP_GUARD = re.compile(
    rb"#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t(]*)__cplusplus.*?(?:#[ \t]*(?:endif|else)|\Z)", re.DOTALL
)


def detect_language(path: str, head: bytes) -> str:
    """Return the name of the language of a file, "" for text without a grammar.

    Args:
        path: Relative to the root, with slashes.
        head: First bytes of the file, ideally `HEAD_BYTES`.
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
    if dot and filename.endswith(".C"):  # GCC treats the upper-case suffix as C++
        return "cpp"
    found = _BY_SUFFIX.get("." + suffix, "") if dot and stem else ""
    if not found and (not dot or not stem) and head.startswith(b"#!"):
        return _interpreter_language(head)
    return found


def capabilities(language: str) -> frozenset[Capability]:
    """Return which facts files of a language give; none for text without a language.

    Args:
        language: Value of `FileFacts.language`, also "".
    """
    known = LANGUAGE_BY_NAME.get(language)
    return known.gives if known is not None else frozenset()


def load_grammar(language: Language) -> "tree_sitter.Language":
    """Return the grammar of a language.

    Raises:
        ImportError: Its package is not installed.
    """
    return _load(language.grammar, language.grammar_function)


@cache
def _load(module: str, function: str) -> "tree_sitter.Language":
    import tree_sitter  # detecting languages alone does not need it

    return tree_sitter.Language(getattr(importlib.import_module(module), function)())


def _header_language(head: bytes) -> str:
    """Return "cpp" for a header with a construct that only C++ has, outside `#ifdef __cplusplus`; else "c"."""
    code = _CPP_GUARD.sub(b"", _C_COMMENT.sub(b"", head))
    return "cpp" if _CPP_HEADER.search(code) else "c"


def _interpreter_language(head: bytes) -> str:
    """Return the language of the interpreter in a `#!` line; `env` and versions are skipped."""
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
