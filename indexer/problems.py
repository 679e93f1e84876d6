"""Problems: why a file is not indexed, or not whole. Nothing is left out silently."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a file is not in the index, or is there only in part; the value is what users and tests see."""

    TOO_LARGE = "too_large"  # over the size limit, the limit is in the detail
    BINARY = "binary"
    MINIFIED = "minified"  # generated onto a few very long lines
    SECRET = "secret"  # a file that holds keys or passwords by its name
    UNDECODABLE = "undecodable"
    DECODED_BY_GUESS = "decoded_by_guess"  # indexed whole, but the encoding is a guess
    NUL_BYTES = "nul_bytes"  # NUL bytes were read as spaces
    PARSED_IN_PART = "parsed_in_part"  # the syntax tree has error nodes; what lies around them is indexed
    TOO_DEEP = "too_deep"  # nested deeper than is followed
    NO_GRAMMAR = "no_grammar"  # text in line windows, without symbols
    UNREADABLE = "unreadable"  # no permission, or an input/output error
    SPECIAL_FILE = "special_file"  # pipe, socket, device
    LINK = "link"  # a symbolic link; what it leads to is indexed once, at its own place, if it lies inside
    NESTED_REPOSITORY = "nested_repository"  # a submodule, a worktree, a repository inside the repository
    VANISHED = "vanished"  # was there when listed, gone or changed when read
    WORKER_DIED = "worker_died"  # the parser took its process down
    TIMED_OUT = "timed_out"  # parsing took longer than the limit
    BAD_NOTEBOOK = "bad_notebook"  # not the JSON of a notebook


class Coverage(StrEnum):
    """How much of a file with a problem is in the index."""

    NONE = "none"
    PARTIAL = "partial"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that is not indexed as a user would expect, and why."""

    path: str
    """From the root, with slashes; bytes that are not UTF-8 are surrogates (PEP 383)."""
    reason: Reason
    detail: str
    """What was found and what to do, in words: "412 error nodes, the first at line 18"."""
    kept: Coverage
