"""Built files: candidates that are a build's output, a declaration file, or a packed library that only lies here.

The source says the same and is what one edits, so it comes first. A path alone tells most of them; a JavaScript file in a folder
such as `lib` counts only where a TypeScript file of the same name is its source.
"""

import re

import numpy as np

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Floats, Int64s

_BUILT_PLACE = re.compile(r"(^|/)(dist|iife|umd|esm|cjs|bundles?|lib/(commonjs|module|typescript))/", re.IGNORECASE)
_BUILT_NAME = re.compile(
    r"\.(min|bundle|umd|esm|cjs|iife|global|prod)\.[cm]?js$|\.d\.[cm]?ts$|\.pyi$|-\d+\.\d+[\w.]*\.js$"
)
_PACKED_PLACE = re.compile(r"(^|/)(node_modules|_vendor|vendored|third[-_]?party)/|[^/]/packages/[^/]+/[^/]*\.py$")
_SCRIPT = re.compile(r"\.[cm]?jsx?$")
_TYPED = re.compile(r"\.[cm]?tsx?$")
_BUILD_FOLDER = re.compile(r"(^|/)(lib|es|build|out|module|commonjs)/")


def built_files(index: DerivedIndex, files: Int64s) -> Floats:
    """Return (F,): 1 for candidates that are built from another file, or that declare or pack one."""
    found = np.zeros(len(files), np.float32)
    for place, row in enumerate(files.tolist()):
        path = index.path(row)
        if (
            _BUILT_PLACE.search(path)
            or _BUILT_NAME.search(path)
            or _PACKED_PLACE.search(path)
            or (_SCRIPT.search(path) and _BUILD_FOLDER.search(path) and _has_typed_source(index, row))
        ):
            found[place] = 1.0
    return found


def _has_typed_source(index: DerivedIndex, row: int) -> bool:
    """Return whether a TypeScript file outside the built places has the name of a JavaScript file."""
    stems = index.columns.stem_hash[:, 0]
    for other in np.flatnonzero(stems == stems[row]).tolist():
        path = index.path(other)
        if _TYPED.search(path) and not _BUILT_NAME.search(path) and not _BUILT_PLACE.search(path):
            return True
    return False
