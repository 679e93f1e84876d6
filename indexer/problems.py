"""Reasons why a file is not indexed, or only in part. No file is skipped silently."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Reason why a file is missing from the index or only partly in it. Users see the values."""

    TOO_LARGE = "too_large"  # over the size limit, which the detail gives
    BINARY = "binary"
    MINIFIED = "minified"  # a few very long lines, written by a program
    SECRET = "secret"  # the file name is one of keys or passwords
    UNDECODABLE = "undecodable"
    DECODED_BY_GUESS = "decoded_by_guess"  # indexed completely, but in a guessed encoding
    NUL_BYTES = "nul_bytes"  # NUL bytes were read as spaces
    PARSED_IN_PART = "parsed_in_part"  # the syntax tree has error nodes; code around them is indexed
    CONFLICT_MARKERS = "conflict_markers"  # of an unfinished merge; both sides are indexed where they can be
    TOO_DEEP = "too_deep"  # nesting exceeds the limit
    LFS_POINTER = "lfs_pointer"  # Git LFS has the content; it was not fetched
    BUILT = "built"  # written by a build, from sources
    NO_GRAMMAR = "no_grammar"  # indexed in windows of lines, without symbols
    UNREADABLE = "unreadable"  # no permission, or an I/O error
    SPECIAL_FILE = "special_file"  # pipe, socket, device
    LINK = "link"  # a symbolic link; a target inside the root is indexed once, under its own path
    NESTED_REPOSITORY = "nested_repository"  # a submodule, a worktree, or another repository inside this one
    VANISHED = "vanished"  # deleted or changed between listing and reading
    WORKER_DIED = "worker_died"  # the parser crashed its process
    TIMED_OUT = "timed_out"  # parsing took longer than the limit
    BAD_NOTEBOOK = "bad_notebook"  # not the JSON of a notebook


class Coverage(StrEnum):
    """How much of a file with a problem is in the index."""

    NONE = "none"
    PARTIAL = "partial"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that is not indexed as a user would expect."""

    path: str
    """Relative to the root, with slashes; bytes that are not UTF-8 are surrogates (PEP 383)."""
    reason: Reason
    detail: str
    """What was found and what to do, as text for people: "could not be parsed at lines 3, 7-9"."""
    kept: Coverage
