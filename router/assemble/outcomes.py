"""Records for each context item whether it was included, compressed, omitted or dropped, and why.

Source: "Sliding window" (see `codecards.router`), §2.
"""

from collections.abc import Iterator, Sequence

from codecards.router.assemble.context import ContextPackage, ItemOutcome, OutcomeKind
from codecards.router.memory.window import ActionBlock
from codecards.router.memory.working_memory import MemoryFile

NO_ROOM = "no room within its share of the budget"


def outcomes(package: ContextPackage, packed: ContextPackage, entries: Sequence[MemoryFile]) -> Iterator[ItemOutcome]:
    """Yield one outcome for each item of a package.

    Args:
        package: Everything that could be shown.
        packed: The part of it that is shown.
        entries: The files of the working memory.
    """
    shown = {file.path: file for file in packed.files}
    for entry in entries:
        file = shown.get(entry.path)
        if file is None:
            yield ItemOutcome(f"file {entry.path}", OutcomeKind.OMITTED, NO_ROOM)
        else:
            kind = OutcomeKind.INCLUDED if file.shown == "full" else OutcomeKind.COMPRESSED
            yield ItemOutcome(f"file {entry.path}", kind, f"{file.shown}{f': {file.why}' if file.why else ''}")
    included, compressed = OutcomeKind.INCLUDED, OutcomeKind.COMPRESSED
    for reference in package.knowledge_refs:
        yield _outcome(f"hit {reference.anchor}", compressed, "folded", kept=reference in packed.knowledge_refs)
    for segment in package.memory_segments:
        yield _outcome(segment.source, included, segment.why, kept=segment in packed.memory_segments)
    for memo in package.memos:
        yield _outcome(f"memo {memo.path}", compressed, "closed file", kept=memo in packed.memos)
    for elided in package.signposts:
        what = f"calls {', '.join(elided.handles)}"
        yield _outcome(what, compressed, "signpost", kept=elided in packed.signposts)
    for block in package.recent_chat:
        yield _outcome(block_label(block), included, "recent", kept=block in packed.recent_chat)


def block_label(block: ActionBlock) -> str:
    """Return the name of a block of the window in a trace: its operations, or the turn of its messages."""
    numbers = sorted({message.operation for message in block.messages if message.operation})
    return f"call {', '.join(map(str, numbers))}" if numbers else f"messages of turn {block.messages[0].turn}"


def _outcome(what: str, kind: OutcomeKind, reason: str, *, kept: bool) -> ItemOutcome:
    return ItemOutcome(what, kind, reason) if kept else ItemOutcome(what, OutcomeKind.OMITTED, NO_ROOM)
