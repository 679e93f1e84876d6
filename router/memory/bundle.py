"""Bundles: a session's effects without its acts, to hand to a sub-agent and to take back with conflicts shown."""

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
    """What one agent hands to another: facts, no history of calls."""

    session: str
    memory: WorkingMemory
    hashes: Mapping[str, str]
    """Path → hash of the text that the sender saw."""
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Conflict:
    """A point in which two sessions differ; the receiver's own side was kept."""

    what: str
    """"goal", "src/a.py", …"""
    ours: str
    theirs: str


def export_bundle(session: str, memory: WorkingMemory) -> bytes:
    """Return the effects of a session as JSON."""
    hashes = {entry.path: entry.text_hash for entry in memory.files if entry.text_hash}
    return msgspec.json.format(msgspec.json.encode(Bundle(session, replace(memory, turn=0), hashes)), indent=1)


def read_bundle(data: bytes) -> Bundle:
    """Return a bundle.

    Raises:
        StateFileError: It is none, or of another format.
    """
    try:
        bundle = msgspec.json.decode(data, type=Bundle)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateFileError(f"This is no bundle of a session: {error}") from error
    if bundle.format != FORMAT:
        raise StateFileError(f"The bundle has format {bundle.format}; this version reads {FORMAT}.")
    return bundle


def merge_bundle(memory: WorkingMemory, bundle: Bundle) -> tuple[WorkingMemory, tuple[Conflict, ...]]:
    """Return the memory with what the bundle adds, and the points in which both differ.

    Files come in as digests, the receiver's own modes stay; references name the session that they are from.
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
    conflicts += _differing(memory.changes, theirs.changes)
    for change in theirs.changes:
        if not any(_same_place(old, change) for old in memory.changes):
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


def _differing(ours: tuple[FileChange, ...], theirs: tuple[FileChange, ...]) -> list[Conflict]:
    return [
        Conflict(f"change of {change.path}", _words(own), _words(change))
        for change in theirs
        for own in ours
        if _same_place(own, change) and own != change
    ]


def _same_place(one: FileChange, other: FileChange) -> bool:
    return (one.path, one.action) == (other.path, other.action)


def _words(change: FileChange) -> str:
    return f"{change.action} ({change.status}): {change.reason}"


def _union(ours: tuple[BundleItem, ...], theirs: tuple[BundleItem, ...]) -> tuple[BundleItem, ...]:
    return tuple(dict.fromkeys((*ours, *theirs)))
