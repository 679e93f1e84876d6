"""Files that a build wrote from sources beside them, by the listing alone: bundles, declarations, source maps."""

import re
from collections.abc import Iterable, Mapping

BUNDLE_BYTES = 100_000
"""Minimum size of a bundle in a folder that may hold scripts of the build too."""
_output = re.compile(
    r"(?P<package>(?:.*/)?)(?P<folder>dist|umd|esm|cjs|fesm\w{0,8}|bundles?|build|lib|es|out)/(?P<inner>(?:.*/)?)"
    r"(?P<stem>[^/]+?)(?:\.min)?\.(?:d\.)?(?:[cm]?js|[cm]?ts|css)(?:\.map)?"
)
_BUILT_FOLDERS = re.compile(r"dist|umd|esm|cjs|fesm\w{0,8}|bundles?")
_SOURCE_SUFFIXES = (
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".cts",
    ".mts",
    ".vue",
    ".svelte",
    ".coffee",
    ".scss",
    ".less",
)
_COMPILED_SUFFIXES = (".ts", ".tsx", ".jsx", ".mts", ".cts", ".coffee", ".vue", ".scss", ".less")


def built_files(sizes: Mapping[str, int]) -> dict[str, str]:
    """Return path → folder of the sources, for each listed file that a build wrote from them.

    A package has a `package.json` and sources in `src`. What lies in its `dist` is built; in a folder such as `build`, which
    may hold scripts, a bundle of `BUNDLE_BYTES` or a file with a source of the same name.

    Args:
        sizes: Path → bytes of all listed files.
    """
    packages = {path.removesuffix("package.json") for path in sizes if path.endswith("package.json")}
    packages = {one for one in packages if not one or one.endswith("/")}
    if not packages:
        return {}
    with_sources = _packages_with_sources(sizes, packages)
    found: dict[str, str] = {}
    for path, size in sizes.items() if with_sources else ():
        match = _output.fullmatch(path)
        if match is None or match["package"] not in with_sources:
            continue
        sources = f"{match['package']}src/"
        stem = f"{sources}{match['inner']}{match['stem']}"
        if (
            _BUILT_FOLDERS.fullmatch(match["folder"])
            or size >= BUNDLE_BYTES
            or any(stem + suffix in sizes for suffix in _COMPILED_SUFFIXES)
        ):
            found[path] = sources
    return found


def _packages_with_sources(paths: Iterable[str], packages: set[str]) -> set[str]:
    """Return the packages whose folder `src` holds a source."""
    found: set[str] = set()
    for path in paths:
        before, inside, _ = path.partition("src/")
        if inside and before in packages and path.endswith(_SOURCE_SUFFIXES):
            found.add(before)
    return found
