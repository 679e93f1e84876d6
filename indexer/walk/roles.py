"""File roles: what a file is to its repository, told by its path and what it says of itself.

A role never keeps a file out of the index; ranking puts the roles other than source lower unless they are asked for.
"""

import re

ROLES = ("source", "test", "generated", "vendored", "docs", "config")

_VENDORED = re.compile(
    r"(^|/)(vendor|vendors|vendored|third[-_]?party|node_modules|bower_components|_vendor|site-packages|Pods|Carthage)/"
    # These are everyday names deeper down: src/deps/, src/external/.
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
    # What a bundler puts out; a Python package may be called so too.
    r"|(^|/)dist/.*\.([cm]?js|css|d\.[cm]?ts|map)$",
    re.IGNORECASE,
)
_DOCS = re.compile(
    r"\.(md|markdown|mdx|rst|adoc|asciidoc|txt|tex|org|pod|rdoc)$"
    # Without a suffix, or with one that is no language's: README, LICENSE-MIT, README.zh, not changes.py
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
"""Not blank, no comment, no mark-up or bracket by itself."""
MINIFIED_LINE = 5_000
"""Characters of a line that nobody wrote by hand."""


def role_of(path: str, *, generated: bool = False) -> str:
    """Return one of `ROLES`.

    Args:
        path: From the root, with slashes.
        generated: Whether the text says that a program wrote it.
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
    """Return whether most of a text stands on lines that are too long for people, and no code beside them: a bundle, a blob.

    A source file with a long line of data is none, however long that is: what else it holds is code. A licence above a
    bundle, or the comment below it, is no code.
    """
    if len(text) <= MINIFIED_LINE:
        return False
    lines = text.split("\n")
    long_lines = [line for line in lines if len(line) > MINIFIED_LINE]
    if sum(map(len, long_lines)) <= len(text) * 0.5:
        return False
    n_code_lines = sum(len(line) <= MINIFIED_LINE and _CODE_LINE.match(line) is not None for line in lines)
    return n_code_lines <= len(long_lines)
