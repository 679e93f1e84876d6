"""Fates: what became of each thing that a turn had at hand: it enters, enters compressed, stays outside, or is dropped.

Source: the sliding-window article, §2.
"""

from collections.abc import Iterator, Sequence

from codecards.router.assemble.context import ContextPackage, Fate, FateKind
from codecards.router.memory.window import ActionBlock
from codecards.router.memory.working_memory import FileEntry

NO_ROOM = "no room within its share of the budget"


def fates(package: ContextPackage, filled: ContextPackage, entries: Sequence[FileEntry]) -> Iterator[Fate]:
    """Yield one fate for each thing of a package.

    Args:
        package: What could be shown.
        filled: What is shown of it.
        entries: The files of the working memory.
    """
    shown = {file.path: file for file in filled.files}
    for entry in entries:
        file = shown.get(entry.path)
        if file is None:
            yield Fate(f"file {entry.path}", FateKind.OUTSIDE, NO_ROOM)
        else:
            kind = FateKind.ENTERS if file.shown == "full" else FateKind.COMPRESSED
            yield Fate(f"file {entry.path}", kind, f"{file.shown}{f': {file.why}' if file.why else ''}")
    for reference in package.knowledge_refs:
        kept = reference in filled.knowledge_refs
        yield Fate(
            f"hit {reference.anchor}", FateKind.COMPRESSED if kept else FateKind.OUTSIDE, "folded" if kept else NO_ROOM
        )
    for segment in package.memory_segments:
        kept = segment in filled.memory_segments
        yield Fate(segment.source, FateKind.ENTERS if kept else FateKind.OUTSIDE, segment.why if kept else NO_ROOM)
    for memo in package.memos:
        kept = memo in filled.memos
        yield Fate(
            f"memo {memo.path}", FateKind.COMPRESSED if kept else FateKind.OUTSIDE, "closed file" if kept else NO_ROOM
        )
    for post in package.signposts:
        kept = post in filled.signposts
        yield Fate(
            f"acts {', '.join(post.handles)}",
            FateKind.COMPRESSED if kept else FateKind.OUTSIDE,
            "signpost" if kept else NO_ROOM,
        )
    for act in package.recent_chat:
        kept = act in filled.recent_chat
        yield Fate(act_name(act), FateKind.ENTERS if kept else FateKind.OUTSIDE, "recent" if kept else NO_ROOM)


def act_name(act: ActionBlock) -> str:
    """Return by what an act is called in a trace: its operations, or the turn of its words."""
    numbers = sorted({message.operation for message in act.messages if message.operation})
    return f"act {', '.join(map(str, numbers))}" if numbers else f"words of turn {act.messages[0].turn}"
