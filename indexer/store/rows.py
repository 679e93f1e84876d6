"""Rows of the snapshot as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One indexed file."""

    file_id: int
    path: str
    content_key: bytes
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    racy: bool
    """Changed so shortly before it was read that its time stamp proves nothing."""
    language: str
    encoding: str
    role: str
    module: str
    n_lines: int
    leading_comment: str
    interface: bytes
