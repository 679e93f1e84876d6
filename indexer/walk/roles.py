"""Classifies files by path and content: source, test, generated, vendored, docs or config.

All roles are indexed; ranking places roles other than source lower unless the query asks for them.
"""

import re

ROLES = ("source", "test", "generated", "vendored", "docs", "config")

_VENDORED = re.compile(
    r"(^|/)(vendor|vendors|vendored|third[-_]?party|node_modules|bower_components|_vendor|site-packages|Pods|Carthage)/"
    # Only at the root: deeper down these are common names (src/deps/, src/external/).
    r"|^(externals?|extern|deps)/",
    re.IGNORECASE,
)
_TEST_FOLDER = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|e2e|cypress|test[-_]?suite|test[-_]?utils?|testdata|fixtures|[a-z]+[-_.]tests?|androidTest"
    r"|integration[-_]tests?|unit[-_]?tests?|mocks?|__mocks__|__snapshots__|[A-Z][\w.]*Tests)/"
)
_TEST_FILE = re.compile(
    r"(^|/)(test_[^/]*|conftest\.py|[^/]*[_.-](test|tests|spec|specs)\.[^/]+|[^/]*[a-z0-9](Test|Tests|TestCase|Spec|IT)\.[A-Za-z]+"
    r"|Test[A-Z][^/]*\.[A-Za-z]+)$"
)
_GENERATED = re.compile(
    r"(\.pb\.(go|cc|h|swift)|_pb2(_grpc)?\.pyi?|\.g\.(dart|cs)|\.designer\.cs|\.generated\.\w+|\.gen\.\w+|_generated\.\w+"
    r"|\.min\.(js|css)|[.-]bundle\.js|(^|/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|uv\.lock|go\.sum"
    r"|composer\.lock|Gemfile\.lock|Pipfile\.lock))$"
    r"|(^|/)(generated|__generated__|gen-src|autogen)/"
    # The output of a bundler; a Python package may have this name too.
    r"|(^|/)dist/.*\.([cm]?js|css|d\.[cm]?ts|map)$",
    re.IGNORECASE,
)
_DOCS = re.compile(
    r"\.(md|markdown|mdx|rst|adoc|asciidoc|txt|tex|org|pod|rdoc)$"
    # Without a suffix, or with that of a natural language: README, LICENSE-MIT, README.zh, not changes.py
    r"|(^|/)(LICEN[SC]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CHANGELOG|CHANGES|HISTORY|README)([-_][^/.]*)?(\.(zh|zh[-_]\w+|ja|ko|de|fr|es|ru|in))?$",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"\.(json|jsonc|json5|ya?ml|toml|ini|cfg|conf|properties|props|targets|xml|plist|editorconfig|lock|gradle|csproj|sln|cmake|mk|nix"
    r"|bazel|bzl|env)$"
    r"|(^|/)(Makefile|Dockerfile(\.[^/]*)?|CMakeLists\.txt|Jenkinsfile|Procfile|BUILD|WORKSPACE|\.[^/]*rc|\.git[^/]*"
    r"|(dev[-_])?requirements[^/]*\.txt|constraints\.txt)$",
    re.IGNORECASE,
)
_BUILD_SCRIPT = re.compile(
    r"(^|/)(setup\.py|[^/]*\.config\.[cm]?[jt]s|build\.rs|conf\.py|\.[^/]*rc\.[cm]?js|noxfile\.py|[^/]*\.gradle\.kts)$"
)

_CODE_LINE = re.compile(r"\s*+(?!/\*|\*|//|<!--|-->|#|<\?|<!|</?[a-z]+>|[\"'{}()\[\];,]*+\s*$)\S")
"""A line of code: not blank, not a comment, not just mark-up or brackets."""
MINIFIED_LINE = 5_000
"""Characters from which on a line was not written by hand."""


def role_of(path: str, *, generated: bool = False) -> str:
    """Return one of `ROLES`.

    Args:
        path: Relative to the root, with slashes.
        generated: Whether the text says that a program generated it.
    """
    if _VENDORED.search(path):
        return "vendored"
    if generated or _GENERATED.search(path):
        return "generated"
    if _TEST_FOLDER.search(path) or _TEST_FILE.search(path):
        return "test"
    if _CONFIG.search(path) or _BUILD_SCRIPT.search(path):
        return "config"
    return "docs" if _DOCS.search(path) else "source"


def is_minified(text: str) -> bool:
    """Return whether most of a text is on very long lines and hardly any code is on others: a bundle or a blob.

    A source file with a long line of data does not count, since it has code on other lines. A licence above a bundle, or
    a comment below it, is not code.
    """
    if len(text) <= MINIFIED_LINE:
        return False
    lines = text.split("\n")
    long_lines = [line for line in lines if len(line) > MINIFIED_LINE]
    if sum(map(len, long_lines)) <= len(text) * 0.5:
        return False
    n_code_lines = sum(len(line) <= MINIFIED_LINE and _CODE_LINE.match(line) is not None for line in lines)
    return n_code_lines <= len(long_lines)
