"""Bundles: a session's working memory without its messages, for handing work to another agent and merging it back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from codecards.errors import StateFileError
from codecards.router.memory.working_memory import (
    FileChange,
    Mode,
    WorkingMemory,
    with_change,
    with_constraint,
    with_file,
    with_memo,
)

FORMAT = 1
BundleItem = TypeVar("BundleItem")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The working memory of one agent, for another."""

    session: str
    memory: WorkingMemory
    hashes: Mapping[str, str]
    """Path → hash of the text that the sender read."""
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Conflict:
    """A point on which two sessions differ; the receiver's side was kept."""

    what: str
    """"goal", "src/a.py", …"""
    ours: str
    theirs: str


def export_bundle(session: str, memory: WorkingMemory) -> bytes:
    """Return the bundle of a session as JSON."""
    hashes = {entry.path: entry.text_hash for entry in memory.files if entry.text_hash}
    return msgspec.json.format(msgspec.json.encode(Bundle(session, replace(memory, turn=0), hashes)), indent=1)


def read_bundle(data: bytes) -> Bundle:
    """Return a bundle.

    Raises:
        StateFileError: The data is not a bundle, or has another format.
    """
    try:
        bundle = msgspec.json.decode(data, type=Bundle)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateFileError(f"This is not a bundle of a session: {error}") from error
    if bundle.format != FORMAT:
        raise StateFileError(f"The bundle has format {bundle.format}; this version reads {FORMAT}.")
    return bundle


def merge_bundle(memory: WorkingMemory, bundle: Bundle) -> tuple[WorkingMemory, tuple[Conflict, ...]]:
    """Return the memory with the contents of the bundle added, and the points on which both differ.

    New files are added as digests, with the sender's session as the reason. Entries that the receiver already has stay
    unchanged.
    """
    theirs, conflicts = bundle.memory, list[Conflict]()
    if theirs.task.goal != memory.task.goal:
        conflicts.append(Conflict("goal", memory.task.goal, theirs.task.goal))
    for constraint in theirs.task.constraints:
        memory = with_constraint(memory, constraint)
    for entry in theirs.files:
        own = memory.entry(entry.path)
        if own is None:
            why = f"from session {bundle.session}"
            added = replace(entry, mode=Mode.DIGEST, last_access_turn=memory.turn, last_switch_turn=None, why=why)
            memory = with_file(memory, added)
        elif own.text_hash and entry.text_hash and own.text_hash != entry.text_hash:
            conflicts.append(Conflict(entry.path, f"text {own.text_hash[:8]}", f"text {entry.text_hash[:8]}"))
    conflicts += _change_conflicts(memory.changes, theirs.changes)
    for change in theirs.changes:
        if not any(_same_target(old, change) for old in memory.changes):
            memory = with_change(memory, change)
    known = {memo.path for memo in memory.memos}
    for memo in theirs.memos:
        if memo.path not in known:
            memory = with_memo(memory, replace(memo, turn=memory.turn))
    return (
        replace(
            memory,
            open_questions=_union(memory.open_questions, theirs.open_questions),
            archive_refs=_union(memory.archive_refs, theirs.archive_refs),
            todo=_union(memory.todo, theirs.todo),
        ),
        tuple(conflicts),
    )


def _change_conflicts(ours: tuple[FileChange, ...], theirs: tuple[FileChange, ...]) -> list[Conflict]:
    return [
        Conflict(f"change of {change.path}", _described(own), _described(change))
        for change in theirs
        for own in ours
        if _same_target(own, change) and own != change
    ]


def _same_target(one: FileChange, other: FileChange) -> bool:
    return (one.path, one.action) == (other.path, other.action)


def _described(change: FileChange) -> str:
    return f"{change.action} ({change.status}): {change.reason}"


def _union(ours: tuple[BundleItem, ...], theirs: tuple[BundleItem, ...]) -> tuple[BundleItem, ...]:
    return tuple(dict.fromkeys((*ours, *theirs)))
