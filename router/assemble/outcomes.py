"""Fates: what became of each thing that a turn had at hand: it enters, enters compressed, stays outside, or is dropped.

Source: the sliding-window article, §2.
"""

from collections.abc import Iterator, Sequence

from codecards.router.assemble.context import ContextPackage, ItemOutcome, OutcomeKind
from codecards.router.memory.window import ActionBlock
from codecards.router.memory.working_memory import MemoryFile

NO_ROOM = "no room within its share of the budget"


def outcomes(package: ContextPackage, filled: ContextPackage, entries: Sequence[MemoryFile]) -> Iterator[ItemOutcome]:
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
            yield ItemOutcome(f"file {entry.path}", OutcomeKind.OUTSIDE, NO_ROOM)
        else:
            kind = OutcomeKind.ENTERS if file.shown == "full" else OutcomeKind.COMPRESSED
            yield ItemOutcome(f"file {entry.path}", kind, f"{file.shown}{f': {file.why}' if file.why else ''}")
    for reference in package.knowledge_refs:
        kept = reference in filled.knowledge_refs
        yield ItemOutcome(
            f"hit {reference.anchor}",
            OutcomeKind.COMPRESSED if kept else OutcomeKind.OUTSIDE,
            "folded" if kept else NO_ROOM,
        )
    for segment in package.memory_segments:
        kept = segment in filled.memory_segments
        yield ItemOutcome(
            segment.source, OutcomeKind.ENTERS if kept else OutcomeKind.OUTSIDE, segment.why if kept else NO_ROOM
        )
    for memo in package.memos:
        kept = memo in filled.memos
        yield ItemOutcome(
            f"memo {memo.path}",
            OutcomeKind.COMPRESSED if kept else OutcomeKind.OUTSIDE,
            "closed file" if kept else NO_ROOM,
        )
    for post in package.signposts:
        kept = post in filled.signposts
        yield ItemOutcome(
            f"acts {', '.join(post.handles)}",
            OutcomeKind.COMPRESSED if kept else OutcomeKind.OUTSIDE,
            "signpost" if kept else NO_ROOM,
        )
    for act in package.recent_chat:
        kept = act in filled.recent_chat
        yield ItemOutcome(
            block_label(act), OutcomeKind.ENTERS if kept else OutcomeKind.OUTSIDE, "recent" if kept else NO_ROOM
        )


def block_label(act: ActionBlock) -> str:
    """Return by what an act is called in a trace: its operations, or the turn of its words."""
    numbers = sorted({message.operation for message in act.messages if message.operation})
    return f"act {', '.join(map(str, numbers))}" if numbers else f"words of turn {act.messages[0].turn}"
